"""Protection: no annotation of the Service, or of the settings, loses its effect unnoticed.

An annotation that keeps requests out must reach every object: one without it would be open to more people than the
owner allows. One that changes an Ingress's answer must have the same effect on its HTTPRoutes. Otherwise
the Service is refused, unless the administrator accepts the loss.
"""

from collections.abc import Container

from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import MOST_LEFT
from ingress_manager.core.carried import Carried
from ingress_manager.core.errors import Reason
from ingress_manager.core.rules import path_of
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import (
    ALTERNATIVES,
    changes_answer,
    is_read_from,
    is_read_from_services,
    is_said,
    protects,
    undoes,
)

UNCOPIED = ("isn't copied", "copies it (limits.copyAnnotations), or ")
OVERRULED = ("the settings state it otherwise", "")
NOT_SAID = ("can't be said in an HTTPRoute", "makes none (outputs), or ")
"""Why an annotation is lost, and what the administrator can do about it."""


def add_lost(basis: Basis, key: str, because: tuple[str, str], configured: Container[str] = ()) -> None:
    """Add the problem that objects would lack the effect of an annotation, unless the administrator accepts the loss.

    A key that isn't in `configured` is the Service's.
    """
    if key in basis.effective.accepted_losses:
        return
    why, remedy = because
    value = (basis.service.metadata.annotations or {}).get(key, "")
    what, does, reason = f"{key}: {quoted(value)}", "changes the answer", Reason.NOT_IN_HTTPROUTE
    if protects(key):
        what, does, reason = key, "protects this Service", Reason.PROTECTION_LOST
    owner = "take it off if it may be lost, or "
    if key in configured:
        what, owner, reason = f"{key}, which the settings add to Ingresses,", "", Reason.SETTINGS_CONFLICT
    sentence = f"{what} {does}, and {why}: {owner}the administrator {remedy}accepts the loss (limits.acceptedLosses)"
    basis.problems.add(sentence, reason, key)


def check_protection(basis: Basis, carried: Carried) -> None:
    """Add a problem for each annotation that protects the Service, and wouldn't reach all of its objects."""
    by_ingress, by_httproutes = carried.left_behind.get("Ingress", ()), carried.left_behind.get("HTTPRoute", ())
    if (count := max(len(by_ingress), len(by_httproutes))) > MOST_LEFT:
        sentence = (
            f"this Service has {count} annotations meant for ingress controllers "
            f"that would not reach what is made for it; {MOST_LEFT} is the most"
        )
        basis.problems.add(sentence, Reason.TOO_LARGE)
        return
    for key in by_ingress:
        if undoes(key, carried.configured) and key not in basis.effective.accepted_losses:
            value = quoted((basis.service.metadata.annotations or {})[key])
            end = "is read from the Service itself, and would override the protection of the settings: take it off"
            basis.problems.add(f"{key}: {value} {end}", Reason.PROTECTION_LOST, key)
    for key, other in ALTERNATIVES.items():
        if key in carried.copied and other in carried.configured:
            add_lost(basis, key, OVERRULED)
        elif key < other and key in carried.copied and other in carried.copied:
            basis.problems.add(f"{other}: can't stand beside {key}: keep one", Reason.CONTRADICTION, other)
    for key in filter(protects, sorted({*by_ingress, *by_httproutes})):
        is_lost_in_ingress = key in by_ingress and not is_read_from_services(key)
        is_lost_in_httproutes = key in by_httproutes and not is_read_from_services(key, of_httproutes=True)
        if is_lost_in_httproutes and not is_read_from("HTTPRoute", key):
            add_lost(basis, key, NOT_SAID)
        elif is_lost_in_ingress or is_lost_in_httproutes:
            add_lost(basis, key, OVERRULED if key in basis.effective.added_with_tls else UNCOPIED)


def check_reader(basis: Basis, ingress_class: str | None, carried: Carried) -> None:
    """Add a problem for each annotation that protects, and that the controller of the Ingress's class doesn't read.

    That is one that the Ingress carries, or one that controllers read from the Service itself.
    """
    known = basis.effective.settings.ingress_classes.get(ingress_class or "")
    if ingress_class is None or known is None:
        return
    why = f"the controller of the class {quoted(ingress_class)} doesn't read it"
    read_from_service = filter(is_read_from_services, carried.left_behind["Ingress"][:MOST_LEFT])
    for key in dict.fromkeys([*carried.copied, *read_from_service, *carried.configured]):
        # Traefik reads keys in any case.
        if protects(key) and not key.lower().startswith(known.reads):
            add_lost(basis, key, (why, "says that it does (ingressClasses), or "), carried.configured)


def check_said(basis: Basis, carried: Carried) -> None:
    """Add a problem for each annotation of an Ingress that changes its answer, and whose effect HTTPRoutes would lack.

    Likewise for a configured one that protects. `check_protection` looks at those of the Service.
    """
    at_root = all(path_of(basis.requested, route) == ("/", "Prefix") for route in basis.requested.routes)
    for key, value in carried.of_ingress.items():
        if key in carried.configured and protects(key):
            is_lost = not is_read_from("HTTPRoute", key)
        else:
            is_lost = changes_answer(key) and not is_said(key, value, tls=basis.tls, at_root=at_root)
        if is_lost and key not in basis.effective.said_by_filters:
            add_lost(basis, key, NOT_SAID, carried.configured)
