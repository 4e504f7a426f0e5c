"""The benchmark: it measures what users experience, in one run, and shows each figure beside what it has to reach.

`core` measures the cost of an answer, with the worst Services; `hook`, that of a request; `cluster`, how
fast existing Services get their Ingresses on a real API server; `commands`, what a person waits for.
"""
