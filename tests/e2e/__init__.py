"""End to end: a real API server, a real engine, the hook under gunicorn, the committed manifests.

Fixtures, in conftest.py: `stage` is a namespace of a test's own on the shared `cluster`, with what waits for Ingresses
and Events (devcluster/story.py: `Stage`). `serving` has a gateway, and syncs often; `place` is a namespace on it, which
an Ingress exposes, or an HTTPRoute. `empty_cluster` has nothing installed. Who changes the hook's settings on a shared
cluster puts them back.

What helps, beside the tests:

    objects                 objects as they are written here
    people, shell           somebody with some rights and no others; commands as that person runs them
    watching, audit         what happens to Ingresses; what the engine asked the API server for, from its audit log
    traffic, certificates
                            visitors and backends: ordinary ones, with TLS, at a steady rate
    old_controller, nodes   the ingress controller that somebody moves away from; nodes on which no pod runs
"""
