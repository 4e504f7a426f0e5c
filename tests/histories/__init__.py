"""Random histories: what owners and strangers do, on a real API server, while the hook and Metacontroller are killed.

steps.py says what people do, and rounds.py plays histories side by side, and judges them. `python -m tests.histories`
plays as many as you like.
"""
