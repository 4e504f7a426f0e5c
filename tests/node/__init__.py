"""On a whole node, where Pods run: what `make test-node` runs, and nothing else.

Fixtures, in conftest.py: `node` is the node that all tests of a run share. A test puts nothing on it that it doesn't
take away again.
"""
