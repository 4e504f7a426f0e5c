"""`check` and `uninstall` on a real cluster: all is well; and it goes, and its Ingresses stay, or go as well."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster import gateway
from devcluster.api import CRDS, HTTPROUTES, INGRESSES, LISTENERSETS, NAMESPACES, SERVICES, WEBHOOKS
from devcluster.cluster import DevCluster
from devcluster.gateway import NAME as GATEWAY
from devcluster.overlay import CLASS
from devcluster.story import Stage
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view.managed import operations_to_disown
from ingress_manager.core.settings import FILE_VARIABLE
from tests.e2e.audit import deleted, written
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.objects import CLUSTER_ROLES, POLICIES, by_hand, namespace
from tests.e2e.shell import commands_of, run, sh
from tests.e2e.test_adopt import is_ours


@pytest.fixture
def installed(engine: str) -> Iterator[DevCluster]:
    """Yield a cluster of the test's own."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    with DevCluster(engine, settings=SERVING_SETTINGS, gateway=1, httproute=True, admission=True) as cluster:
        namespace(cluster.api, "both")
        yield cluster


def test_a_sound_installation_is_all_well(installed: DevCluster) -> None:
    installed.follow()
    allowed = '--patch={"spec": {"allowedListeners": {"namespaces": {"from": "All"}}}}'
    gateway = f"--namespace={GATEWAY}"
    installed.kubectl("patch", gateway, "--type=merge", allowed, "--", "gateways.gateway.networking.k8s.io", CLASS)
    ended = run(installed.control_plane, "check")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\nAll is well: " in ended.stdout


@pytest.mark.parametrize("keep", [True, False], ids=["keep", "remove"])
def test_it_leaves_every_ingress_or_none_and_nothing_of_itself(
    installed: DevCluster, tmp_path: Path, keep: bool
) -> None:
    stage = Stage(installed.api, "both", installed.gateway)
    stage.create_service("shop", {"ingress/http": "true"})
    ingress = stage.until_ingress("shop", "the Ingress", lambda _: True)
    route = stage.until("the HTTPRoute", lambda: stage.api.get(HTTPROUTES, "shop", "both"))
    certified = {"ingress/profile": "certified", "ingress/tls-secret": "cert", "ingress/host": "cert.example.com"}
    stage.create_service("cert", {"ingress/http": "true", **certified})
    listeners = stage.until("the ListenerSet", lambda: stage.api.get(LISTENERSETS, "cert", "both"))
    labels = {"app.kubernetes.io/managed-by": "ingress-manager"}
    theirs = by_hand("both", "stranger", "stranger.example.com", "shop", metadata={"labels": labels})
    stranger = stage.api.create(INGRESSES, theirs)
    namespace(stage.api, "elsewhere")
    elsewhere = Stage(stage.api, "elsewhere")
    elsewhere.create_service("cart", {"ingress/http": "true"})
    elsewhere.until_ingress("cart", "the Ingress", lambda _: True)
    release = json.dumps(operations_to_disown(Item(ingress, Origin("", "both"))))
    refused = f"kubectl patch --namespace=both --type=json --patch={shlex.quote(release)} -- ingress stranger"
    assert "the server rejected our request" in sh(installed.control_plane, refused, check=False).stderr, (
        "it is nobody's to release"
    )

    shown = commands_of("docs/commands/adopt.md")
    commands = "\n".join(command for command in shown if command.startswith("ingress-manager uninstall"))
    with written(installed, "both") as writes:
        commands = commands if keep else commands.replace("--keep", "--remove")
        sh(
            installed.control_plane,
            commands,
            folder=tmp_path,
            environment={FILE_VARIABLE: str(installed.settings_file)},
        )
        if keep:
            for name in ("shop", "cert"):
                stage.api.delete(SERVICES, name, "both")
    assert deleted(writes) == (set() if keep else {"shop"})
    for resource, before in ((INGRESSES, ingress), (HTTPROUTES, route), (LISTENERSETS, listeners)):
        now = stage.api.get(resource, before["metadata"]["name"], "both")
        assert (now is not None) is keep
        if now is not None:
            assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
            assert not is_ours(now)
    assert stage.ingress("stranger") == stranger
    cart = elsewhere.ingress("cart")
    assert (cart is not None) is keep
    assert cart is None or not is_ours(cart)
    services = stage.api.list(SERVICES, "both")
    assert [service["metadata"]["name"] for service in services if "annotations" in service["metadata"]] == []

    for resource in (CLUSTER_ROLES, POLICIES, CRDS):
        names = [found["metadata"]["name"] for found in stage.api.list(resource)]
        assert [name for name in names if "metacontroller" in name or name.startswith("ingress-manager-h")] == []
    assert stage.api.list(WEBHOOKS) == []
    stage.until(
        "the namespaces to go",
        lambda: not {"ingress-manager", "metacontroller"} & {n["metadata"]["name"] for n in stage.api.list(NAMESPACES)},
    )
