"""The errors, as values: a Problem is one thing that is wrong; Problems collects several of them.

A function that finds a problem returns it, or adds it to the Problems that it is given. A check of a single value
returns the end of a sentence ("must be lower case"), "" if the value is right. The core raises only SettingsError and
YamlError; any other exception is a bug.
"""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from ingress_manager.core.text import one_line

LONGEST_REFUSAL = 500
"""Characters. The line becomes part of an Event's message, which kubectl shows in one line."""

MOST_KEPT = 20
"""More problems than this never fit into a line."""


class Reason(StrEnum):
    """Why a request is refused or warned about, or an object removed: one tag in Events, logs, metrics and commands."""

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
    """One thing that is wrong."""

    sentence: str
    """A whole sentence: the annotation, its value, and what would be right."""

    reason: Reason = Reason.INVALID_VALUE
    annotation: str = ""
    """The key of the wrong annotation, as the Service has it; "" if something else is wrong."""

    def line(self, longest: int = LONGEST_REFUSAL) -> str:
        """Return the sentence and the reason's tag, in one line of at most `longest` characters. The tag isn't cut."""
        # Cut twice: before escaping, because a sentence can be very long, and after it, because escapes are longer.
        sentence, tag = one_line(self.sentence[: longest + 1]), f" [{self.reason}]"
        room = longest - len(tag)
        return f"{sentence if len(sentence) <= room else f'{sentence[: room - 1]}…'}{tag}"


class Problems(msgspec.Struct):
    """Collects problems, the most important first: keeps MOST_KEPT, each sentence once, and counts the rest."""

    kept: list[Problem] = []
    more: int = 0
    """How many problems were not kept."""

    def add(self, sentence: str, reason: Reason = Reason.INVALID_VALUE, annotation: str = "") -> None:
        """Add a problem with these fields."""
        self.extend([Problem(sentence, reason, annotation)])

    def extend(self, problems: Iterable[Problem], more: int = 0) -> None:
        """Add several problems, and count `more` that were not kept."""
        self.more += more
        for problem in problems:
            is_new = all(problem.sentence != known.sentence for known in self.kept)
            if is_new and len(self.kept) < MOST_KEPT:
                self.kept.append(problem)
            else:
                self.more += is_new

    def line(self) -> str:
        """Return as many problems as fit into one line of LONGEST_REFUSAL characters, and how many more there are."""
        shown = [problem.line() for problem in self.kept]
        count = len(shown) + self.more
        while len(line := joined(shown, count)) > LONGEST_REFUSAL and len(shown) > 1:
            shown.pop()
        if len(line) > LONGEST_REFUSAL:
            shown = [self.kept[0].line(LONGEST_REFUSAL - (len(line) - len(shown[0])))]
        return joined(shown, count)


def joined(shown: list[str], count: int) -> str:
    """Join the problems `shown`, and say how many of all `count` aren't shown."""
    return " · ".join([*shown, f"and {count - len(shown)} more"] if count > len(shown) else shown)


class SettingsError(Exception):
    """The settings can't be used. Names the first thing that is wrong with them."""

    def __init__(self, sentence: str, path: tuple[str | int, ...] = (), line: int = 0, origin: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        """The path as people write it, what is wrong, and what would be right."""

        self.path = path
        """The keys and indexes that lead to the field; () if the text as a whole is wrong."""

        self.line = line
        """The line of the text, from 1; 0: none."""

        self.origin = origin
        """Where the settings come from, such as a file, for people."""

    def __str__(self) -> str:
        """Return the origin, the line and the sentence."""
        return ": ".join(filter(None, [self.origin, f"line {self.line}" if self.line else "", self.sentence]))
