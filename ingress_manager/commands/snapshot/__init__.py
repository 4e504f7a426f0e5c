"""The snapshot: the objects that a command read from a cluster or files, and the decision on each Service. Pure."""
