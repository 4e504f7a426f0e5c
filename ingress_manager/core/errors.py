"""The errors: a Problem is one thing that is wrong; Refused says that a Service is refused, for one problem or more.

Both are values. Whoever finds a problem returns it, or adds it to the `Problems` that it is given; what a check of a
single value returns is the end of a sentence ("must be lower case"), "" if nothing is wrong. What is raised in the core
is a bug, but for SettingsError and YamlError.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from ingress_manager.core.text import one_line

LONGEST_REFUSAL = 500
"""Characters. The refusal becomes part of an Event's message, which kubectl shows in one line."""

MOST_KEPT = 20
"""Problems that are kept. More never fit into a refusal."""


class Reason(StrEnum):
    """Why a request is refused, or what was made is removed: one word, in Events, logs, metrics and commands alike."""

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
    NOT_IN_HTTPROUTE = "not-in-httproute"
    NOT_MADE = "not-made"
    NOT_WATCHED = "not-watched"
    OUTDATED = "outdated"
    PATH_TYPE_NOT_ALLOWED = "path-type-not-allowed"
    PAUSED = "paused"
    PROFILE_NOT_ALLOWED = "profile-not-allowed"
    PROTECTION_LOST = "protection-lost"
    TOO_LARGE = "too-large"
    TOO_MANY_OBJECTS = "too-many-objects"
    UNKNOWN_ANNOTATION = "unknown-annotation"
    UNKNOWN_PORT = "unknown-port"
    UNKNOWN_PROFILE = "unknown-profile"


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong."""

    sentence: str
    """What it is, and what would be right: whole, with the annotation and its value."""

    reason: Reason = Reason.INVALID_VALUE
    annotation: str = ""
    """The key of the annotation that is wrong, as the Service has it; "" when it is something else."""

    def told(self, longest: int = LONGEST_REFUSAL) -> str:
        """Return the sentence and the reason's word, in one line of at most `longest` characters: the word is kept."""
        # Cut twice: before escaping, because a sentence can be very long, and after it, because escapes are longer.
        sentence, word = one_line(self.sentence[: longest + 1]), f" [{self.reason}]"
        room = longest - len(word)
        return f"{sentence if len(sentence) <= room else f'{sentence[: room - 1]}…'}{word}"


class Problems(msgspec.Struct):
    """Collects problems: keeps the first ones, each sentence once, and only counts the others."""

    kept: list[Problem] = []
    more: int = 0

    def add(self, sentence: str, reason: Reason = Reason.INVALID_VALUE, annotation: str = "") -> None:
        """Keep or count a problem with these fields."""
        self.extend([Problem(sentence, reason, annotation)])

    def extend(self, problems: Iterable[Problem], more: int = 0) -> None:
        """Keep or count several problems. `more` is the number of further ones, for which no Problem was made."""
        self.more += more
        for problem in problems:
            is_new = all(problem.sentence != known.sentence for known in self.kept)
            if is_new and len(self.kept) < MOST_KEPT:
                self.kept.append(problem)
            else:
                self.more += is_new


class Refused(msgspec.Struct, frozen=True):
    """Problems that are told in one line, the most important one first. As a decision: nothing changes, for these."""

    problems: Sequence[Problem]
    more: int = 0
    """How many problems were not kept."""

    @property
    def is_paused(self) -> bool:
        """Return whether it is no mistake of the Service, but a pause."""
        return self.problems[0].reason is Reason.PAUSED

    def line(self) -> str:
        """Return why, in one line of at most 500 characters: as many problems as fit, and how many more there are."""
        shown = [problem.told() for problem in self.problems]
        count = len(shown) + self.more
        while len(line := joined(shown, count)) > LONGEST_REFUSAL and len(shown) > 1:
            shown.pop()
        if len(line) > LONGEST_REFUSAL:
            shown = [self.problems[0].told(LONGEST_REFUSAL - (len(line) - len(shown[0])))]
        return joined(shown, count)


def joined(shown: list[str], count: int) -> str:
    """Return the problems `shown` in one line, and how many of all `count` are not shown."""
    return " · ".join([*shown, f"and {count - len(shown)} more"] if count > len(shown) else shown)


class SettingsError(Exception):
    """The settings can't be used, for one thing that is wrong with them."""

    def __init__(self, sentence: str, path: tuple[str | int, ...] = (), line: int = 0, origin: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        """What is wrong, and what would be right. It begins with the path, as people write it."""

        self.path = path
        """The keys and indexes that lead to the field; () when the text as a whole is wrong."""

        self.line = line
        """Where it stands, from 1; 0: not in a line of the text."""

        self.origin = origin
        """What the settings are from, for people."""

    def __str__(self) -> str:
        """Return the sentence, and before it what it is from, and its line."""
        return ": ".join(filter(None, [self.origin, f"line {self.line}" if self.line else "", self.sentence]))
