"""The decision: which observed objects lead to a refusal, which objects are missing, and when to sync again."""

from typing import Any

import msgspec
import pytest

from devcluster.sync_requests import service
from ingress_manager.core.decide import RESYNC_SECONDS, Decision, Desired, decide, not_made, refusal_of, spread
from ingress_manager.core.kubernetes import NOTHING_OBSERVED, Attachment, AttachmentMeta, Observed, Service, Spec
from ingress_manager.core.settings import OUTPUT_NAMES, Defaults, Gateway, ListenerSets, Settings

ON = {"ingress/http": "true"}
NONE = Observed()
INGRESS, ROUTE = (Attachment(kind, AttachmentMeta(), Spec()) for kind in ("Ingress", "HTTPRoute"))
GATEWAY = Gateway(name="web", namespace="infrastructure", listener_sets=ListenerSets(port=443))
BOTH, ROUTES = (Settings(Defaults(outputs=outputs, gateway=GATEWAY)) for outputs in (OUTPUT_NAMES, ("httproute",)))


def decided(
    annotations: dict[str, str],
    observed: Observed = NONE,
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> Decision:
    return decide(msgspec.convert(service(annotations), Service), observed, settings)


def refusal(*arguments: Any) -> str:
    """Return why a Service is refused; "" if it isn't."""
    refused = refusal_of(decided(*arguments))
    return refused.line() if refused else ""


@pytest.mark.parametrize(
    ("observed", "settings", "missing"),
    [
        (NONE, Settings(), ["Ingress"]),
        (Observed({"team-a/another": INGRESS}), Settings(), ["Ingress"]),
        (Observed({"team-a/shop": INGRESS}, {}), BOTH, ["HTTPRoute"]),
        (Observed(httproutes={"team-a/shop": ROUTE}), BOTH, ["Ingress"]),
        (Observed({"team-a/shop": INGRESS}, {"team-a/shop": ROUTE}), BOTH, []),
    ],
)
def test_objects_that_are_not_observed_are_missing(observed: Observed, settings: Settings, missing: list[str]) -> None:
    """Metacontroller doesn't report when its create fails because the name exists."""
    decision = decided(ON, observed, settings)
    assert isinstance(decision, Desired)
    assert decision.missing == [(kind, "team-a/shop") for kind in missing]


def parent(uid: int = 1) -> Service:
    stored = service(ON)
    stored["metadata"]["uid"] = f"{uid:036}"
    return msgspec.convert(stored, Service)


def test_resyncs_of_many_services_are_spread_evenly_over_some_minutes() -> None:
    seconds = [spread(parent(number), RESYNC_SECONDS) for number in range(2000)]
    assert {*seconds} == {*RESYNC_SECONDS}
    assert max(map(seconds.count, RESYNC_SECONDS)) < 50, "about 17 each"
    assert spread(parent(7), RESYNC_SECONDS) == seconds[7]


@pytest.mark.parametrize(
    ("kind", "observed", "settings"),
    [("HTTPRoute", Observed({"team-a/shop": INGRESS}), BOTH), ("ListenerSet", Observed(httproutes={}), ROUTES)],
)
def test_a_kind_that_is_not_watched_is_refused(kind: str, observed: Observed, settings: Settings) -> None:
    """Metacontroller would try to create the objects anyway, and fail with an Event that doesn't mention the reason."""
    assert refusal(ON | {"ingress/tls-secret": "shop-tls"}, observed, settings).startswith(
        f"the settings give this Service {kind}s, but Metacontroller doesn't manage {kind}s. "
        f"Ask an administrator to apply metacontroller/{kind.lower()}/ [not-watched]"
    )
    assert refusal({}, observed, settings) == refusal(ON, Observed(httproutes={}), ROUTES) == ""


def test_the_objects_of_all_entrances_are_counted_and_each_may_have_three() -> None:
    plain = ON | {"ingress/tls": "true", "ingress/tls-redirect": "true", "ingress/tls-secret": "shop-tls"}
    asked = plain | {f"e{n}.{key}": value for n in range(8) for key, value in plain.items()}
    asked |= {f"e{n}.ingress/host": f"e{n}.example.com" for n in range(8)}
    decision = decided(asked, NOTHING_OBSERVED, ROUTES)
    assert len(getattr(decision, "objects", ())) == 27
    asked |= {"e7.ingress/routes": "[{path: /7}, {host: h.example.com, path: /h}]"}
    assert refusal(asked, NOTHING_OBSERVED, ROUTES).startswith("this Service would need 30 objects; the limit is 27")


def test_hosts_times_routes_may_be_1000_paths() -> None:
    """More are an attack, see the case cost-hosts-times-routes."""
    routes = "".join(f"- path: /{number}\n" for number in range(100))
    assert not refusal(ON | {"ingress/host": ",".join(f"h{n}" for n in range(10)), "ingress/routes": routes})


def test_as_many_missing_objects_as_fit_are_named() -> None:
    line = not_made("team-a/shop", [("HTTPRoute", f"team-a/shop.{number:064}") for number in range(18)]).line()
    assert "0001 and 16 more don't exist yet: a name is taken" in line
    assert len(line) < 500
