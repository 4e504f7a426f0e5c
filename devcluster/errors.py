"""What can foreseeably go wrong, each with a message for a person, which click shows without a traceback."""
# ruff: noqa: N818 - each is named for what happened, which reads better where it is raised than "…Error" does

import click


class DevClusterError(click.ClickException):
    """Something outside this code is not as needed; the message says what. A command ends with exit code 1."""


class MissingProgram(DevClusterError):
    """A program can be neither found nor built. A command ends with exit code 2."""

    exit_code = 2


class ProcessDied(DevClusterError):
    """A process ended by itself."""


class NotReady(DevClusterError):
    """A process was not ready in time, or something awaited did not happen in time."""


class CommandFailed(DevClusterError):
    """A command, such as kubectl, answered with an error."""
