"""The hook: Metacontroller POSTs the state of a Service; the answer says which Ingress should exist for it.

Start reading at `decide`: it holds the whole flow on one page. Data moves one way, through a module for each step:

    metacontroller    bytes of a request → Service
    decide            calls the three steps below
      annotations     annotations of the Service → wishes: what its owner asks for
      exposure        wishes, ports and policy → exposure: hosts, paths, class and TLS
      outputs         exposure → Ingress
    metacontroller    decision → bytes of the answer

These modules, and those that they import, are pure: the same input gives the same output, and nothing else happens.
The shell is the rest: `app` answers HTTP, `settings` reads the settings file and the environment, `logs` and `metrics`
report, `gunicorn_conf` and `worker` say how the hook is served.

`commands` is for people and for CI: it decides the same over files, or over what kubectl shows.

`not_found` is another program: the page for visitors where nothing is served.
"""
