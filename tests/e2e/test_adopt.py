"""`adopt`, `release` and `uninstall` on a real cluster: no Ingress disappears unless it is meant to."""

import contextlib
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster.api import (
    CRDS,
    HTTPROUTES,
    INGRESSES,
    LISTENERSETS,
    NAMESPACES,
    SERVICE_ACCOUNTS,
    SERVICES,
    WEBHOOKS,
    Object,
)
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.gateway import NAME as GATEWAY
from devcluster.gateway import Gateway
from devcluster.overlay import GATEWAY_CLASS
from devcluster.story import Stage, served_by
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import operations_to_disown
from ingress_manager.core.kubernetes import DECORATOR
from tests.e2e.conftest import SERVING_SETTINGS, require_gateway
from tests.e2e.objects import CLUSTER_ROLES, GATEWAYS, POLICIES, backend, by_hand, create
from tests.e2e.people import asking, commands_of, deleted, environment_of, kubeconfig_of, run, sh, written

PORT = 8086
MOVER = "docs/commands/examples/mover.yaml"


def is_ours(ingress: Object) -> bool:
    """Return whether ingress-manager manages an Ingress. Fails if only some of its marks are present."""
    metadata = ingress["metadata"]
    marks = [
        "ownerReferences" in metadata,
        DECORATOR in metadata.get("annotations", {}),
        metadata.get("labels", {}).get("app.kubernetes.io/managed-by") == "ingress-manager",
    ]
    assert len(set(marks)) == 1, metadata
    return all(marks)


def settle(stage: Stage) -> None:
    """Wait until Metacontroller has synced all changes, and the garbage collector has finished."""
    for service in stage.api.list(SERVICES, stage.namespace):
        metadata = {"annotations": {"example.com/touched": service["metadata"]["resourceVersion"]}}
        stage.api.patch(SERVICES, service["metadata"]["name"], {"metadata": metadata}, stage.namespace)
    stage.create_service("canary", {"ingress/http": "true"})
    stage.until_ingress("canary", "the Ingress of a Service created later", lambda _: True)
    stage.api.delete(SERVICES, "canary", stage.namespace)
    stage.until("the garbage collector", lambda: stage.ingress("canary") is None)


def commands(namespace: str, word: str) -> list[str]:
    return [each.replace("team-a", namespace) for each in commands_of("docs/commands/adopt.md") if word in each]


def test_adopt_waits_until_metacontroller_has_seen_the_service(cluster: DevCluster, stage: Stage) -> None:
    """Metacontroller watches Services and Ingresses separately. With a stale Service, it would delete the Ingress."""
    plane = cluster.control_plane
    *plans, adopt, owner = commands(stage.namespace, " adopt ") + commands(stage.namespace, "get ingress")
    releases = commands(stage.namespace, " release ")
    stage.create_service("shop", {})
    host = f"shop.{stage.namespace}.example.com"
    before = stage.api.create(INGRESSES, by_hand(stage.namespace, "shop", host, "shop", ingressClassName="nginx"))

    def annotated() -> bool:
        return bool((stage.api.get(SERVICES, "shop", stage.namespace) or {})["metadata"].get("annotations"))

    sh(plane, "\n".join(plans))
    with cluster.engine.paused():
        adopting = subprocess.Popen(adopt.split(), env=environment_of(plane), stdout=subprocess.PIPE, text=True)
        stage.until("the annotation", annotated)
        with pytest.raises(subprocess.TimeoutExpired):
            adopting.wait(3)
        assert stage.ingress("shop") == before
    out, _ = adopting.communicate(timeout=100)
    assert adopting.returncode == 0
    assert out.splitlines()[-1] == f"{stage.namespace}/shop is adopted. ingress-manager manages {stage.namespace}/shop."
    assert sh(plane, owner).stdout == "shop"
    adopted = stage.ingress("shop")
    sh(plane, "\n".join(releases))
    released = stage.ingress("shop")
    for now, ours in ((adopted, True), (released, False)):
        assert now
        assert (is_ours(now), now["metadata"]["uid"], now["spec"]) == (ours, before["metadata"]["uid"], before["spec"])


def mover(plane: ControlPlane, namespace: str, folder: Path) -> Path:
    """Return the kubeconfig of a user who has the permissions in a namespace that the page's commands grant."""
    create(plane.api, SERVICE_ACCOUNTS, "mover", namespace)
    apply, *bindings = commands(namespace, "mover")
    file = folder / "mover.yaml"
    file.write_text((REPOSITORY / MOVER).read_text(encoding="utf-8").replace("team-a", namespace))
    sh(plane, apply.replace(MOVER, str(file)))
    for binding in bindings:
        own = binding.replace("rolebinding ingress-mover", f"rolebinding {namespace}")
        sh(plane, own.replace("--user jane", f"--serviceaccount {namespace}:mover"))
    return kubeconfig_of(plane, namespace, "mover", folder)


HELD = {"annotations": {"kubernetes.io/ingress.class": GATEWAY_CLASS}, "finalizers": ["example.com/held"]}
"""Metadata of an Ingress with its class in an annotation, to be moved to the spec, and with a finalizer."""


def split_and_alone(stage: Stage, alone: list[str]) -> dict[tuple[str, str], str]:
    """Create Ingresses with two Services each, or one; return the Service that serves each host and path."""
    places: dict[tuple[str, str], str] = {}
    for name, metadata, spec in (("shop", HELD, {}), ("www", {}, {"ingressClassName": GATEWAY_CLASS})):
        host = f"{name}.{stage.namespace}.example.com"
        ingress = by_hand(stage.namespace, name, host, "shop", PORT, metadata=metadata, **spec)
        path = {"path": "/cart", "pathType": "Prefix", "backend": backend("cart", PORT)}
        ingress["spec"]["rules"][0]["http"]["paths"].append(path)
        stage.api.create(INGRESSES, ingress)
        places |= {(host, "/"): "shop", (host, "/cart"): "cart"}
    for name in alone:
        host = f"{name}.{stage.namespace}.example.com"
        stage.api.create(INGRESSES, by_hand(stage.namespace, name, host, name, PORT, ingressClassName=GATEWAY_CLASS))
        places[host, "/"] = name
    return places


def test_no_request_fails_while_ingresses_are_split(
    cluster: DevCluster, stage: Stage, gateway: Gateway, tmp_path: Path
) -> None:
    """`shop` is named like a Service and keeps its paths; `www` is deleted once each Service asks for its own.

    Fifty other Ingresses, each for one Service, are adopted and released together.
    """
    kubeconfig = mover(cluster.control_plane, stage.namespace, tmp_path)
    many = sorted(f"shop-{number}" for number in range(50))
    places = split_and_alone(stage, many)
    by_hands = [each["metadata"] for each in stage.api.list(INGRESSES, stage.namespace)]
    before = {each["name"]: each["uid"] for each in by_hands}

    def ask() -> list[str]:
        """Return each answer that comes from a different Service than expected."""
        answers = [(place, gateway.ask(*place)) for place in places]
        return [f"{place}: {answer}" for place, answer in answers if not served_by(stage, places[place], answer)]

    def command(*arguments: str) -> list[str]:
        """Run a command with --apply, and return the names it reports, in printed order."""
        ended = run(cluster.control_plane, *arguments, "--apply", "-n", stage.namespace, kubeconfig=kubeconfig)
        assert ended.returncode == 0, ended.stderr
        return re.findall(rf"^{stage.namespace}/(\S+) ", ended.stdout, re.MULTILINE)

    settings = f"--settings={cluster.settings_file}"
    with contextlib.ExitStack() as exits:
        for name in ("shop", "cart", *many):
            exits.enter_context(Backend(stage.create_service(name, {}, PORT)))
        stage.until("an answer of each", lambda: not ask())
        with asking(ask) as answers:
            with written(cluster, stage.namespace) as adopting:
                command("adopt", settings, "--accept-changes=spec.ingressClassName", "shop")
                command("adopt", settings, "www")
                assert command("adopt", settings, "--all") == many, "in their order"
            with written(cluster, stage.namespace) as settling:
                settle(stage)
            ours = {each["metadata"]["name"]: each for each in stage.api.list(INGRESSES, stage.namespace)}
            with written(cluster, stage.namespace) as releasing:
                command("release", "shop", "cart")
                assert command("release", *many) == many
                settle(stage)
    assert [answer for answer in answers if answer != []] == []
    assert len(answers) > 10
    assert deleted(adopting) == {"www"}
    assert {name for _, name in settling} == deleted(releasing) == {"canary"}, "nothing is written again"
    assert all(map(is_ours, ours.values()))
    assert {*ours} == {"shop", "cart", "shop.www", "cart.www", *many}
    assert {each["spec"]["ingressClassName"] for each in ours.values()} == {GATEWAY_CLASS}
    assert {name: ours[name]["metadata"]["uid"] for name in ("shop", *many)}.items() <= before.items()
    now = {each["metadata"]["name"]: each for each in stage.api.list(INGRESSES, stage.namespace)}
    assert not any(map(is_ours, now.values()))
    for attribute in ("uid", "finalizers"):
        kept = {name: each["metadata"].get(attribute) for name, each in ours.items()}
        assert {name: each["metadata"].get(attribute) for name, each in now.items()} == kept
    assert ours["shop"]["metadata"]["finalizers"] == HELD["finalizers"]
    stage.api.patch(INGRESSES, "shop", {"metadata": {"finalizers": None}}, stage.namespace)
    for service in stage.api.list(SERVICES, stage.namespace):
        annotations = service["metadata"].get("annotations", {})
        assert [key for key in annotations if key.startswith(("ingress/", "ingress-manager/"))] == []


@pytest.fixture
def installed(engine: str) -> Iterator[DevCluster]:
    require_gateway()
    with DevCluster(engine, settings=SERVING_SETTINGS, gateway=True, httproute=True, admission=True) as cluster:
        create(cluster.api, NAMESPACES, "both")
        allowed = {"spec": {"allowedListeners": {"namespaces": {"from": "All"}}}}
        cluster.api.patch(GATEWAYS, GATEWAY_CLASS, allowed, GATEWAY)
        yield cluster


@pytest.mark.parametrize("keep", [True, False], ids=["keep", "remove"])
def test_uninstall_leaves_all_ingresses_or_none(installed: DevCluster, keep: bool) -> None:
    installed.apply_deployments()
    ended = run(installed.control_plane, "check")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\nAll is well: " in ended.stdout
    installed.restart_hook(SERVING_SETTINGS)  # `apply_deployments` has applied the ConfigMap's settings
    stage = Stage(installed.api, "both", installed.gateway)
    certified = {"ingress/profile": "certified", "ingress/tls-secret": "cert", "ingress/host": "cert.example.com"}
    stage.create_service("shop", {"ingress/http": "true"})
    stage.create_service("cert", {"ingress/http": "true", **certified})
    made = {
        (resource, name): stage.until(f"{resource} {name}", lambda: stage.api.get(resource, name, "both"))  # noqa: B023
        for resource, name in ((INGRESSES, "shop"), (HTTPROUTES, "shop"), (LISTENERSETS, "cert"))
    }
    labels = {"app.kubernetes.io/managed-by": "ingress-manager"}
    theirs = by_hand("both", "stranger", "stranger.example.com", "shop", metadata={"labels": labels})
    stranger = stage.api.create(INGRESSES, theirs)
    release = json.dumps(operations_to_disown(Item(made[INGRESSES, "shop"])))
    refused = f"kubectl patch --namespace=both --type=json --patch={shlex.quote(release)} -- ingress stranger"
    said = sh(installed.control_plane, refused, check=False).stderr
    assert "the server rejected our request" in said, "it is nobody's to release"

    shown = "\n".join(commands("both", "ingress-manager uninstall"))
    with written(installed, "both") as writes:
        sh(installed.control_plane, shown if keep else shown.replace("--keep", "--remove"))
        for name in ("shop", "cert") if keep else ():
            stage.api.delete(SERVICES, name, "both")
    assert deleted(writes) == (set() if keep else {"shop"})
    for (resource, name), before in made.items():
        now = stage.api.get(resource, name, "both")
        assert (now is not None) is keep
        if now is not None:
            assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
            assert not is_ours(now)
    assert stage.ingress("stranger") == stranger
    services = stage.api.list(SERVICES, "both")
    assert [service["metadata"]["name"] for service in services if "annotations" in service["metadata"]] == []

    for resource in (CLUSTER_ROLES, POLICIES, CRDS):
        names = [found["metadata"]["name"] for found in stage.api.list(resource)]
        assert [name for name in names if "metacontroller" in name or name.startswith("ingress-manager-h")] == []
    assert stage.api.list(WEBHOOKS) == []
    gone = {"ingress-manager", "metacontroller"}
    stage.until("no namespace", lambda: gone.isdisjoint(n["metadata"]["name"] for n in stage.api.list(NAMESPACES)))
