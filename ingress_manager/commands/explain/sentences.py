"""The reasons in a sentence: what `kubectl describe` shows, pasted whole, with the words around it, cut or wrapped."""

import re

from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.core.errors import Reason

PHRASES: tuple[tuple[str, str], ...] = (
    (Reason.UNKNOWN_PORT, r"is not a TCP port of|is the targetPort of"),
    (Reason.HOST_NOT_ALLOWED, "may not be claimed"),
    (Reason.UNKNOWN_PROFILE, "is not a profile of"),
    (Reason.PROFILE_NOT_ALLOWED, r'ingress/profile: "[^"]*" may not be chosen'),
    (Reason.CLASS_NOT_ALLOWED, r'(ingress/class:|class of the profile \S+) "[^"]*" may not be chosen'),
    (Reason.PATH_TYPE_NOT_ALLOWED, r'(ingress/path-type:|pathType) "[^"]*" may not be chosen'),
    (Reason.LABEL_NOT_ALLOWED, r'label \S+: "[^"]*" may not be chosen'),
    (Reason.ANNOTATION_NOT_ALLOWED, "may not be chosen; allowed:|may not be copied from"),
    (Reason.UNKNOWN_ANNOTATION, "is not an annotation of"),
    (Reason.AMBIGUOUS_PORT, "is needed to say which port"),
    (Reason.NO_PORT, "has no TCP port to send"),
    (Reason.HTTPS_PORT, "speaks HTTPS, and ingress controllers"),
    (Reason.EXTERNAL_NAME, "of type ExternalName reaches"),
    (Reason.PAUSED, "is paused by its settings"),
    (Reason.NO_HTTPROUTES, "doesn't look after HTTPRoutes"),
    (Reason.PROTECTION_LOST, "protects this Service, and"),
    (
        Reason.NOT_IN_HTTPROUTE,
        "in an HTTPRoute|has no listener for|lacks the feature|only HTTPRoutes are made|has no prefix to replace",
    ),
    (Reason.NOT_IN_INGRESS, "be said in an Ingress"),
    (Reason.INVALID_DEFAULT_HOST, "the settings' default"),
    (Reason.DUPLICATE_ROUTE, "is the same to ingress controllers|is stated twice"),
    (Reason.CONTRADICTION, "contradicts|has no effect|stand beside"),
    (Reason.INVALID_REQUEST, "not a request of Metacontroller's contract"),
    (Reason.TOO_LARGE, r"bytes( in all)?; \d+ is the most|together make"),
    (Reason.TOO_MANY_OBJECTS, "would be given [0-9]+ objects"),
    (
        Reason.INVALID_VALUE,
        r'must |may hold only|has a field "|be the name of an entrance|is the most|\(line \d+, column',
    ),
    (FindingKind.NAME_TAKEN, "is in the way"),
    (FindingKind.MISSING, "exceeded quota|denied (the )?request|sync hook failed|can't reconcile"),
)
"""How a sentence tells its reason where the word at its end is cut off. Of each problem, the first that fits counts."""

_COMPACT = [(word, re.compile(re.sub(r"(?<!\\)[ ]", "", phrase))) for word, phrase in PHRASES]
_WORDS = {*Reason, *FindingKind}


def words_in(text: str) -> list[str]:
    """Return the words of the reasons that a text tells, each once; none where it tells of nothing that is known."""
    # Where a line was wrapped isn't known: no space counts.
    found: list[str] = []
    for problem in re.sub(r"\s+", "", text).split("·"):
        stated = [word for word in re.findall(r"\[([a-z-]+)\]", problem) if word in _WORDS]
        found += stated or [word for word, phrase in _COMPACT if phrase.search(problem)][:1]
    return list(dict.fromkeys(found))
