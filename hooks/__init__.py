"""The hook: Metacontroller POSTs the state of a Service; the answer says which Ingress should exist for it.

    sync            bytes of a request → Service → decision of the core → bytes of the answer
    admission       the same for the API server, before a Service is written
    telling         whether what is wrong is told now, or Metacontroller is to ask again later
    settings_file   the policy, from the file that the environment names
    app             HTTP in, HTTP out
    logs, metrics   what is told of it
    gunicorn_conf   how it is served
    admission_conf  how the API server is served

`sync` and `admission` are pure. `hooks` is what the image runs, and is not installed by `pip install ingress-manager`.
"""
