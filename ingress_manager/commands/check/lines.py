"""The lines of a check: what isn't well, what isn't known, and what is well."""

from enum import StrEnum
from functools import partial
from typing import NamedTuple


class State(StrEnum):
    """How something is, as the sign that its line begins with."""

    WRONG = "✗"
    WARNING = "!"
    UNKNOWN = "?"
    OK = "✓"


class Line(NamedTuple):
    """What was found when one thing was looked at."""

    state: State
    sentence: str
    remedy: str = ""
    """What to do; empty where nothing is to be done, or the table says it."""


wrong, warning, unknown, ok = (partial(Line, state) for state in State)
