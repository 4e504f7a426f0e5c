"""The snapshot: the objects that a command read from a cluster or files, and a decision on each Service."""
