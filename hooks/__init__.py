"""The hook: Metacontroller POSTs a Service's state, the answer is the Ingress that should exist.

Data moves one way, a module for each step:

    request bytes ─contract─▶ Service ─wishes─▶ wishes ─exposure─▶ exposure ─ingress─▶ Ingress ─answers─▶ response bytes

`core` is that line in code. Everything but the shell (`app` knows Flask, `settings` reads files and the environment,
`gunicorn_conf` is how it is served) is pure: the same input gives the same output, and nothing else happens.
"""
