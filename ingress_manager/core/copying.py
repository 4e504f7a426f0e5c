"""Copying: which of a Service's annotations reach its Ingress and HTTPRoutes, and with which values.

An Ingress can tell its controller far more than the owner of a Service should be able to. So an annotation is copied
only when the settings name its full key and allow its value.
"""

import re
from collections.abc import Container, Mapping
from typing import Annotated, Literal

from msgspec import Meta

from ingress_manager.core import refusals
from ingress_manager.core.annotations import PREFIX
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.syntax import check_annotation_key, check_label_key
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, KNOWN, OLD_CLASS, changes, is_for_controllers, protects

NOT_COPIED = "ingress/not-copied"
"""An annotation of what we make. It lists those of the Service that look meant for a controller and weren't copied."""

ADDED = "ingress/added-by-settings"
"""An annotation of what we make. It lists those that the administrator's settings have added."""

ANY: Literal["any"] = "any"
"""The word that lifts a limit."""

Limit = Literal["any"] | Annotated[tuple[str, ...], Meta(min_length=1)]
"""The values that are allowed. A list is never empty: a list that somebody has yet to write must not lift a limit."""

DEFAULT_COPIED: dict[str, Limit] = {key: ANY for key, known in KNOWN.items() if known.by_default}
"""What is copied where the settings say nothing: keys that can harm nobody, whichever controller reads them."""

_PATTERNS = {key: re.compile(known.pattern) for key, known in KNOWN.items()}

OTHERS_PREFIXES = (PREFIX, "metacontroller.k8s.io/", "kubectl.kubernetes.io/")
"""How keys begin that belong to ingress-manager, Metacontroller or kubectl."""

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "ingress-manager"
"""The label of all that we make. The admission policies select by it."""


def copy(
    present: Mapping[str, str],
    limits: Mapping[str, Limit],
    added: Container[str],
    problems: Problems,
) -> dict[str, str]:
    """Return those of a Service's annotations that the limits let through. Adds a problem for each with a wrong value.

    The keys in `added` are those that the settings add. They are not copied.
    """
    if not limits or present.keys().isdisjoint(limits):  # which is nearly always so
        return {}
    found = {key: present[key] for key in limits if key in present and key not in added}
    for key, value in found.items():
        try:
            check_copied(key, value, limits)
        except Problem as problem:
            problems.add(problem)
    return found


def check_copied(key: str, value: str, limits: Mapping[str, Limit]) -> None:
    """Raise Problem unless `limits`, those of copyAnnotations, allow the annotation."""
    if key not in limits:
        raise refusals.annotation_not_copied(key)
    try:
        check_value(key, value)
    except Problem as problem:
        raise problem.about(f"{key}: {quoted(value)}", key) from None
    limit = limits[key]
    if isinstance(limit, tuple) and value not in limit:
        raise refusals.value_not_allowed(key, value, limit)


def check_own_label_key(key: str) -> str:
    """Return `key`, which may be a label of what we make. Raises Problem when it may not."""
    if key == MANAGED_BY_LABEL or key.startswith(OTHERS_PREFIXES):
        raise Problem("belongs to ingress-manager, Metacontroller or kubectl")
    return check_label_key(key)


def check_value(key: str, value: str) -> str:
    """Return the value that an annotation is to be copied with. Raises Problem when the key can't have it."""
    if key in KNOWN and not _PATTERNS[key].fullmatch(value):
        raise Problem(KNOWN[key].right)
    return value


def keys_not_copied(annotations: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Return the keys meant for a controller that `ours`, the annotations of what we make, lack or overrule; sorted."""
    left = [key for key in annotations if is_for_controllers(key) and ours.get(key) != annotations[key]]
    return sorted(left) if left else left


def check_loss(key: str) -> str:
    """Return `key`, which may be an annotation for whose loss a Service is refused. Raises Problem when it may not."""
    check_own_key(key)
    if not (protects(key) or changes(key)):
        raise Problem("is no annotation for whose loss a Service is refused: take it out")
    return key


def check_key(key: str) -> str:
    """Return `key`, which may be an annotation that we copy. Raises Problem when it may not."""
    if key == OLD_CLASS:
        raise Problem("can't be copied from a Service; ingress/class says the same")
    return check_own_key(key)


def check_own_key(key: str) -> str:
    """Return `key`, which may be an annotation of what we make. Raises Problem when it may not."""
    if "*" in key:
        raise Problem("must be the full key of an annotation, without *")
    if key.startswith(OTHERS_PREFIXES):
        raise Problem("belongs to ingress-manager, Metacontroller or kubectl")
    if key == EDIT_IN_PLACE:
        does = "it has cert-manager write into an Ingress that is mended at once, so that no certificate is renewed"
        raise Problem(f"must be left out: {does}")
    return check_annotation_key(key)


def check_prefix(prefix: str) -> str:
    """Return `prefix`, with which the keys of annotations may begin. Raises Problem when none can."""
    try:
        check_annotation_key(f"{prefix}x")
    except Problem:
        prefix = ""
    if "/" not in prefix or prefix != prefix.lower():
        raise Problem("must be how keys begin, in lower case and with a slash, as in nginx.ingress.kubernetes.io/")
    return prefix
