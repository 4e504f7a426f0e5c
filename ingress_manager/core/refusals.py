"""The sentences of refusals that depend on more than one value: each function returns one problem."""

from collections.abc import Mapping, Sequence

from ingress_manager.core.errors import Problem, Reason
from ingress_manager.core.kubernetes import Key, ServicePort
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.text import did_you_mean, listed, quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, protects

ABSENT = " isn't there yet"
"""What is said behind each object that a Service asks for and hasn't. The plans of the commands wait for it."""

LONGEST_ABSENT = 280
"""Characters that name what isn't there, of the 500 of a refusal."""


def external_name() -> Problem:
    """An ExternalName Service could lead to any host that the ingress controller can reach."""
    return Problem(
        "a Service of type ExternalName reaches outside its namespace and gets no Ingress (CVE-2021-25740)",
        Reason.EXTERNAL_NAME,
    )


def tls_contradiction(secret: str) -> Problem:
    """TLS is turned off, and the Secret with a certificate for it is named."""
    return Problem(
        f'ingress/tls: "false" contradicts ingress/tls-secret: {quoted(secret)}; remove one of them',
        Reason.CONTRADICTION,
        "ingress/tls",
    )


def no_effect(annotation: str) -> Problem:
    """Every route states what the annotation would decide."""
    return Problem(
        f"{annotation} has no effect, because every one of ingress/routes states its own; remove it",
        Reason.CONTRADICTION,
        annotation,
    )


def duplicate_route(first: str, second: str) -> Problem:
    """Two routes are one to ingress controllers; both are written as host, path and path type."""
    same = "is stated twice" if first == second else f"is the same to ingress controllers as {first}; remove one"
    return Problem(f"ingress/routes: {second} {same}", Reason.DUPLICATE_ROUTE, "ingress/routes")


def duplicate_claim(claimed: str, entrance: str) -> Problem:
    """Another entrance claims the same host and path, and nothing tells the two apart."""
    first = quoted(f"{entrance}.ingress/http" if entrance else "ingress/http")
    return Problem(
        f"ingress/http: {claimed} is the same to ingress controllers as that of {first}; state another host, path, "
        "class or profile",
        Reason.DUPLICATE_ROUTE,
        "ingress/http",
    )


def unknown_port(
    origin: str, annotation: str, port: str, ports: Sequence[ServicePort], by_target: Mapping[str, ServicePort]
) -> Problem:
    """The Service has no such port; `origin` says where it is asked for, `by_target` which ports have a targetPort."""
    if meant := by_target.get(port):
        own = quoted(meant.name or str(meant.port))
        sentence = f"is the targetPort of this Service's port {described_port(meant)}; name the port itself: {own}"
    else:
        sentence = f"is not a TCP port of this Service; it has {described(ports)}"
    return Problem(f"{origin} {quoted(port)} {sentence}", Reason.UNKNOWN_PORT, annotation)


def no_port(ports: Sequence[ServicePort]) -> Problem:
    """The Service has no TCP port, and HTTP needs one."""
    return Problem(f"this Service has no TCP port to send HTTP to; it has {described(ports)}", Reason.NO_PORT)


def https_port(port: ServicePort) -> Problem:
    """The only port looks like HTTPS, and controllers speak HTTP unless they are told otherwise."""
    return Problem(
        f"this Service's only TCP port, {described_port(port)}, seems to speak HTTPS, and ingress controllers send "
        f'HTTP: add a port for HTTP; or state ingress/port: "{port.port}", if it speaks HTTP, or the controller is '
        "told to send HTTPS",
        Reason.HTTPS_PORT,
        "ingress/port",
    )


def ambiguous_port(ports: Sequence[ServicePort]) -> Problem:
    """Several ports could serve HTTP."""
    return Problem(
        f"ingress/port is needed to say which port serves HTTP; this Service has {described(ports)}",
        Reason.AMBIGUOUS_PORT,
        "ingress/port",
    )


def invalid_default_host(host: str, problem: Problem) -> Problem:
    """The settings' template makes a host that can't be one."""
    return Problem(
        f"ingress/host is needed: the settings' default {quoted(host)} {problem.sentence}",
        Reason.INVALID_DEFAULT_HOST,
        "ingress/host",
    )


def host_not_allowed(
    origin: str, annotation: str, refused: Sequence[str], namespace: str, allowed: Sequence[str]
) -> Problem:
    """The settings don't allow the hosts; `origin` says where they are asked for."""
    shown = [f"{EVERY_HOST} (rules without a host)" if host == EVERY_HOST else host for host in allowed]
    return Problem(
        f"{origin} {listed(refused, quoted)} may not be claimed; "
        f"allowed in namespace {namespace}: {listed(shown) or 'none'}",
        Reason.HOST_NOT_ALLOWED,
        annotation,
    )


def class_not_allowed(
    origin: str, annotation: str, ingress_class: str | None, namespace: str, allowed: Sequence[str]
) -> Problem:
    """The settings don't allow the IngressClass in the namespace; None stands for the cluster's default."""
    named = "null (the cluster's default)" if ingress_class is None else quoted(ingress_class)
    return Problem(
        f"{origin} {named} may not be chosen; allowed in namespace {namespace}: {listed(allowed)}",
        Reason.CLASS_NOT_ALLOWED,
        annotation,
    )


def class_by_annotation(origin: str, annotation: str, ingress_class: str | None, by_annotation: str) -> Problem:
    """The settings name the class in an annotation, which can't stand beside a class."""
    return Problem(
        f"{origin} {quoted(ingress_class or '')} can't stand beside the annotation by which the settings name the "
        f"class, {quoted(by_annotation)}; remove it, or choose another profile",
        Reason.CONTRADICTION,
        annotation,
    )


def unknown_profile(profile: str, namespace: str, usable: Sequence[str]) -> Problem:
    """The settings have no such profile."""
    return Problem(
        f"ingress/profile: {quoted(profile)} is not a profile of the settings{did_you_mean(profile, usable)}; "
        f"allowed in namespace {namespace}: {listed(usable) or 'none'}",
        Reason.UNKNOWN_PROFILE,
        "ingress/profile",
    )


def profile_not_allowed(origin: str, annotation: str, profile: str, namespace: str, usable: Sequence[str]) -> Problem:
    """The settings don't allow the profile in the namespace."""
    return Problem(
        f"{origin} {quoted(profile)} may not be chosen{did_you_mean(profile, usable)}; "
        f"allowed in namespace {namespace}: {listed(usable) or 'none'}",
        Reason.PROFILE_NOT_ALLOWED,
        annotation,
    )


def path_type_not_allowed(
    origin: str, annotation: str, path_type: str, namespace: str, allowed: Sequence[str]
) -> Problem:
    """The settings don't allow the path type in the namespace."""
    return Problem(
        f"{origin} {quoted(path_type)} may not be chosen; allowed in namespace {namespace}: {listed(allowed)}",
        Reason.PATH_TYPE_NOT_ALLOWED,
        annotation,
    )


def path_type_of_httproutes(origin: str, annotation: str, path_type: str) -> Problem:
    """An HTTPRoute has no such path type, and one is made here."""
    return Problem(
        f"{origin} {quoted(path_type)} can't be said in an HTTPRoute; use Prefix or Exact",
        Reason.NOT_IN_HTTPROUTE,
        annotation,
    )


def old_class(stated: str, ingress_class: str | None) -> Problem:
    """The Service names a class in the words that only Ingresses have, and would get another one."""
    named = "the cluster's default class" if ingress_class is None else f"the class {quoted(ingress_class)}"
    return Problem(
        f"kubernetes.io/ingress.class: {quoted(stated)} has no effect on a Service, which would get {named}: state "
        "ingress/class, or take it off",
        Reason.CONTRADICTION,
        "kubernetes.io/ingress.class",
    )


def entrance_of_gke(ingress_class: str) -> Problem:
    """The Ingress of an entrance has a dot in its name, and GKE makes nothing of it, and tells nobody."""
    return Problem(
        f"ingress/http: with the class {quoted(ingress_class)}, GKE serves no Ingress with a dot in its name, as that "
        "of an entrance with a name; use another class, or another Service for it",
        Reason.NOT_IN_INGRESS,
        "ingress/http",
    )


def class_of_httproutes(ingress_class: str, namespace: str, gateway: str) -> Problem:
    """Only HTTPRoutes are made here, and they have no class."""
    return Problem(
        f"ingress/class: {quoted(ingress_class)} has no effect: in namespace {namespace} only HTTPRoutes "
        f"are made, which have no class and attach to {gateway}; remove it",
        Reason.NOT_IN_HTTPROUTE,
        "ingress/class",
    )


def secret_of_httproutes(secret: str, gateway: str, *, tls: bool) -> Problem:
    """Only HTTPRoutes are made here, and they name no certificate. `tls` says whether the Gateway serves TLS at all."""
    instead = 'state ingress/tls: "true" in its place' if tls else "remove it"
    return Problem(
        f"ingress/tls-secret: {quoted(secret)} can't be said in an HTTPRoute: the certificate belongs to a listener of "
        f"{gateway}; {instead}",
        Reason.NOT_IN_HTTPROUTE,
        "ingress/tls-secret",
    )


def no_listener(tls: bool, gateway: str) -> Problem:
    """The settings name no listener of the Gateway for what is asked for."""
    what, setting, instead = ("with", "https", "false") if tls else ("without", "http", "true")
    return Problem(
        f"{gateway} has no listener for hosts {what} TLS, say the settings (gateway.{setting}); "
        f'state ingress/tls: "{instead}"',
        Reason.NOT_IN_HTTPROUTE,
        "ingress/tls",
    )


def redirect_without_tls() -> Problem:
    """A redirect to https is asked for, where nothing answers on https."""
    return Problem(
        'ingress/tls-redirect: "true" has no effect without TLS; state ingress/tls: "true", or remove it',
        Reason.CONTRADICTION,
        "ingress/tls-redirect",
    )


def redirect_of_ingress(namespace: str) -> Problem:
    """An Ingress has no field for a redirect."""
    return Problem(
        f"ingress/tls-redirect can't be said in an Ingress, and in namespace {namespace} no HTTPRoute is made; remove "
        "it: an annotation of the ingress controller decides",
        Reason.NOT_IN_INGRESS,
        "ingress/tls-redirect",
    )


def no_redirect(gateway: str, why: str) -> Problem:
    """The Gateway can't answer with a redirect; `why` says what it lacks, and by which setting."""
    return Problem(
        f'{gateway} can\'t redirect: {why}; state ingress/tls-redirect: "false"',
        Reason.NOT_IN_HTTPROUTE,
        "ingress/tls-redirect",
    )


def no_redirect_of_annotation(key: str, gateway: str, why: str) -> Problem:
    """The same; and it is a controller's annotation, copied to an Ingress, that asks for the redirect."""
    return Problem(
        f'{key}: "true" asks for a redirect, and {gateway} can\'t: {why}; state ingress/tls-redirect: "false", or the '
        "administrator accepts the loss (limits.acceptedLosses)",
        Reason.NOT_IN_HTTPROUTE,
        key,
    )


def too_many_rules(host: str, count: int, paths: int, most: int) -> Problem:
    """Each port needs a rule of its own, and an HTTPRoute can't have many. `paths` are those that a rule may have."""
    return Problem(
        f"{host} would need {count} rules in an HTTPRoute, one for each port, or for {paths} paths of a port; {most} "
        "is the most",
        Reason.NOT_IN_HTTPROUTE,
        "ingress/routes",
    )


def listener_not_allowed(namespace: str, gateway: str, section: str) -> Problem:
    """The settings name another Gateway, or another listener of it."""
    return Problem(
        f"its parent, listener {quoted(section)} of Gateway {namespace}/{gateway}, is not one that the settings name",
        Reason.LISTENER_NOT_ALLOWED,
    )


def two_listeners(gateway: str) -> Problem:
    """Somebody has added a parent, and Metacontroller, which takes two of one name for one, can't take it off."""
    return Problem(f"its parents are two listeners of a Gateway {gateway}", Reason.LISTENER_NOT_ALLOWED)


def profile_required(namespace: str, usable: Sequence[str]) -> Problem:
    """The settings require a profile of all that is made in the namespace."""
    return Problem(f"it has no profile; allowed in namespace {namespace}: {listed(usable)}", Reason.PROFILE_NOT_ALLOWED)


def not_made(service: str, missing: Sequence[Key]) -> Problem:
    """A Service, as namespace/name, doesn't have these objects although they were asked for."""
    absent = [f"{kind} {name}{ABSENT}" for kind, name in missing]
    while len(", ".join(absent)) > LONGEST_ABSENT and len(absent) > 1:
        absent.pop()
    more = f" and {len(missing) - len(absent)} more" if len(absent) < len(missing) else ""
    return Problem(
        f"{', '.join(absent)}{more}: one that ingress-manager didn't make has that name, or something denies it; "
        f"`ingress-manager status {service}` says which",
        Reason.NOT_MADE,
    )


def no_httproutes_made(namespace: str) -> Problem:
    """The settings make no HTTPRoutes any more, with any profile."""
    return Problem(f"the settings make no HTTPRoutes in namespace {namespace} any more", Reason.OUTDATED)


def not_of_profile(what: str, profile: str) -> Problem:
    """The profile has other filters, or timeouts, than when the object was made."""
    return Problem(f"its {what} are not those of its profile {quoted(profile)} any more", Reason.OUTDATED)


def answer_too_large(count: int, size: int, most: int) -> Problem:
    """Metacontroller sends all that was made for a Service back with each request."""
    return Problem(f"the {count} objects would have {size} bytes in all; {most} is the most", Reason.TOO_LARGE)


def too_many_objects(count: int, most: int) -> Problem:
    """Each entrance makes objects of its own, and each list of paths an HTTPRoute."""
    return Problem(
        f"this Service would be given {count} objects, and {most} is the most; hosts with the same paths share an "
        "HTTPRoute",
        Reason.TOO_MANY_OBJECTS,
    )


def no_httproutes() -> Problem:
    """The settings ask for HTTPRoutes, but Metacontroller wasn't told to make any."""
    return Problem(
        "the settings' outputs hold httproute, but Metacontroller doesn't look after HTTPRoutes: the administrator has "
        "to apply metacontroller/httproute/",
        Reason.NO_HTTPROUTES,
    )


def annotation_not_copied(keys: str) -> Problem:
    """The settings don't let the annotation, or the annotations, be copied."""
    return Problem(f"{keys}: may not be copied from a Service", Reason.ANNOTATION_NOT_ALLOWED)


def edited_in_place() -> Problem:
    """Only Ingresses have the annotation, and one of ours is mended before cert-manager's challenge is seen."""
    return Problem(
        f'{EDIT_IN_PLACE}: "true" has no effect on a Service, and would keep cert-manager from renewing the '
        "certificate: take it off",
        Reason.CONTRADICTION,
        EDIT_IN_PLACE,
    )


UNCOPIED = ("isn't copied", "copies it (limits.copyAnnotations), or ")
OVERRULED = ("the settings state it otherwise", "")
NOT_SAID = ("can't be said in an HTTPRoute", "makes none (outputs), or ")


def not_read(ingress_class: str) -> tuple[str, str]:
    """Return why an annotation is lost on an Ingress of a class, and what the administrator can do about it."""
    why = f"the controller of the class {quoted(ingress_class)} doesn't read it"
    return why, "says that it does (ingressClasses), or "


def lost(key: str, value: str, because: tuple[str, str], *, added: bool = False, by_tls: bool = False) -> Problem:
    """What is made would lack what an annotation does; `because` says why, and what the administrator can do.

    It is the Service's, or the settings have `added` it. With TLS it wouldn't be lost: `by_tls`.
    """
    reason, what = Reason.NOT_IN_HTTPROUTE, f"{key}: {quoted(value)} changes the answer"
    if protects(key):
        reason, what = Reason.PROTECTION_LOST, f"{key} protects this Service"
    owner = "take it off if it may be lost, or "
    if added:
        does = "protects this Service" if protects(key) else "changes the answer"
        what, owner = f"{key}, which the settings add to Ingresses, {does}", ""
    why, remedy = because
    if by_tls:
        why, owner = f"{why} without TLS", f'state ingress/tls: "true", or {owner}'
    sentence = f"{what}, and {why}: {owner}the administrator {remedy}accepts the loss (limits.acceptedLosses)"
    return Problem(sentence, reason, key)


def too_many_not_copied(count: int, most: int) -> Problem:
    """Whether each of them protects can't be looked up in no time."""
    return Problem(
        f"this Service has {count} annotations meant for ingress controllers that would not reach what is made for it; "
        f"{most} is the most",
        Reason.TOO_LARGE,
    )


def value_not_allowed(key: str, value: str, allowed: Sequence[str]) -> Problem:
    """The settings list the values of an annotation that is copied, and this is none of them."""
    return Problem(
        f"{key}: {quoted(value)} may not be chosen; allowed: {listed(allowed, quoted)}",
        Reason.ANNOTATION_NOT_ALLOWED,
        key,
    )


def too_many_paths(count: int, most: int) -> Problem:
    """Every host of ingress/host gets every route that states no host, so there can be many paths."""
    return Problem(
        f"ingress/host and ingress/routes together make {count} paths; {most} is the most",
        Reason.TOO_LARGE,
        "ingress/routes",
    )


def too_large(kind: str, size: int, most: int) -> Problem:
    """The object and the copy of it that Metacontroller keeps would be more than Kubernetes stores."""
    return Problem(f"the {kind} would have {size} bytes; {most} is the most", Reason.TOO_LARGE)


def described(ports: Sequence[ServicePort]) -> str:
    """Return the ports as a person would list them: `web (80), dns (53 UDP)`."""
    return listed(ports, described_port) or "no ports"


def described_port(port: ServicePort) -> str:
    """Return one port as a person would write it."""
    number = f"{port.port}" if port.protocol == "TCP" else f"{port.port} {port.protocol}"
    return f"{port.name} ({number})" if port.name else number
