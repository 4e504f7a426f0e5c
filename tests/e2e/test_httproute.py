"""HTTPRoutes on a real API server: made, kept, restored and removed as Ingresses are."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, ApiError, Object, Resource
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import writes
from tests.e2e.objects import create

ON = {"ingress/http": "true"}
TWO_PATHS = "[{path: /}, {host: api.example.com, path: /v1}]"


class Routes(Stage):
    """A stage that sees HTTPRoutes."""

    def route(self, name: str) -> Object | None:
        """Return the HTTPRoute as it is now."""
        return self.api.get(HTTPROUTES, name, self.namespace)

    def until_route(self, name: str, what: str, wanted: Callable[[Object], bool]) -> Object:
        """Return the HTTPRoute once it is as wanted."""

        def check() -> Object | None:
            route = self.route(name)
            return route if route is not None and wanted(route) else None

        return self.until(what, check)

    def clear(self) -> None:
        """Delete all Services, and wait until nothing that was made for them is left."""
        for service in self.api.list(SERVICES, self.namespace):
            self.api.delete(SERVICES, service["metadata"]["name"], self.namespace)
        self.until("an empty namespace", lambda: not [*self.names(HTTPROUTES), *self.names(INGRESSES)])

    def names(self, resource: Resource) -> list[str]:
        """Return the names of all objects of a kind."""
        return sorted(found["metadata"]["name"] for found in self.api.list(resource, self.namespace))


@pytest.fixture
def routes(serving: DevCluster) -> Iterator[Routes]:
    """Yield the namespace in which a Service is given HTTPRoutes alone."""
    stage = Routes(serving.api, "httproute")
    yield stage
    stage.clear()


@pytest.fixture
def both(serving: DevCluster) -> Iterator[Routes]:
    """Yield the namespace in which a Service is given an Ingress and HTTPRoutes."""
    stage = Routes(serving.api, "both")
    yield stage
    stage.clear()


def hostnames(route: Object) -> Any:
    return route["spec"]["hostnames"]


@pytest.mark.gate
def test_a_service_is_given_an_httproute_that_is_restored_repaired_changed_and_removed(routes: Routes) -> None:
    routes.create_service("shop", ON)
    made = routes.until_route("shop", "the HTTPRoute", lambda _: True)
    assert hostnames(made) == ["example.com"]
    assert routes.ingress("shop") is None

    routes.api.delete(HTTPROUTES, "shop", routes.namespace)
    old = made["metadata"]["uid"]
    again = routes.until_route("shop", "a new HTTPRoute", lambda route: route["metadata"]["uid"] != old)
    assert again["spec"] == made["spec"]

    edit = {"spec": {"hostnames": ["elsewhere.example.com"]}}
    routes.api.patch(HTTPROUTES, "shop", edit, routes.namespace)
    routes.until_route("shop", "the HTTPRoute as it was", lambda route: bool(route["spec"] == made["spec"]))

    routes.api.patch(SERVICES, "shop", {"spec": {"ports": [{"name": "http", "port": 8080}]}}, routes.namespace)
    routes.until_route(
        "shop", "the new port", lambda route: bool(route["spec"]["rules"][0]["backendRefs"][0]["port"] == 8080)
    )
    routes.annotate("shop", None)
    routes.until("no HTTPRoute", lambda: routes.route("shop") is None)


def test_hosts_with_other_paths_have_an_httproute_that_comes_and_goes_without_touching_the_first(
    routes: Routes,
) -> None:
    routes.create_service("shop", ON)
    first = routes.until_route("shop", "the HTTPRoute", lambda _: True)
    annotate(routes, {"ingress/routes": TWO_PATHS})
    routes.until("two HTTPRoutes", lambda: len(routes.names(HTTPROUTES)) == 2)
    [_, second] = routes.names(HTTPROUTES)
    assert hostnames(routes.until_route(second, "the second", lambda _: True)) == ["api.example.com"]
    annotate(routes, {"ingress/routes": None})
    routes.until("one HTTPRoute", lambda: routes.names(HTTPROUTES) == ["shop"])
    now = routes.route("shop")
    assert now is not None
    assert (now["metadata"]["uid"], now["metadata"]["generation"]) == (first["metadata"]["uid"], 1)


@pytest.mark.gate
def test_a_strangers_httproute_of_that_name_is_left_alone_and_an_event_says_so(routes: Routes) -> None:
    stranger = create(routes.api, HTTPROUTES, "blog", routes.namespace, spec={"hostnames": ["blog.example.com"]})
    routes.create_service("blog", ON)
    routes.until_event("blog", "HTTPRoute httproute/blog isn't there yet")
    assert routes.route("blog") == stranger
    routes.api.delete(HTTPROUTES, "blog", routes.namespace)
    routes.until_route("blog", "the Service's own", lambda route: "ownerReferences" in route["metadata"])


def test_an_httproute_cannot_lose_its_owner(routes: Routes) -> None:
    routes.create_service("shop", ON)
    routes.until_route("shop", "the HTTPRoute", lambda _: True)
    with pytest.raises(ApiError, match="what ingress-manager made can't lose its Service as an owner"):
        routes.api.patch(HTTPROUTES, "shop", {"metadata": {"ownerReferences": None}}, routes.namespace)


EVERYTHING = {"ingress/host": "*, a.example.com", "ingress/tls-secret": "one"}
QUIET: dict[str, tuple[dict[str, str], int, int]] = {
    "quiet": ({"ingress/routes": TWO_PATHS, "ingress/tls": "true", "ingress/tls-redirect": "true"}, 1, 4),
    "quiet-rewritten": ({"ingress/profile": "rewritten"}, 0, 1),
    "quiet-everything": ({**EVERYTHING, "b.ingress/http": "true", "b.ingress/host": "b.example.com"}, 2, 3),
    "quiet-class": ({"ingress/profile": "by-annotation"}, 1, 1),
}
"""The annotations of Services, and how many Ingresses and HTTPRoutes each is given."""


def test_nothing_is_written_again_while_nothing_changes(serving: DevCluster, both: Routes) -> None:
    """The API server fills in defaults inside of lists. If the hook left one out, it would be written for ever."""
    for name, (more, _, _) in QUIET.items():
        annotations = {**ON, "ingress/host": f"{name}.example.com", **more}
        both.create_service(name, {key: value for key, value in annotations.items() if value})
    counts = [sum(some) for some in zip(*((made, routes) for _, made, routes in QUIET.values()), strict=True)]
    both.until("all of them", lambda: [len(both.names(INGRESSES)), len(both.names(HTTPROUTES))] == counts)
    for label in ("a", "b"):
        # Each makes Metacontroller compare what is there with what is desired, before it sees what is created later.
        for name in QUIET:
            both.api.patch(SERVICES, name, {"metadata": {"labels": {"touched": label}}}, both.namespace)
        both.create_service(f"later-{label}", {**ON, "ingress/host": f"{label}.example.com"})
        both.until_route(f"later-{label}", "the HTTPRoute of a Service created later", lambda _: True)
    for kind, count in zip(("ingresses", "httproutes"), counts, strict=True):
        made = [verb for verb, name in writes(serving, both, kind) if name.startswith("quiet")]
        assert made == ["create"] * count


def annotate(stage: Stage, annotations: dict[str, str | None]) -> None:
    stage.api.patch(SERVICES, "shop", {"metadata": {"annotations": annotations}}, stage.namespace)
