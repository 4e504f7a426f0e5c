"""Random histories: what owners, administrators and strangers do, with faults, on a real API server.

steps.py says what people do, faults.py what breaks, and rounds.py plays histories side by side. What stands when all
has settled is judged by judge.py: the hook, asked again, must change nothing. What the hook should answer is tested in
tests/core. `python -m tests.histories` plays as many as you like.
"""
