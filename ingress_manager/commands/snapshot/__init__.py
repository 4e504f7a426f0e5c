"""The snapshot: what a command read from a cluster or files, and what is desired for each Service. Pure."""
