"""Foreseeable errors, whose messages click shows to the user without a traceback."""
# ruff: noqa: N818 - names that say what happened read better in a `raise` than "…Error" does

import click


class DevClusterError(click.ClickException):
    """A foreseeable failure, which the message explains to the user. Commands exit with status 1."""


class MissingProgram(DevClusterError):
    """A program can be neither found nor built. Commands exit with status 2."""

    exit_code = 2


class ProcessDied(DevClusterError):
    """A process couldn't be started, isn't running, or ended unexpectedly."""


class NotReady(DevClusterError):
    """A process wasn't ready in time, or an awaited change didn't happen in time."""


class CommandFailed(DevClusterError):
    """A command, such as kubectl, exited with a nonzero status."""
