"""Other versions of what ingress-manager stands beside: `python -m tests.versions` tries each, and writes results.yaml.

    kubernetes.py    builds the API server and the controller manager of another version
    trials.py        what is tried on a version, and why that
    __main__.py      which versions, one after the other, and what is written of them

docs/compatibility.md is made from results.yaml, and `ingress-manager check` knows the versions that passed.
"""
