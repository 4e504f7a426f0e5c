"""The 404 page: it answers every host and path that nothing serves. A program of its own, in the hook's image.

`page` is pure, and so are the two that it imports; `app` is the shell:

    app            WSGI in, WSGI out; the probes and the metrics on a second port
    page           what was asked for → status, headers and body
    negotiation    the headers Accept and Accept-Language → a format and a language
    texts          what the page says, in each language
    conf           how gunicorn serves it
"""
