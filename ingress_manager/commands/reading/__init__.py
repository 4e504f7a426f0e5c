"""Reads objects and settings from files or, with kubectl, from a cluster. Objects know each field's file and line."""
