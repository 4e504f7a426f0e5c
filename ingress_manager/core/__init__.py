"""The core decides what should exist for a Service. Pure: no I/O, clock, environment or log.

Start at `decide`, which has the whole flow. Data moves one way, one module for each step:

    annotations     annotations of a Service → `Requested`, one for each entrance
    exposure        `Requested`, ports and effective settings (a `Basis`) → `Exposure`, in these steps:
                    annotations (`carried`), listeners (`routing`), `protection`, hosts, paths and ports (`rules`)
    outputs         exposure → Ingress, HTTPRoutes, ListenerSets
    forbidden       whether an existing object is within today's limits

Below them:

    settings        the types of the settings; `settings_parser` reads them, with `strict_yaml` and `shape`;
                    `effective` resolves them for one Service
    vocabulary      the effects of controllers' annotations; `copying`: which are copied
    errors          problems and their reasons
    syntax, text    valid hosts, paths and names; text for people

docs/terms.md defines the words.
"""
