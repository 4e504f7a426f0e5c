"""Protection: no annotation of the Service or the settings loses its effect unnoticed.

An annotation that keeps requests out must be on every object: an object without it would let in more people than the
owner allows. An annotation that changes an Ingress's responses must have the same effect on HTTPRoutes. A Service that
breaks either rule is refused, unless an administrator accepts the loss.
"""

from collections.abc import Container

from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import MOST_LEFT_BEHIND
from ingress_manager.core.carried import Carried
from ingress_manager.core.errors import Reason
from ingress_manager.core.rules import resolve_path
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import (
    ALTERNATIVES,
    belongs_on,
    is_expressed,
    is_lost_in_httproutes,
    is_read_from_services,
    protects,
    undoes,
)

UNCOPIED = ("the settings don't copy this annotation", "copy it (limits.copyAnnotations) or ")
OVERRIDDEN = ("the settings configure this annotation and ignore the Service's value", "")
NOT_EXPRESSED = ("can't be expressed in an HTTPRoute", "remove httproute from outputs or ")
"""Why an annotation is lost, and the remedy for an administrator."""


def add_loss(basis: Basis, key: str, cause: tuple[str, str], configured: Container[str] = ()) -> None:
    """Add a problem for a lost annotation, unless the settings accept its loss.

    `cause` is the reason and an administrator's remedy; `configured` contains the keys that the settings add.
    """
    if key in basis.effective.accepted_losses:
        return
    why, remedy = cause
    value = (basis.service.metadata.annotations or {}).get(key, "")
    subject, effect, reason = f"{key}: {quoted(value)}", "affects what clients receive", Reason.NOT_IN_HTTPROUTE
    if protects(key):
        subject, effect, reason = key, "protects this Service", Reason.PROTECTION_LOST
    request = "If you don't need the annotation, remove it; otherwise, ask"
    if key in configured:
        subject, request, reason = f"{key}, which the settings add to Ingresses,", "Ask", Reason.SETTINGS_CONFLICT
    end = f"{request} an administrator to {remedy}accept the loss (limits.acceptedLosses)"
    basis.problems.add(f"{subject} {effect}, but {why}. {end}", reason, key)


def check_left_behind(basis: Basis, carried: Carried) -> None:
    """Add problems for Service annotations that conflict with others, undo protection, or don't protect all objects."""
    ingress_lacks = carried.left_behind.get("Ingress", ())
    httproutes_lack = carried.left_behind.get("HTTPRoute", ())
    if (count := max(len(ingress_lacks), len(httproutes_lack))) > MOST_LEFT_BEHIND:
        sentence = (
            f"this Service has {count} ingress controller annotations "
            f"that aren't copied to its objects; the limit is {MOST_LEFT_BEHIND}"
        )
        basis.problems.add(sentence, Reason.TOO_LARGE)
        return
    for key in ingress_lacks:
        if undoes(key, carried.configured) and key not in basis.effective.accepted_losses:
            value = quoted((basis.service.metadata.annotations or {})[key])
            end = "must be removed: on a Service, it overrides protection that the settings add"
            basis.problems.add(f"{key}: {value} {end}", Reason.PROTECTION_LOST, key)
    for key, other in ALTERNATIVES.items():
        if key in carried.copied and other in carried.configured:
            add_loss(basis, key, (f"can't be combined with {other}, which the settings add", ""))
        elif key < other and key in carried.copied and other in carried.copied:  # each pair once
            basis.problems.add(f"{other} can't be combined with {key}; keep only one", Reason.CONTRADICTION, other)
    for key in filter(protects, sorted({*ingress_lacks, *httproutes_lack})):
        is_lost_in_ingress = key in ingress_lacks and not is_read_from_services(key)
        is_lost_in_httproutes = key in httproutes_lack and not is_read_from_services(key, of_httproutes=True)
        if is_lost_in_httproutes and not belongs_on("HTTPRoute", key):
            add_loss(basis, key, NOT_EXPRESSED)
        elif is_lost_in_ingress or is_lost_in_httproutes:
            add_loss(basis, key, OVERRIDDEN if key in basis.effective.added_with_tls else UNCOPIED)


def check_class_reads(basis: Basis, ingress_class: str | None, carried: Carried) -> None:
    """Add a problem for each protective annotation that the controller doesn't read, according to `ingressClasses`."""
    declared = basis.effective.settings.ingress_classes.get(ingress_class or "")
    if ingress_class is None or declared is None:
        return
    why = f"according to the settings, the controller of class {quoted(ingress_class)} doesn't read this annotation"
    read_from_service = filter(is_read_from_services, carried.left_behind["Ingress"][:MOST_LEFT_BEHIND])
    for key in dict.fromkeys([*carried.copied, *read_from_service, *carried.configured]):
        # Traefik ignores the case of keys.
        if protects(key) and not key.lower().startswith(declared.reads):
            add_loss(basis, key, (why, "fix the settings (ingressClasses) or "), carried.configured)


def check_httproutes_express(basis: Basis, carried: Carried) -> None:
    """Add a problem for each annotation that changes an Ingress's responses, but has no effect on HTTPRoutes.

    Protective annotations from the settings are checked here; `check_left_behind` checks the Service's own.
    """
    at_root = all(resolve_path(basis.requested, route) == ("/", "Prefix") for route in basis.requested.routes)
    for key, value in carried.for_ingress.items():
        if key in carried.configured and protects(key):
            is_lost = not belongs_on("HTTPRoute", key)
        else:
            is_lost = is_lost_in_httproutes(key) and not is_expressed(key, value, tls=basis.tls, at_root=at_root)
        if is_lost and key not in basis.effective.replaced_by_filters:
            add_loss(basis, key, NOT_EXPRESSED, carried.configured)
