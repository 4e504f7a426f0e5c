"""The settings come to require a login in a namespace: no Service keeps a way in without it, whatever it does."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, Object
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.errors import NotReady
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.objects import create
from tests.e2e.test_httproute import Routes
from tests.e2e.traffic import ON, Place

LOGIN = {"type": "ExtensionRef", "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "sso"}}
MISTAKE = {"ingress/oops": "on purpose"}
OTHER = {"b.ingress/http": "true", "b.ingress/host": "b.example.com"}
WAYS: dict[str, tuple[dict[str, str], Mapping[str, str | None]]] = {
    "nothing": ({}, {}),
    "mistake": ({}, MISTAKE),
    "no-such-port": ({}, {"ingress/port": "none"}),
    "other-entrance": (OTHER, {"b.ingress/port": "none"}),
    "opted-out": (OTHER, {**MISTAKE, "b.ingress/http": "false"}),
    "open": ({"ingress/profile": "open"}, MISTAKE),
    "still-open": ({"ingress/profile": "open"}, {}),
    "gone": ({"ingress/profile": "gone"}, {}),
    "no-name": ({"ingress/profile": "open"}, {**MISTAKE, "ingress/profile": None}),
    "sso": ({"ingress/profile": "sso"}, MISTAKE),
    "sso-later": ({}, {**MISTAKE, "ingress/profile": "sso"}),
    "an-ingress": ({"ingress/profile": "by-ingress"}, {**MISTAKE, "ingress/profile": "sso"}),
}
"""By the name of a Service: its annotations beside those of every one, and what its owner does before the change."""


def profile(**fields: Any) -> Object:
    """Return a profile of HTTPRoutes."""
    return {"outputs": ["httproute"], **fields}


def settings(defaults: Object, **changed: Any) -> Object:
    """Return the settings in which the namespace `httproute` has these defaults, and something else has changed."""
    namespaces = {**SERVING_SETTINGS["namespaces"], "httproute": {"defaults": profile(**defaults), **changed}}
    return {**SERVING_SETTINGS, "namespaces": namespaces}


BEFORE = settings({}) | {
    "profiles": {"open": profile(), "gone": profile(), "sso": profile(), "by-ingress": {"outputs": ["ingress"]}}
}
PROFILES = {"open": profile(), "sso": profile(filters=[LOGIN])}


@pytest.fixture
def routes(serving: DevCluster) -> Iterator[Routes]:
    """Yield the namespace, with a Service for each way, and what each was given before the settings changed."""
    stage = Routes(serving.api, "httproute")
    serving.restart_hook(BEFORE)
    for name, (stated, _) in WAYS.items():
        annotations = {**ON, "ingress/host": f"{name}.example.com", **stated}
        create(serving.api, SERVICES, name, "httproute", {"annotations": annotations}, spec={"ports": [{"port": 80}]})
    stage.until("what they ask for", lambda: len(standing(stage)) == len(WAYS) + 2)
    for name, (_, done) in WAYS.items():
        stage.api.patch(SERVICES, name, {"metadata": {"annotations": done}}, "httproute")
    yield stage
    serving.restart_hook(SERVING_SETTINGS)
    stage.clear()


def standing(stage: Routes) -> dict[str, Object]:
    """Return the HTTPRoutes and Ingresses of the namespace, by their names."""
    both = [*stage.api.list(HTTPROUTES, "httproute"), *stage.api.list(INGRESSES, "httproute")]
    return {each["metadata"]["name"]: each for each in both}


def are_closed(stage: Routes) -> bool:
    """Return whether nothing stands but HTTPRoutes with the login in every rule."""
    return all(
        [rule.get("filters") for rule in each["spec"]["rules"]] == [[LOGIN]] for each in standing(stage).values()
    )


@pytest.mark.parametrize("paused", [False, True])
def test_nothing_without_the_login_stands_once_the_settings_require_it(
    serving: DevCluster, routes: Routes, paused: bool
) -> None:
    place, host = Place(serving, "httproute"), "mistake.example.com"
    service = serving.api.get(SERVICES, "mistake", "httproute")
    before = standing(routes)
    assert service is not None
    with Backend(service):
        place.until_served(host)
        serving.restart_hook(
            settings({"profile": "sso"}, limits={"profiles": ["sso"]}, paused=paused) | {"profiles": PROFILES}
        )
        for name in WAYS:
            serving.api.patch(SERVICES, name, {"metadata": {"labels": {"synced": f"{paused}"}}}, "httproute")
        with contextlib.suppress(NotReady):
            routes.until("nothing without the login", lambda: are_closed(routes))
        assert [name for name, each in standing(routes).items() if "filters" not in str(each["spec"])] == []
        place.until_404_page(host)
        now = standing(routes)
        if paused:
            assert now == {}
        else:
            assert [*now] == ["nothing"]
            assert now["nothing"]["metadata"]["uid"] == before["nothing"]["metadata"]["uid"], "it was changed in place"
