"""The hook: Metacontroller POSTs the state of a Service; the answer says which objects should exist for it.

    sync            bytes of a request → Service → decision of the core → bytes of the answer
    admission       the same for the API server, before a Service is written
    reporting       whether a problem is reported now or held back
    settings_file   the settings, from the file that the environment names
    app             HTTP in, HTTP out
    logs, metrics   what is logged and counted
    gunicorn_conf   how the hook is served
    admission_conf  how the webhook is served

`sync` and `admission` are pure. The image runs `hooks`; `pip install ingress-manager` doesn't install it.
"""
