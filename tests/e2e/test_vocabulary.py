"""The vocabulary end to end: the Ingress follows every change of an annotation, of a port, and of the settings."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from devcluster.api import INGRESSES, SERVICES, Object
from devcluster.cluster import DevCluster
from devcluster.story import Stage, routes


def paths(ingress: Object) -> list[tuple[str, str, str, int]]:
    """Return (host, path, path type, port) of each path."""
    return [(host, path, path_type, port) for host, path, path_type, _, port in routes(ingress)]


def tls(ingress: Object) -> Any:
    return ingress["spec"].get("tls")


def annotations(ingress: Object) -> dict[str, str]:
    """Return the annotations that aren't Metacontroller's."""
    found = ingress["metadata"]["annotations"]
    return {key: value for key, value in found.items() if not key.startswith("metacontroller.k8s.io/")}


PLAIN = [("example.com", "/", "Prefix", 80)]
TIMEOUT, AUTH = "nginx.ingress.kubernetes.io/proxy-read-timeout", "nginx.ingress.kubernetes.io/auth-url"
FAMILIES: dict[str, tuple[Callable[[Object], Any], list[tuple[dict[str, str | None], Any]]]] = {
    "host": (
        paths,
        [
            ({"ingress/host": "a.example.com"}, [("a.example.com", "/", "Prefix", 80)]),
            (
                {"ingress/host": "b.example.com, *.c.example.com"},
                [("b.example.com", "/", "Prefix", 80), ("*.c.example.com", "/", "Prefix", 80)],
            ),
            ({"ingress/host": None}, PLAIN),
        ],
    ),
    "path": (
        paths,
        [
            ({"ingress/path": "/api"}, [("example.com", "/api", "Prefix", 80)]),
            ({"ingress/path-type": "Exact"}, [("example.com", "/api", "Exact", 80)]),
            ({"ingress/path": None}, [("example.com", "/", "Exact", 80)]),
            ({"ingress/path-type": None}, PLAIN),
        ],
    ),
    "port": (
        paths,
        [
            ({"ingress/port": "metrics"}, [("example.com", "/", "Prefix", 9090)]),
            ({"ingress/port": "80"}, PLAIN),
            ({"ingress/port": None}, PLAIN),
        ],
    ),
    "class": (
        lambda ingress: ingress["spec"]["ingressClassName"],
        [({"ingress/class": "traefik"}, "traefik"), ({"ingress/class": None}, "ingress-manager")],
    ),
    "tls": (
        tls,
        [
            ({"ingress/tls": "true"}, [{"hosts": ["example.com"]}]),
            ({"ingress/tls-secret": "one"}, [{"hosts": ["example.com"], "secretName": "one"}]),
            ({"ingress/tls-secret": "two"}, [{"hosts": ["example.com"], "secretName": "two"}]),
            ({"ingress/tls-secret": None}, [{"hosts": ["example.com"]}]),
            ({"ingress/tls": None}, None),
        ],
    ),
    "routes": (
        paths,
        [
            (
                {"ingress/routes": "[{path: /a}, {path: /a, pathType: Exact, port: metrics}, {host: b.example.com}]"},
                [
                    ("example.com", "/a", "Prefix", 80),
                    ("example.com", "/a", "Exact", 9090),
                    ("b.example.com", "/", "Prefix", 80),
                ],
            ),
            (
                {"ingress/routes": "[{path: /a, pathType: Exact, port: http}, {path: /b}]"},
                [("example.com", "/a", "Exact", 80), ("example.com", "/b", "Prefix", 80)],
            ),
            ({"ingress/routes": None}, PLAIN),
        ],
    ),
    "copied annotations": (
        annotations,
        [
            ({TIMEOUT: "120"}, {TIMEOUT: "120"}),
            ({TIMEOUT: "90", AUTH: "x"}, {TIMEOUT: "90", "ingress/not-copied": AUTH}),
            ({TIMEOUT: None, AUTH: None}, {}),
        ],
    ),
}
"""What is looked at of the Ingress, and steps: which annotations are set (None: removed), and what is then seen."""

TWO_PORTS = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}]


def published(stage: Stage, **more: str) -> None:
    """Create the Service shop with two ports, and wait for its Ingress."""
    stage.create_service("shop", {"ingress/http": "true"} | more)
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": TWO_PORTS}}, stage.namespace)
    stage.until_ingress("shop", "the Ingress", lambda _: True)


def annotate(stage: Stage, changes: dict[str, str | None]) -> None:
    stage.api.patch(SERVICES, "shop", {"metadata": {"annotations": changes}}, stage.namespace)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_ingress_follows_every_change_of_an_annotation(stage: Stage, family: str) -> None:
    look, steps = FAMILIES[family]
    published(stage)
    for changes, seen in steps:
        annotate(stage, changes)
        stage.until_ingress("shop", f"{seen} after {changes}", lambda found, seen=seen: look(found) == seen)  # type: ignore[misc]


def test_the_ingress_follows_a_ports_number_and_name(stage: Stage) -> None:
    published(stage)
    annotate(stage, {"ingress/port": "metrics"})
    stage.until_ingress("shop", "the named port", lambda found: paths(found)[0][3] == 9090)
    renumbered = [TWO_PORTS[0], {"name": "metrics", "port": 9091}]
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": renumbered}}, stage.namespace)
    stage.until_ingress("shop", "its new number", lambda found: paths(found)[0][3] == 9091)
    renamed = [TWO_PORTS[0], {"name": "stats", "port": 9091}]
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": renamed}}, stage.namespace)
    stage.until_event(
        "shop", 'ingress/port: "metrics" is not a TCP port of this Service; it has http (80), stats (9091)'
    )
    annotate(stage, {"ingress/port": "stats"})
    stage.until_ingress("shop", "its new name", lambda found: paths(found)[0][3] == 9091)


def test_opting_out_works_whatever_else_is_wrong(stage: Stage) -> None:
    published(stage)
    wrong = {"ingress/host": "A", "ingress/path": "x", "ingress/routes": "[", "ingress/hots": "x", "ingress/port": "no"}
    annotate(stage, dict(wrong))
    message = stage.until_event(
        "shop", "ingress/hots is not an annotation of ingress-manager; did you mean ingress/host?"
    )
    assert 'ingress/host: "A" must be lower case' in message
    assert paths(stage.ingress("shop") or {}) == PLAIN
    stage.annotate("shop", "false")
    stage.until("no Ingress", lambda: stage.ingress("shop") is None)


def test_the_ingress_follows_the_settings_after_a_rollout(resyncing: DevCluster) -> None:
    stage = Stage(resyncing.api, "default")
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the defaults", lambda found: paths(found) == PLAIN)
    own = {"hosts": ["*.example.org"], "class": "internal"}
    rollouts: list[tuple[dict[str, Any], Callable[[Object], bool]]] = [
        ({"host": "{service}.{namespace}.example.org"}, lambda found: paths(found)[0][0] == "shop.default.example.org"),
        ({"class": "traefik"}, lambda found: found["spec"]["ingressClassName"] == "traefik"),
        ({"tls": {"enabled": True}}, lambda found: tls(found) == [{"hosts": ["example.com"]}]),
        (
            {"host": "{service}.example.org", "namespaces": {"default": own}},
            lambda found: found["spec"]["ingressClassName"] == "internal" and tls(found) is None,
        ),
    ]
    for settings, wanted in rollouts:
        resyncing.restart_hook(settings)
        stage.until_ingress("shop", f"the settings {settings}", wanted)
    stage.api.delete(INGRESSES, "shop", "default")


def test_the_largest_ingress_that_we_accept_can_be_stored(stage: Stage) -> None:
    """Metacontroller stores it twice: as the object, and as an annotation."""
    published(stage)
    hosts = ",".join(f"h{i}.example.com" for i in range(100))
    annotate(stage, {"ingress/path": f"/{'x' * 830}", "ingress/host": hosts})
    large = stage.until_ingress("shop", "the long paths", lambda found: len(paths(found)) == 100)
    assert len(json.dumps(large["spec"], separators=(",", ":"))) > 95_000
    ampersands = {"ingress/path": "/" + "&" * 1000, "ingress/host": ",".join(f"h{i}.example.com" for i in range(15))}
    annotate(stage, dict(ampersands))
    stage.until_ingress("shop", "the long paths", lambda found: len(paths(found)) == 15)
