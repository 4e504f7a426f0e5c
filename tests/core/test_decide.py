"""The decision: what is refused because of what is observed, and when all is to be decided again."""

from typing import Any

import msgspec
import pytest

from devcluster.sync_requests import service
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS, Decision, decide, not_made, refusal_of
from ingress_manager.core.kubernetes import NOTHING, Attachment, AttachmentMeta, Observed, Service, Spec
from ingress_manager.core.policy import OUTPUT_NAMES, Defaults, Gateway, ListenerSets, Policy

ON = {"ingress/http": "true"}
NONE = Observed()
INGRESS, ROUTE = (Attachment(kind, AttachmentMeta(), Spec()) for kind in ("Ingress", "HTTPRoute"))
OBSERVED = Observed({"team-a/shop": INGRESS})
GATEWAY = Gateway(name="web", namespace="infrastructure", listener_sets=ListenerSets(port=443))
BOTH, ROUTES = (Policy(Defaults(outputs=outputs, gateway=GATEWAY)) for outputs in (OUTPUT_NAMES, ("httproute",)))


def decided(
    annotations: dict[str, str],
    observed: Observed = NONE,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    age: float = 0,
    uid: str = "1",
) -> Decision:
    """Return the decision about the Service team-a/shop."""
    parent = service(annotations)
    parent["metadata"]["uid"] = uid
    return decide(msgspec.convert(parent, Service), observed, policy, age)


def seconds(*arguments: Any, **named: Any) -> int:
    """Return after how many seconds a Service that asks for an Ingress is decided again."""
    found: int | None = getattr(decided(ON, *arguments, **named), "resync_after", None)
    assert found is not None
    return found


def refusal(*arguments: Any) -> str:
    """Return why nothing of what is observed changes; "" when the Service isn't refused."""
    refused = refusal_of(decided(*arguments))
    return refused.line() if refused else ""


@pytest.mark.parametrize(
    ("observed", "policy", "expected"),
    [
        (NONE, Policy(), RECHECK_SECONDS),
        (Observed({"team-a/another": INGRESS}), Policy(), RECHECK_SECONDS),
        (Observed({"team-a/shop": INGRESS}, {}), BOTH, RECHECK_SECONDS),
        (Observed(httproutes={"team-a/shop": ROUTE}), BOTH, RECHECK_SECONDS),
        (Observed({"team-a/shop": INGRESS}, {"team-a/shop": ROUTE}), BOTH, RESYNC_SECONDS),
    ],
)
def test_an_object_that_is_not_there_yet_is_looked_for_soon(
    observed: Observed, policy: Policy, expected: range
) -> None:
    """Metacontroller doesn't say when its create met an object of the same name."""
    assert seconds(observed, policy) in expected


@pytest.mark.parametrize(
    ("age", "least", "most"), [(-5, 4, 8), (0, 4, 8), (8, 4, 8), (60, 15, 15), (400, 100, 100), (1e9, 240, 360)]
)
def test_the_older_the_service_the_longer_the_next_look_waits(age: float, least: int, most: int) -> None:
    """A create may fail for long, and many that fail must not hold up the others."""
    assert least <= seconds(age=age) <= most
    assert seconds(OBSERVED, age=age) in RESYNC_SECONDS


def test_an_ingress_that_is_there_is_resynced_after_four_to_six_minutes_spread_by_the_uid() -> None:
    found = [seconds(OBSERVED, uid=f"{number:036}") for number in range(2000)]
    assert {*found} == {*RESYNC_SECONDS}
    assert max(map(found.count, RESYNC_SECONDS)) < 50, "about 17 each"
    assert seconds(OBSERVED, uid=f"{7:036}") == found[7]


@pytest.mark.parametrize(
    ("kind", "observed", "policy"), [("HTTPRoute", OBSERVED, BOTH), ("ListenerSet", Observed(httproutes={}), ROUTES)]
)
def test_a_kind_that_metacontroller_does_not_look_after_is_refused(
    kind: str, observed: Observed, policy: Policy
) -> None:
    """It would try to make them all the same, and fail: with an Event that says nothing of the reason."""
    assert refusal(ON | {"ingress/tls-secret": "shop-tls"}, observed, policy).startswith(
        f"the settings give this Service an object of the kind {kind}, but Metacontroller doesn't look after {kind}s: "
        f"the administrator has to apply metacontroller/{kind.lower()}/ [not-watched]"
    )
    assert refusal({}, observed, policy) == refusal(ON, Observed(httproutes={}), ROUTES) == ""


def test_the_objects_of_all_entrances_are_counted_and_each_may_have_three() -> None:
    plain = ON | {"ingress/tls": "true", "ingress/tls-redirect": "true", "ingress/tls-secret": "shop-tls"}
    asked = plain | {f"e{n}.{key}": value for n in range(8) for key, value in plain.items()}
    asked |= {f"e{n}.ingress/host": f"e{n}.example.com" for n in range(8)}
    decision = decided(asked, NOTHING, ROUTES)
    assert len(getattr(decision, "objects", ())) == 27
    asked |= {"e7.ingress/routes": "[{path: /7}, {host: h.example.com, path: /h}]"}
    assert refusal(asked, NOTHING, ROUTES).startswith("this Service would be given 30 objects, and 27 is the most")


def test_hosts_times_routes_may_be_1000_paths() -> None:
    """More are an attack: cost-hosts-times-routes."""
    routes = "".join(f"- path: /{number}\n" for number in range(100))
    assert not refusal(ON | {"ingress/host": ",".join(f"h{n}" for n in range(10)), "ingress/routes": routes})


def test_of_many_missing_objects_those_that_fit_are_named() -> None:
    line = not_made("team-a/shop", [("HTTPRoute", f"team-a/shop.{number:064}") for number in range(18)]).told()
    assert "0001 isn't there yet and 16 more: one that" in line
    assert len(line) < 500
