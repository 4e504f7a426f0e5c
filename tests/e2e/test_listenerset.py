"""ListenerSets on a real API server: made, kept, restored and removed as HTTPRoutes are. test_envoy.py serves them."""

import time
from collections.abc import Iterator

import pytest

from devcluster.api import HTTPROUTES, LISTENERSETS, SERVICES, ApiError, Object
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import writes

ASKED = {"ingress/http": "true", "ingress/host": "a.example.com, b.example.com", "ingress/tls-secret": "shop-tls"}


class Sets(Stage):
    """A stage that sees ListenerSets and HTTPRoutes."""

    def listenerset(self, name: str) -> Object | None:
        """Return the ListenerSet as it is now."""
        return self.api.get(LISTENERSETS, name, self.namespace)

    def hosts(self) -> list[str]:
        """Return the host of each ListenerSet."""
        found = self.api.list(LISTENERSETS, self.namespace)
        return sorted(listener["hostname"] for each in found for listener in each["spec"]["listeners"])

    def parents(self) -> list[str]:
        """Return the name of each ListenerSet that an HTTPRoute attaches to."""
        found = self.api.list(HTTPROUTES, self.namespace)
        return sorted(each["name"] for route in found for each in route["spec"]["parentRefs"])


@pytest.fixture
def sets(serving: DevCluster) -> Iterator[Sets]:
    """Yield the namespace in which a Service with TLS is given ListenerSets, with one such Service."""
    stage = Sets(serving.api, "listenerset")
    stage.create_service("shop", ASKED)
    stage.until("both ListenerSets", lambda: stage.hosts() == ["a.example.com", "b.example.com"])
    yield stage
    stage.api.delete(SERVICES, "shop", stage.namespace)
    stage.until("an empty namespace", lambda: not stage.hosts() and not stage.parents())


@pytest.mark.gate
def test_a_service_with_tls_is_given_listenersets_that_are_restored_repaired_changed_and_removed(sets: Sets) -> None:
    made = sets.listenerset("shop")
    assert made is not None
    old, spec = made["metadata"]["uid"], made["spec"]
    names = sorted(each["metadata"]["name"] for each in sets.api.list(LISTENERSETS, sets.namespace))
    sets.until("the HTTPRoute of both", lambda: sets.parents() == names)

    sets.api.delete(LISTENERSETS, "shop", sets.namespace)
    sets.until("a new one", lambda: (now := sets.listenerset("shop")) and now["metadata"]["uid"] != old)
    again = sets.listenerset("shop")
    assert again is not None
    assert again["spec"] == spec

    edited = [{**spec["listeners"][0], "hostname": "elsewhere.example.com"}]
    sets.api.patch(LISTENERSETS, "shop", {"spec": {"listeners": edited}}, sets.namespace)
    sets.until("it as it was", lambda: (now := sets.listenerset("shop")) and now["spec"] == spec)

    change = {"metadata": {"annotations": {"ingress/host": "a.example.com"}}}
    sets.api.patch(SERVICES, "shop", change, sets.namespace)
    sets.until("one host", lambda: sets.hosts() == ["a.example.com"] and sets.parents() == ["shop"])
    sets.annotate("shop", None)
    sets.until("neither", lambda: not sets.hosts() and not sets.parents())


def test_a_listenerset_cannot_lose_its_owner(sets: Sets) -> None:
    with pytest.raises(ApiError, match="what ingress-manager made can't lose its Service as an owner"):
        sets.api.patch(LISTENERSETS, "shop", {"metadata": {"ownerReferences": None}}, sets.namespace)


def test_nothing_is_written_again_while_nothing_changes(serving: DevCluster, sets: Sets) -> None:
    """As with HTTPRoutes, for what the API server fills in. This cluster syncs every Service each second."""
    sets.until("the HTTPRoute of both", lambda: len(sets.parents()) == 2)
    before = [writes(serving, sets, kind) for kind in ("listenersets", "httproutes")]
    time.sleep(10)
    assert [writes(serving, sets, kind) for kind in ("listenersets", "httproutes")] == before
