"""Random moves: no plan takes away what answers, nor what protects it.

estates.py draws small clusters from a seed, model.py is a cluster in memory behind kubectl's arguments, and served.py
says what is served, from the Kubernetes API reference alone. At every write it is asked: all that was served still is.

`pytest --thorough --clusters 1000 --seed 7 tests/moving` moves more of them, or others. A failure names its seed.
"""
