"""The errors: a Problem is one thing that is wrong; Refused says that a Service is refused, for one problem or more.

Both are values. Whoever finds a problem returns it, or adds it to the `Problems` that it is given; what a check of a
single value returns is the end of a sentence ("must be lower case"), "" if nothing is wrong. What is raised in the core
is a bug, but for SettingsError and YamlError.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

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
    BUG = "bug"
    CLASS_NOT_ALLOWED = "class-not-allowed"
    CONTRADICTION = "contradiction"
    DUPLICATE_ROUTE = "duplicate-route"
    EXTERNAL_NAME = "external-name"
    HOST_NOT_ALLOWED = "host-not-allowed"
    HTTPS_PORT = "https-port"
    INVALID_DEFAULT_HOST = "invalid-default-host"
    INVALID_REQUEST = "invalid-request"
    INVALID_VALUE = "invalid-value"
    NO_HTTPROUTES = "no-httproutes"
    NO_PORT = "no-port"
    NOT_IN_HTTPROUTE = "not-in-httproute"
    NOT_IN_INGRESS = "not-in-ingress"
    NOT_MADE = "not-made"
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


class Meaning(NamedTuple):
    """What a reason means, and what to do about it: a sentence or two each."""

    meaning: str
    remedy: str


REASONS = {
    Reason.AMBIGUOUS_PORT: Meaning(
        "The Service has several TCP ports, and nothing says which one serves HTTP.",
        "State ingress/port, or name the port http.",
    ),
    Reason.ANNOTATION_NOT_ALLOWED: Meaning(
        "The settings don't allow an annotation of the Ingress, or its value.",
        "Take the annotation off, give it an allowed value, or the administrator allows it (limits.copyAnnotations).",
    ),
    Reason.BUG: Meaning(
        "ingress-manager has a bug: it would have made an object that isn't the Service's own. It makes nothing.",
        "Report it, with the line of the hook's log whose event is bug.",
    ),
    Reason.CLASS_NOT_ALLOWED: Meaning(
        "The namespace may not use this IngressClass.",
        "Name an allowed class in ingress/class, take the annotation off, or the administrator allows it "
        "(limits.classes).",
    ),
    Reason.CONTRADICTION: Meaning(
        "Two annotations contradict each other, or one has no effect because of another.",
        "Remove one of the two.",
    ),
    Reason.DUPLICATE_ROUTE: Meaning(
        "Two routes are the same one to ingress controllers.",
        "Remove one from ingress/routes, or give an entrance another host, path, class or profile. A slash at the end "
        "counts only in an Exact path, and ImplementationSpecific counts as Prefix.",
    ),
    Reason.EXTERNAL_NAME: Meaning(
        "The Service is of type ExternalName, which leads out of its namespace.",
        "Use another type, or write the Ingress by hand.",
    ),
    Reason.HOST_NOT_ALLOWED: Meaning(
        "The namespace may not use this host.",
        "State an allowed host in ingress/host or ingress/routes, or the administrator allows it (limits.hosts).",
    ),
    Reason.HTTPS_PORT: Meaning(
        "The Service's only TCP port seems to speak HTTPS, and no annotation asks for it.",
        "Add a port for HTTP. Or name the port in ingress/port, if it speaks HTTP, or the controller is told to send "
        "HTTPS.",
    ),
    Reason.INVALID_DEFAULT_HOST: Meaning(
        "The settings' template of the default host makes no valid host for this Service.",
        "State ingress/host, or the administrator changes the template (defaults.host).",
    ),
    Reason.INVALID_REQUEST: Meaning(
        "The request is not one of Metacontroller's contract.",
        "Let Metacontroller call the hook with hook version v2, as the shipped DecoratorController says.",
    ),
    Reason.INVALID_VALUE: Meaning(
        "An annotation has a value that it can't have.",
        "Write a value as the sentence says. Values are text: true and 80 need quotes in YAML.",
    ),
    Reason.NO_HTTPROUTES: Meaning(
        "The settings ask for HTTPRoutes, and Metacontroller doesn't watch them.",
        "The administrator applies metacontroller/httproute/, or takes httproute out of defaults.outputs.",
    ),
    Reason.NO_PORT: Meaning(
        "The Service has no TCP port.",
        "Add the TCP port that serves HTTP.",
    ),
    Reason.NOT_IN_HTTPROUTE: Meaning(
        "The annotations ask for something that an HTTPRoute, or its Gateway, can't do.",
        "Do as the sentence says. A certificate belongs to the Gateway's listener, which the administrator names in "
        "defaults.gateway.",
    ),
    Reason.NOT_IN_INGRESS: Meaning(
        "The annotations ask for something that an Ingress can't say.",
        "Do as the sentence says. The administrator can let a profile add the controller's annotation.",
    ),
    Reason.NOT_MADE: Meaning(
        "The Service doesn't get its Ingress or HTTPRoute: another one has the name, or something denies each write.",
        "`ingress-manager status` says which it is: a taken name, a quota or an admission policy. It is tried again "
        "within seconds or minutes.",
    ),
    Reason.OUTDATED: Meaning(
        "The object isn't what the settings make any more: by its profile, or because the Gateway is another one.",
        "Correct the Service's other mistakes: it then gets what the settings say now.",
    ),
    Reason.PATH_TYPE_NOT_ALLOWED: Meaning(
        "The namespace may not use this path type.",
        "Use an allowed path type, or the administrator allows it (limits.pathTypes).",
    ),
    Reason.PAUSED: Meaning(
        "The settings pause ingress-manager.",
        "Wait: the Service needs no change. The administrator sets paused to false.",
    ),
    Reason.PROFILE_NOT_ALLOWED: Meaning(
        "The namespace may not use this profile.",
        "Name an allowed profile in ingress/profile, take the annotation off, or the administrator allows it "
        "(limits.profiles).",
    ),
    Reason.PROTECTION_LOST: Meaning(
        "An annotation of the Service keeps requests out, and some object for this Service would lack it, or have a "
        "controller that doesn't read it: more visitors could come in.",
        "Take the annotation off only if the Service may be open without it. Or the administrator copies it "
        "(limits.copyAnnotations), makes no HTTPRoute, says what the controller reads (ingressClasses), or accepts the "
        "loss (limits.acceptedLosses, or in a profile).",
    ),
    Reason.TOO_LARGE: Meaning(
        "The Ingress would be larger than Kubernetes can store.",
        "Ask for fewer hosts, routes or annotations, or spread them over several Services.",
    ),
    Reason.TOO_MANY_OBJECTS: Meaning(
        "The Service, with all its entrances, would get too many Ingresses and HTTPRoutes.",
        "Give hosts the same paths: they then share an HTTPRoute. Or spread them over several Services.",
    ),
    Reason.UNKNOWN_ANNOTATION: Meaning(
        "ingress-manager doesn't know an ingress/… annotation of the Service.",
        "Correct its name, or take it off.",
    ),
    Reason.UNKNOWN_PORT: Meaning(
        "The Service has no TCP port of this name or number.",
        "Name one of the Service's own ports: its port, not its targetPort.",
    ),
    Reason.UNKNOWN_PROFILE: Meaning(
        "The settings have no profile of this name.",
        "Correct ingress/profile, take it off, or the administrator writes the profile (profiles).",
    ),
}
"""What each reason means, and what to do about it, for the docs and the commands."""


class Problem(msgspec.Struct, frozen=True, gc=False):
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
            if any(problem.sentence == known.sentence for known in self.kept):
                continue
            if len(self.kept) < MOST_KEPT:
                self.kept.append(problem)
            else:
                self.more += 1


class Refused(msgspec.Struct, frozen=True, gc=False):
    """Nothing is changed, because of `problems`. The most important one is the first."""

    status: int
    """That of the HTTP answer."""

    problems: Sequence[Problem]
    more: int = 0
    """How many problems were not kept."""

    retry_after: int | None = None
    """Seconds."""

    def line(self) -> str:
        """Return why, in one line of at most 500 characters: as many problems as fit, and how many more there are."""
        shown = [problem.told() for problem in self.problems]
        count = len(shown) + self.more
        line = joined(shown, count)
        while len(line) > LONGEST_REFUSAL and len(shown) > 1:
            shown.pop()
            line = joined(shown, count)
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
