"""The 404 page: it answers every host and path that nothing serves. A program of its own, in the hook's image.

`page` is pure; `app` is the shell, WSGI in and out, with the probes and the metrics on a second port; `conf` says how
gunicorn serves it.
"""
