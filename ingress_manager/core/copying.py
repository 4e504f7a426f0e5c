"""Copying: a Service's annotation is copied to its objects only if the settings name the full key and allow the value.

Annotations on an Ingress can configure a controller far beyond what a Service's owner is allowed to do.
"""

import re
from collections.abc import Collection, Mapping
from typing import Annotated, Literal, TypeVar

from msgspec import Meta

from ingress_manager.core.errors import Problem, Reason
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.shape import must
from ingress_manager.core.syntax import wrong_annotation_key, wrong_label_key
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import (
    COPIED_BY_DEFAULT,
    EDIT_IN_PLACE,
    KNOWN,
    OLD_CLASS,
    RESERVED_PREFIXES,
    is_for_controllers,
    is_lost_in_httproutes,
    is_read_from_services,
    may_undo,
    protects,
)

COPIED, NOT_COPIED, FINGERPRINT = "ingress/copied", "ingress/not-copied", "ingress/profile-fingerprint"
"""Annotations of managed objects. Their values, in this order: the keys copied from the Service, the controller
annotations that weren't copied, and a hash of the profile's filters and annotations."""

ANY: Literal["any"] = "any"

Text = TypeVar("Text", bound=str)
NOT_EMPTY, _WITHOUT_ANY = (
    Meta(min_length=1),
    must(lambda allowed: ANY not in allowed, 'be either the word "any", or a list without it'),
)
Limit = Literal["any"] | Annotated[tuple[Text, ...], NOT_EMPTY, _WITHOUT_ANY]
"""The allowed values, or `any`. An empty list is rejected as a mistake, because it would allow nothing."""

DEFAULT_COPY_LIMITS: dict[str, Limit[str]] = dict.fromkeys(COPIED_BY_DEFAULT, ANY)

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "ingress-manager"
"""The value of the label by which admission policies select managed objects."""


def why_not_copied(key: str, value: str, limits: Mapping[str, Limit[str]]) -> Problem | None:
    """Return why an annotation can't be copied: `limits` (copyAnnotations) or its value. Return None if it can."""
    if key not in limits:
        return Problem(f"copying {key} from a Service is not allowed", Reason.ANNOTATION_NOT_ALLOWED)
    if end := wrong_value(key, value):
        return Problem(f"{key}: {quoted(value)} {end}", annotation=key)
    limit = limits[key]
    if isinstance(limit, tuple) and value not in limit:
        sentence = f"{key}: {quoted(value)} is not allowed; allowed: {listed(limit, quoted)}"
        return Problem(sentence, Reason.ANNOTATION_NOT_ALLOWED, key)
    return None


def keys_not_copied(annotations: Mapping[str, str], objects: Collection[Object]) -> list[str]:
    """Return the sorted keys of controller annotations that have no effect, or [] if `objects` is empty.

    An annotation has no effect if no object carries it unchanged and no controller reads it from the Service.
    """
    carried = {pair for desired in objects for pair in desired["metadata"].get("annotations", {}).items()}
    dropped = [key for key in annotations if is_for_controllers(key) and (key, annotations[key]) not in carried]
    return sorted([key for key in dropped if objects and not is_read_from_services(key)])


def wrong_value(key: str, value: str) -> str:
    """Return what is wrong with the value of a copied annotation, or "". Keys not in KNOWN may have any value."""
    pattern, message = KNOWN.get(key, (".*", ""))
    return "" if re.fullmatch(pattern, value) else message


# Checks of keys in the settings.

_RESERVED = "is reserved for ingress-manager, Metacontroller or kubectl"


def wrong_configured_label(key: str) -> str:
    return _RESERVED if key == MANAGED_BY_LABEL or key.startswith(RESERVED_PREFIXES) else wrong_label_key(key)


def wrong_loss_key(key: str) -> str:
    end = "must not be listed, because losing it never causes a refusal"
    return wrong_configured_key(key) or ("" if protects(key) or is_lost_in_httproutes(key) or may_undo(key) else end)


def wrong_copied_key(key: str) -> str:
    end = "can't be copied from a Service; use ingress/class instead"
    return end if key == OLD_CLASS else wrong_configured_key(key)


def wrong_configured_key(key: str) -> str:
    if "*" in key:
        return "must be an annotation's full key, without *"
    if key.startswith(RESERVED_PREFIXES):
        return _RESERVED
    if key == EDIT_IN_PLACE:
        return "must be left out, because each sync would remove cert-manager's challenge and block renewals"
    return wrong_annotation_key(key)


def wrong_key_prefix(prefix: str) -> str:
    if "/" in prefix and prefix == prefix.lower() and not wrong_annotation_key(f"{prefix}x"):
        return ""
    return "must be a lowercase annotation prefix with a slash, such as nginx.ingress.kubernetes.io/"
