"""The settings are tightened: what stands and is forbidden now goes, and nothing else does."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from devcluster.api import HTTPROUTES, INGRESSES, SERVICES
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
    "annotations": Row({TARGET: "198.51.100.1"}),
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
