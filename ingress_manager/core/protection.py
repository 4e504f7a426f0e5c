"""Protection: what would be lost of a Service's annotations, or of those that the settings add, where it is served.

What keeps requests out must reach all that is made: an object without it would be open to more than the owner says.
What changes the answer of an Ingress must be said by its HTTPRoutes, too. A Service is refused for whatever else is
lost, unless the administrator accepts the loss.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import MOST_LEFT
from ingress_manager.core.errors import Reason
from ingress_manager.core.rules import path_of
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import changes, is_read_from, is_read_from_services, is_said, protects

UNCOPIED = ("isn't copied", "copies it (limits.copyAnnotations), or ")
OVERRULED = ("the settings state it otherwise", "")
NOT_SAID = ("can't be said in an HTTPRoute", "makes none (outputs), or ")
"""Why an annotation is lost, and what the administrator can do about it."""


def add_lost(basis: Basis, key: str, because: tuple[str, str], added: Container[str] = ()) -> None:
    """Add the problem that what is made would lack what an annotation does, unless the administrator accepts that.

    It is the Service's own, if the settings haven't `added` it.
    """
    if key in basis.policy.accepted_losses:
        return
    why, remedy = because
    value = (basis.service.metadata.annotations or {}).get(key, "")
    what, does, reason = f"{key}: {quoted(value)}", "changes the answer", Reason.NOT_IN_HTTPROUTE
    if protects(key):
        what, does, reason = key, "protects this Service", Reason.PROTECTION_LOST
    owner = "take it off if it may be lost, or "
    if key in added:
        what, owner = f"{key}, which the settings add to Ingresses,", ""
    sentence = f"{what} {does}, and {why}: {owner}the administrator {remedy}accepts the loss (limits.acceptedLosses)"
    basis.problems.add(sentence, reason, key)


def check_protection(basis: Basis, left: Mapping[str, Sequence[str]]) -> None:
    """Add a problem for each annotation that protects the Service, and wouldn't reach all that is made for it.

    `left` are the keys that what is made would lack, by its kind.
    """
    of_ingresses, of_httproutes = left.get("Ingress", ()), left.get("HTTPRoute", ())
    if (count := max(len(of_ingresses), len(of_httproutes))) > MOST_LEFT:
        sentence = (
            f"this Service has {count} annotations meant for ingress controllers "
            f"that would not reach what is made for it; {MOST_LEFT} is the most"
        )
        basis.problems.add(sentence, Reason.TOO_LARGE)
        return
    for key in sorted({*of_ingresses, *of_httproutes}):
        if not protects(key):
            continue
        is_lost = key in of_ingresses and not is_read_from_services(key)
        is_lost_there = key in of_httproutes and not is_read_from_services(key, of_httproutes=True)
        if is_lost_there and not is_read_from("HTTPRoute", key):
            add_lost(basis, key, NOT_SAID)
        elif is_lost or is_lost_there:
            add_lost(basis, key, OVERRULED if key in basis.policy.added_with_tls else UNCOPIED)


def check_reader(
    basis: Basis, ingress_class: str | None, copied: Iterable[str], left: Sequence[str], added: Mapping[str, str]
) -> None:
    """Add a problem for each annotation that protects, and that the controller of the Ingress's class doesn't read.

    It is `copied` to the Ingress, or `left` for it to read from the Service itself; or the settings have `added` it.
    """
    known = basis.policy.settings.ingress_classes.get(ingress_class or "")
    if ingress_class is None or known is None:
        return
    why = f"the controller of the class {quoted(ingress_class)} doesn't read it"
    of_service = [*copied, *(key for key in left[:MOST_LEFT] if is_read_from_services(key))]
    for key in dict.fromkeys([*of_service, *added]):
        # In lower case, because Traefik reads its keys so.
        if protects(key) and not key.lower().startswith(known.reads):
            add_lost(basis, key, (why, "says that it does (ingressClasses), or "), added)


def check_said(basis: Basis, copied: Mapping[str, str], added: Mapping[str, str]) -> None:
    """Add a problem for each annotation that an Ingress has, and whose effect HTTPRoutes would lack.

    That is what changes the answer, `copied` from the Service or `added` by the settings; of what is added, what
    protects, too: an owner's is told of where it is lost.
    """
    at_root = all(path_of(basis.stated, route) == ("/", "Prefix") for route in basis.stated.routes)
    for key, value in {**copied, **added}.items():
        if key in added and protects(key):
            is_lost = not is_read_from("HTTPRoute", key)
        else:
            is_lost = changes(key) and not is_said(key, value, tls=basis.tls, at_root=at_root)
        if is_lost and key not in basis.policy.said_by_filters:
            add_lost(basis, key, NOT_SAID, added)
