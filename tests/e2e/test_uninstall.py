"""`check` and `uninstall` on a real cluster: all is well; and it goes, and its Ingresses stay, or go as well."""

import json
import shlex
from collections.abc import Iterator

import pytest

from devcluster.api import CRDS, HTTPROUTES, INGRESSES, LISTENERSETS, NAMESPACES, SERVICES, WEBHOOKS
from devcluster.cluster import DevCluster
from devcluster.gateway import NAME as GATEWAY
from devcluster.overlay import GATEWAY_CLASS
from devcluster.story import Stage
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import operations_to_disown
from tests.e2e.audit import deleted, written
from tests.e2e.conftest import SERVING_SETTINGS, require_gateway
from tests.e2e.objects import CLUSTER_ROLES, GATEWAYS, POLICIES, by_hand, create
from tests.e2e.people import commands_of, run, sh
from tests.e2e.test_adopt import is_ours


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
    installed.follow()
    ended = run(installed.control_plane, "check")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\nAll is well: " in ended.stdout
    installed.restart_hook(SERVING_SETTINGS)  # it has followed the ConfigMap
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

    shown = commands_of("docs/commands/adopt.md")
    commands = "\n".join(command for command in shown if command.startswith("ingress-manager uninstall"))
    with written(installed, "both") as writes:
        sh(installed.control_plane, commands if keep else commands.replace("--keep", "--remove"))
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
