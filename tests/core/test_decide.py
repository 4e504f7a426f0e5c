"""The decision: what should exist, what is refused and why, and when it is to be decided again."""

from typing import Any

import msgspec
import pytest

from devcluster.sync_requests import service
from ingress_manager.core.annotations import HTTP
from ingress_manager.core.decide import (
    RECHECK_SECONDS,
    RESYNC_SECONDS,
    Desired,
    decide,
    not_made,
    refusal_of,
)
from ingress_manager.core.errors import Refused
from ingress_manager.core.kubernetes import (
    NOTHING,
    AttachmentMeta,
    BackendPort,
    HTTPRoute,
    Ingress,
    IngressSpec,
    Observed,
    RouteSpec,
    Service,
)
from ingress_manager.core.policy import OUTPUT_NAMES, Defaults, Gateway, Limits, ListenerSets, Policy

NONE = Observed()
INGRESS = Ingress(AttachmentMeta(), IngressSpec())
OBSERVED = Observed({"team-a/shop": INGRESS})


def made(annotations: dict[str, str] | None = None, uid: str = "1", **spec: Any) -> Service:
    """Return the Service team-a/shop as the core knows it."""
    parent = service(annotations, **spec)
    parent["metadata"]["uid"] = uid
    return msgspec.convert(parent, Service)


def desired(service: Service, observed: Observed = NONE, policy: Policy = Policy(), age: float = 0) -> Desired:  # noqa: B008 - frozen
    """Return the decision about a Service that is accepted."""
    decision = decide(service, observed, policy, age)
    assert isinstance(decision, Desired), decision
    return decision


def refused(service: Service, observed: Observed, policy: Policy) -> Refused:
    """Return why nothing of what is observed changes."""
    decision = decide(service, observed, policy)
    assert isinstance(decision, Refused), decision
    return decision


ON = {HTTP.key: "true"}
BOTH = Policy(Defaults(outputs=OUTPUT_NAMES, gateway=Gateway(name="web", namespace="infrastructure")))
ROUTE = HTTPRoute(AttachmentMeta(), RouteSpec())


@pytest.mark.parametrize("observed", [NONE, OBSERVED])
@pytest.mark.parametrize("annotations", [None, {}, {HTTP.key: "false"}])
def test_a_service_that_asks_for_nothing_gets_nothing_and_is_never_resynced(
    annotations: dict[str, str] | None, observed: Observed
) -> None:
    assert decide(made(annotations), observed, Policy()) == Desired()


@pytest.mark.parametrize(
    ("observed", "policy", "seconds"),
    [
        (NONE, Policy(), RECHECK_SECONDS),
        (Observed({"team-a/another": INGRESS}), Policy(), RECHECK_SECONDS),
        (Observed({"team-a/shop": INGRESS}, {}), BOTH, RECHECK_SECONDS),
        (Observed(httproutes={"team-a/shop": ROUTE}), BOTH, RECHECK_SECONDS),
        (Observed({"team-a/shop": INGRESS}, {"team-a/shop": ROUTE}), BOTH, RESYNC_SECONDS),
    ],
)
def test_an_object_that_is_not_there_yet_is_looked_for_soon(observed: Observed, policy: Policy, seconds: range) -> None:
    """Metacontroller doesn't say when its create met an object of the same name."""
    assert desired(made(ON), observed, policy).resync_after in seconds


def test_httproutes_that_metacontroller_does_not_look_after_are_refused_and_nothing_is_lost() -> None:
    """It would try to make them all the same, and fail: with an Event that says nothing of the reason."""
    why = refused(made(ON), OBSERVED, BOTH)
    assert why.line() == (
        "the settings give this Service an object of the kind HTTPRoute, but Metacontroller doesn't look after "
        "HTTPRoutes: the administrator has to apply metacontroller/httproute/ [not-watched]"
    )
    assert decide(made({}), OBSERVED, BOTH) == Desired()


def test_all_that_is_made_for_a_service_is_limited() -> None:
    """Metacontroller sends all of it back with each request: a Service whose requests don't fit can't even opt out."""
    policy = msgspec.structs.replace(BOTH, limits=Limits(copy_annotations={"konghq.com/plugins": "any"}))
    for hosts, length, more, sentence in (
        (17, 26_000, {}, None),
        (17, 28_000, {}, "the 18 objects would have 516945 bytes in all; 500000 is the most [too-large]"),
        (27, 0, {}, f"this Service would be given 28 objects{TOO_MANY}"),
        (14, 0, REDIRECTED, f"this Service would be given 29 objects{TOO_MANY}"),
    ):
        asked = ON | more | with_own_paths(hosts) | {"konghq.com/plugins": "x" * length}
        decision = decide(made(asked), NOTHING, policy)
        why = refusal_of(decision)
        assert (why and why.line()) == sentence


REDIRECTED = {"ingress/tls": "true", "ingress/tls-redirect": "true"}
TOO_MANY = (
    ", and 27 is the most; hosts with the same paths share an HTTPRoute, and each with a certificate of its own has a "
    "ListenerSet [too-many-objects]"
)


def with_own_paths(hosts: int) -> dict[str, str]:
    """Return the annotation for hosts of which each has a path of its own."""
    return {"ingress/routes": "".join(f"- {{host: h{n}.example.com, path: /{n}}}\n" for n in range(hosts))}


def test_the_objects_of_all_entrances_are_counted_and_each_may_have_three() -> None:
    plain = ON | REDIRECTED | {"ingress/tls-secret": "shop-tls", "ingress/host": "h0.example.com"}
    asked = plain | {f"e{n}.{key}": value for n in range(8) for key, value in plain.items()}
    asked |= {f"e{n}.ingress/host": f"e{n}.example.com" for n in range(8)}
    gateway = Gateway(name="web", namespace="infrastructure", listener_sets=ListenerSets(port=443))
    routes = Policy(Defaults(outputs=("httproute",), gateway=gateway))
    assert len(desired(made(asked), NOTHING, routes).objects) == 27
    asked |= {"e7.ingress/routes": "[{path: /7}, {host: h.example.com, path: /h}]"}
    assert refused(made(asked), NOTHING, routes).line() == f"this Service would be given 30 objects{TOO_MANY}"


def test_listenersets_that_metacontroller_does_not_look_after_are_refused() -> None:
    gateway = Gateway(name="web", namespace="infrastructure", listener_sets=ListenerSets(port=443))
    routes = Policy(Defaults(outputs=("httproute",), gateway=gateway))
    why = refused(made(ON | {"ingress/tls-secret": "shop-tls"}), Observed(httproutes={}), routes)
    assert why.line() == (
        "the settings give this Service an object of the kind ListenerSet, but Metacontroller doesn't look after "
        "ListenerSets: the administrator has to apply metacontroller/listenerset/ [not-watched]"
    )
    assert desired(made(ON), Observed(httproutes={}), routes).objects


@pytest.mark.parametrize(("port", "called"), [(BackendPort(name="web"), "web"), (BackendPort(number=80), "80")])
def test_the_port_of_an_ingress_is_called_as_a_service_would_ask_for_it(port: BackendPort, called: str) -> None:
    assert str(port) == called


@pytest.mark.parametrize(
    ("age", "least", "most"), [(-5, 4, 8), (0, 4, 8), (8, 4, 8), (60, 15, 15), (400, 100, 100), (1e9, 240, 360)]
)
def test_the_older_the_service_the_longer_the_next_look_waits(age: float, least: int, most: int) -> None:
    """A create may fail for long, and many that fail must not hold up the others."""
    seconds = desired(made(ON), age=age).resync_after
    assert seconds is not None
    assert least <= seconds <= most
    assert desired(made(ON), OBSERVED, age=age).resync_after in RESYNC_SECONDS


def test_an_ingress_that_is_there_is_resynced_after_four_to_six_minutes_spread_by_the_uid() -> None:
    seconds = [desired(made(ON, uid=f"{number:036}"), OBSERVED).resync_after for number in range(2000)]
    assert set(seconds) == set(RESYNC_SECONDS)
    assert max(seconds.count(second) for second in RESYNC_SECONDS) < 50, "about 17 each"
    assert decide(made(ON, uid="a"), OBSERVED, Policy()) == decide(made(ON, uid="a"), OBSERVED, Policy())


def test_hosts_times_routes_are_at_most_1000_paths() -> None:
    routes = "".join(f"- path: /{number}\n" for number in range(100))
    hosts = [f"h{number}" for number in range(11)]
    [ingress] = desired(made(ON | {"ingress/host": ",".join(hosts[1:]), "ingress/routes": routes})).objects
    assert sum(len(rule["http"]["paths"]) for rule in ingress["spec"]["rules"]) == 1000
    why = refused(made(ON | {"ingress/host": ",".join(hosts), "ingress/routes": routes}), NONE, Policy())
    assert why.line() == "ingress/host and ingress/routes together make 1100 paths; 1000 is the most [too-large]"


@pytest.mark.parametrize("annotations", [{}, {HTTP.key: "false"}])
def test_while_paused_a_service_with_nothing_to_do_is_answered_as_usual(annotations: dict[str, str]) -> None:
    assert decide(made(annotations), NONE, Policy(paused=True)) == Desired()


def test_of_many_missing_objects_those_that_fit_are_named() -> None:
    line = not_made("team-a/shop", [("HTTPRoute", f"team-a/shop.{number:064}") for number in range(18)]).told()
    assert "0001 isn't there yet and 16 more: one that" in line
    assert len(line) < 500
