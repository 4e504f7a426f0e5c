"""Reads objects and settings from files, with the file and line of each field, or from a cluster with kubectl."""
