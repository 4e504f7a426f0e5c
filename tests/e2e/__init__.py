"""End to end: a real API server, a real engine, the hook under gunicorn, the committed manifests.

Fixtures, in conftest.py: `stage` is a namespace of a test's own on the shared `cluster`, with what waits for Ingresses
and Events (devcluster/story.py: `Stage`). `serving` has a gateway, and syncs often. `empty_cluster` has nothing
installed. Who changes the hook's settings on a shared cluster puts them back.

What helps, beside the tests:

    objects                 objects as they are written here
    people                  somebody with some rights and no others; commands as that person runs them
    audit                   what the engine asked the API server for, and what happened to Ingresses, by its audit log
    traffic                 visitors
"""
