"""Random histories: what owners, administrators and strangers do, with faults, compared with a model from the docs.

model.py says what the docs promise, steps.py what people do, faults.py what breaks, and rounds.py plays histories side
by side and compares. `python -m tests.histories` plays as many as you like.
"""
