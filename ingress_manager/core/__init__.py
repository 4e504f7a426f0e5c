"""The core decides what should exist for a Service. Pure: no I/O, clock, environment or log.

Start reading at `decide`, which holds the whole flow. Data moves one way, through one module for each step:

    annotations     annotations of a Service → `Requested`, one for each entrance
    exposure        that, the Service's ports and the effective settings → `Exposure`: class, TLS, annotations;
                    with hosts, paths and ports (`rules`), listeners (`routing`) and what must not be lost
                    (`carried`, `protection`). Each step takes one `Basis`
    outputs         exposure → Ingress, HTTPRoutes, ListenerSets
    forbidden       whether an object that was made earlier is within today's limits

Below them:

    settings        the types of the settings; `settings_parser` reads them, with `strict_yaml` and `shape`;
                    `effective` resolves them for one Service
    vocabulary      what controllers' annotations do; `copying`: which are copied
    kubernetes      the types of Kubernetes objects
    bounds          how much one Service may request
    errors          problems and their reasons
    syntax, text    what hosts, paths and names may be; how text is shown to people

docs/terms.md defines the words.
"""
