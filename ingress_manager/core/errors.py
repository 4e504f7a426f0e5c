"""The errors, as values: a Problem is one thing that is wrong; Problems collects several.

A function that finds a problem returns it, or adds it to the given Problems. A check of a single value returns the end
of a message ("must be lowercase"), or "" if the value is right. The core raises only SettingsError, FieldError and
YamlError.
"""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from ingress_manager.core.text import one_line

LONGEST_REFUSAL = 500  # characters: a refusal is part of an Event's message, which kubectl shows in one line
MOST_KEPT = 20  # problems: more would never fit into one line


class Reason(StrEnum):
    """The tag of a problem in Events, logs, metrics and commands."""

    AMBIGUOUS_PORT = "ambiguous-port"
    ANNOTATION_NOT_ALLOWED = "annotation-not-allowed"
    CLASS_NOT_ALLOWED = "class-not-allowed"
    CONTRADICTION = "contradiction"
    DUPLICATE_ROUTE = "duplicate-route"
    EXTERNAL_NAME = "external-name"
    HOST_NOT_ALLOWED = "host-not-allowed"
    HTTPS_PORT = "https-port"
    INVALID_DEFAULT_HOST = "invalid-default-host"
    INVALID_REQUEST = "invalid-request"
    INVALID_VALUE = "invalid-value"
    NO_PORT = "no-port"
    NOT_COPIED = "not-copied"
    NOT_IN_HTTPROUTE = "not-in-httproute"
    NOT_MADE = "not-made"
    NOT_WATCHED = "not-watched"
    OUTDATED = "outdated"
    PATH_TYPE_NOT_ALLOWED = "path-type-not-allowed"
    PAUSED = "paused"
    PROFILE_NOT_ALLOWED = "profile-not-allowed"
    PROTECTION_LOST = "protection-lost"
    SETTINGS_CONFLICT = "settings-conflict"
    TOO_LARGE = "too-large"
    TOO_MANY_OBJECTS = "too-many-objects"
    UNKNOWN_ANNOTATION = "unknown-annotation"
    UNKNOWN_PORT = "unknown-port"
    UNKNOWN_PROFILE = "unknown-profile"


class Problem(msgspec.Struct, frozen=True):
    sentence: str
    """The whole message: the annotation, its value, and what would be right."""
    reason: Reason = Reason.INVALID_VALUE
    annotation: str = ""
    """The key of the invalid annotation, or "" if something else is wrong."""

    def line(self, longest: int = LONGEST_REFUSAL) -> str:
        """Return the message, cut if necessary, and the reason's tag in one line of at most `longest` characters."""
        # Cut before escaping, too: it can be very long.
        sentence, tag = one_line(self.sentence[: longest + 1]), f" [{self.reason}]"
        room = longest - len(tag)
        return f"{sentence if len(sentence) <= room else f'{sentence[: room - 1]}…'}{tag}"


class Problems(msgspec.Struct):
    """The first MOST_KEPT distinct problems in the order found; `more` counts the rest."""

    kept: list[Problem] = []
    more: int = 0

    def add(self, sentence: str, reason: Reason = Reason.INVALID_VALUE, annotation: str = "") -> None:
        self.extend([Problem(sentence, reason, annotation)])

    def extend(self, problems: Iterable[Problem], more: int = 0) -> None:
        """Add problems, and count `more` that the caller didn't keep."""
        self.more += more
        for problem in problems:
            is_new = all(problem.sentence != existing.sentence for existing in self.kept)
            if is_new and len(self.kept) < MOST_KEPT:
                self.kept.append(problem)
            else:
                self.more += is_new

    def line(self) -> str:
        """Return as many problems as fit into LONGEST_REFUSAL characters, and how many more there are."""
        shown = [problem.line() for problem in self.kept]
        count = len(shown) + self.more
        while len(line := _join_with_count(shown, count)) > LONGEST_REFUSAL and len(shown) > 1:
            shown.pop()
        if len(line) > LONGEST_REFUSAL:
            shown = [self.kept[0].line(LONGEST_REFUSAL - (len(line) - len(shown[0])))]
        return _join_with_count(shown, count)


def _join_with_count(shown: list[str], count: int) -> str:
    return " · ".join([*shown, f"and {count - len(shown)} more"] if count > len(shown) else shown)


class SettingsError(Exception):
    """The first mistake in the settings, with its file (`origin`) and line (or 0)."""

    def __init__(self, sentence: str, path: tuple[str | int, ...] = (), line: int = 0, origin: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        """The message: a field such as limits.hosts[0], what is wrong, and what would be right."""
        self.path = path
        """The path of the invalid field; () if the whole text is invalid."""
        self.line = line
        self.origin = origin

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.origin, f"line {self.line}" if self.line else "", self.sentence]))
