"""The core decides which objects should exist for a Service. It is pure: no I/O, clock, environment or log.

Start at `decide`, which shows the whole flow. Data flows one way, with one module per step:

    annotations     annotations of a Service → one `Requested` per entrance
    exposure        `Requested`, ports and effective settings (a `Basis`) → `Exposure`, using `carried`
                    (annotations), `routing` (listeners), `protection` and `rules` (hosts, paths, ports)
    outputs         `Exposure` → Ingress, HTTPRoutes, ListenerSets
    forbidden       whether the settings forbid an existing object

Supporting modules:

    settings        the types of the settings; `settings_parser` reads them, with `strict_yaml` and `shape`;
                    `effective` resolves them for one Service
    vocabulary      the effects of controllers' annotations; `copying` decides which are copied
    kubernetes      the types of Services and observed objects
    bounds, errors  how much one Service may request; problems and their reasons
    syntax, text    valid hosts, paths and names; text for people

docs/terms.md defines the words.
"""
