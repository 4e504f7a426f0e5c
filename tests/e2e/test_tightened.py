"""The settings are tightened: what stands and is forbidden now goes, and nothing else does."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from devcluster import overlay
from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, Object
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.errors import NotReady
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.objects import create
from tests.e2e.test_httproute import Routes
from tests.e2e.traffic import NOBODYS, ON, Place

TTL, TARGET = "external-dns.alpha.kubernetes.io/ttl", "external-dns.alpha.kubernetes.io/target"
PROFILES = {"fast": {"annotations": {"example.com/lane": "1"}}, "slow": {"annotations": {"example.com/lane": "2"}}}
LOOSE = {"copyAnnotations": {TTL: "any", TARGET: "any"}}
TIGHT = {
    "hosts": ["*.allowed.example.com"],
    "classes": [overlay.CLASS],
    "pathTypes": ["Prefix"],
    "copyAnnotations": {TTL: ["60"]},
    "profiles": ["slow"],
}


@dataclass(frozen=True)
class Row:
    """A Service, and what the tight limits mean for it."""

    annotations: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""
    """What the Event says; "": it can be given something else."""

    is_allowed: bool = False


BOTH = frozenset({"Ingress", "HTTPRoute"})
ROWS = {
    "hosts": Row({"ingress/host": "hosts.example.com"}, refused='ingress/host: "hosts.example.com" may not be claimed'),
    "classes": Row({"ingress/class": "other"}, refused='ingress/class: "other" may not be chosen'),
    "path-types": Row({"ingress/path-type": "Exact"}, refused='ingress/path-type: "Exact" may not be chosen'),
    "annotations": Row({TARGET: "198.51.100.1"}),
    "annotations-value": Row({TTL: "900"}, refused=f'{TTL}: "900" may not be chosen'),
    "every-host": Row({"ingress/host": "*"}, refused='ingress/host: "*" may not be claimed'),
    "entrance": Row(
        {"other.ingress/http": "true", "other.ingress/host": "entrance.example.com"},
        refused='other.ingress/host: "entrance.example.com" may not be claimed',
    ),
    "profiles": Row({"ingress/profile": "fast"}, refused='ingress/profile: "fast" may not be chosen'),
    "allowed": Row({TTL: "60", "ingress/profile": "slow"}, is_allowed=True),
}
WRONG = "-wrong"
"""How the names of those Services end whose owner makes a deliberate mistake before."""

SERVICES_OF_ROWS = {f"{name}{end}": row for name, row in ROWS.items() for end in ("", WRONG)}
MADE = {of: name for name in SERVICES_OF_ROWS for of in (name, *([f"{name}.other"] * name.startswith("entrance")))}
"""The names of all objects, and of the Service of each."""

Fates = dict[str, dict[str, str]]
"""What has become of all objects: `same`, `anew` or `gone`, by their name and kind."""


class Tenants(Routes):
    """All Services of the rows, in the namespace in which each has an Ingress and an HTTPRoute."""

    def create(self) -> None:
        """Create them, wait for what they are given, and make the mistakes."""
        for name, row in SERVICES_OF_ROWS.items():
            stated = {**ON, "ingress/host": f"{name}.allowed.example.com", **row.annotations}
            annotations = {key: value for key, value in stated.items() if value}
            metadata = {"annotations": annotations}
            spec = {"ports": [{"name": "http", "port": 80}]}
            create(self.api, SERVICES, name, self.namespace, metadata, spec=spec)
        self.until("all that they are given", lambda: len(self.uids()) == len(BOTH) * len(MADE))
        self.before = self.uids()
        self.patch({"annotations": {"ingress/oops": "on purpose"}}, only=WRONG)

    def patch(self, metadata: dict[str, Any], only: str = "") -> None:
        """Patch the metadata of those Services whose name ends so."""
        for name in SERVICES_OF_ROWS:
            if name.endswith(only):
                self.api.patch(SERVICES, name, {"metadata": metadata}, self.namespace)

    def uids(self) -> dict[tuple[str, str], str]:
        """Return the uid of each object, by its name and kind."""
        return {
            (found["metadata"]["name"], resource.kind): found["metadata"]["uid"]
            for resource in (INGRESSES, HTTPROUTES)
            for found in self.api.list(resource, self.namespace)
        }

    def fates(self) -> Fates:
        """Return what has become of all that was there before."""
        now = self.uids()
        word = {True: "same", False: "anew"}
        return {
            name: {
                kind: word[now[name, kind] == self.before[name, kind]] if (name, kind) in now else "gone"
                for kind in BOTH
            }
            for name in MADE
        }

    def until_fates(self, expected: Fates) -> None:
        """Return once all is as expected. Raises AssertionError."""
        with contextlib.suppress(NotReady):
            self.until("the fates", lambda: self.fates() == expected)
        assert self.fates() == expected


def fates(of_refused: str) -> Fates:
    """Return what is to become of all: `of_refused` of what a Service lost that is refused for nothing but its row."""

    def fate(service: str) -> str:
        row = SERVICES_OF_ROWS[service]
        if row.is_allowed:
            return "same"
        if service.endswith(WRONG):
            return "gone"
        return of_refused if row.refused else "anew"

    return {name: dict.fromkeys(BOTH, fate(service)) for name, service in MADE.items()}


@pytest.mark.gate
def test_what_a_limit_forbids_goes_whatever_is_beside_it_and_comes_back_with_the_limit(
    serving: DevCluster,
) -> None:
    tenants = Tenants(serving.api, "both")
    try:
        serving.restart_hook({**SERVING_SETTINGS, "profiles": PROFILES, "limits": LOOSE})
        tenants.create()

        serving.restart_hook({**SERVING_SETTINGS, "profiles": PROFILES, "limits": TIGHT})
        tenants.patch({"labels": {"synced": "tight"}})
        tenants.until_fates(fates(of_refused="gone"))
        for name, row in ROWS.items():
            if row.refused:
                tenants.until_event(name, row.refused)
        for resource in (INGRESSES, HTTPROUTES):
            made = tenants.api.get(resource, "annotations", "both")
            assert made is not None
            assert TARGET not in made["metadata"]["annotations"]

        serving.restart_hook({**SERVING_SETTINGS, "profiles": PROFILES, "limits": LOOSE})
        tenants.patch({"labels": {"synced": "loose"}})
        tenants.until_fates(fates(of_refused="anew"))
    finally:
        serving.restart_hook(SERVING_SETTINGS)
        tenants.clear()
        Place(serving, "both").until_404_page(NOBODYS)


# The settings come to require a login in a namespace: no Service keeps a way in without it, whatever it does.

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
WITH_LOGIN = {"open": profile(), "sso": profile(filters=[LOGIN])}


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


def test_nothing_without_the_login_stands_once_the_settings_require_it(serving: DevCluster, routes: Routes) -> None:
    place, host = Place(serving, "httproute"), "mistake.example.com"
    service = serving.api.get(SERVICES, "mistake", "httproute")
    before = standing(routes)
    assert service is not None
    with Backend(service):
        place.until_served(host)
        serving.restart_hook(settings({"profile": "sso"}, limits={"profiles": ["sso"]}) | {"profiles": WITH_LOGIN})
        for name in WAYS:
            serving.api.patch(SERVICES, name, {"metadata": {"labels": {"synced": "now"}}}, "httproute")
        with contextlib.suppress(NotReady):
            routes.until("nothing without the login", lambda: are_closed(routes))
        assert [name for name, each in standing(routes).items() if "filters" not in str(each["spec"])] == []
        place.until_404_page(host)
        now = standing(routes)
        assert [*now] == ["nothing"]
        assert now["nothing"]["metadata"]["uid"] == before["nothing"]["metadata"]["uid"], "it was changed in place"
