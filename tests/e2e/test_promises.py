"""The story and the promises, checked against the API server's own records."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
import yaml

from devcluster import engines, gateway
from devcluster.api import INGRESSES, SERVICES, Object
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.story import Stage, steps_for
from tests.e2e.conftest import fresh_stage
from tests.e2e.objects import ON, by_hand, published
from tests.e2e.people import READS, tried, write_requests, writes
from tests.e2e.test_attacks import Attack
from tests.words import holds


@pytest.mark.gate
def test_the_story_writes_no_service(cluster: DevCluster, stage: Stage) -> None:
    for step in steps_for(stage):
        step.play(stage)
    asked = tried(cluster, engines.USER)
    assert {kind for verb, kind, _ in asked if verb not in READS} <= {"ingresses", "events", "leases"}
    assert ("watch", "services", "") in asked


@pytest.mark.gate
def test_a_strangers_ingress_is_never_written_to(cluster: DevCluster, stage: Stage) -> None:
    """The story checks that the Service gets the name once it is free."""
    stranger = stage.api.create(INGRESSES, by_hand(stage.namespace, "shop", "blog.example.com", "blog"))
    stage.create_service("shop", ON)
    stage.until_event("shop", "doesn't exist yet")
    stage.annotate("shop", "yes")
    stage.until_event("shop", 'is not "true" or "false"')
    stage.annotate("shop", "false")
    published(stage, "later")
    stage.api.delete(SERVICES, "shop", stage.namespace)
    published(stage, "last")
    assert stage.ingress("shop") == stranger
    assert writes(cluster, stage.namespace) == [("create", "shop"), ("create", "later"), ("create", "last")]
    assert ("create", "shop", 409) in write_requests(cluster, stage.namespace)


def test_traefik_uses_exactly_its_permissions_and_writes_only_status(serving: DevCluster) -> None:
    role, *_ = yaml.safe_load_all((REPOSITORY / "gateway/gateway-api/rbac.yaml").read_text(encoding="utf-8"))
    granted = {kind for rule in role["rules"] if "watch" in rule["verbs"] for kind in rule["resources"]}
    watched = {"endpointslices", "ingressclasses", "ingresses", "nodes", "secrets", "services"}
    asked = tried(serving, gateway.USER)
    assert {kind for verb, kind, _ in asked if verb == "watch"} == watched | granted
    assert {(verb, part) for verb, _, part in asked if verb not in READS} <= {("update", "status")}


@pytest.mark.gate
def test_a_recreated_service_soon_has_its_ingress(cluster: DevCluster, stage: Stage) -> None:
    old = published(stage)
    with cluster.control_plane.controller_manager.paused():
        stage.api.delete(SERVICES, "shop", stage.namespace)
        service = stage.create_service("shop", ON)
        met = ("create", "shop", 409)
        stage.until("AlreadyExists", lambda: met in write_requests(cluster, stage.namespace))
        assert stage.ingress("shop") == old
    owned = {"metadata": {"ownerReferences": [{"uid": service["metadata"]["uid"]}]}}
    stage.until_ingress("shop", "that of the new Service", lambda found: holds(found, owned))


@pytest.fixture
def server_side(metacontroller: None, cluster: DevCluster) -> Iterator[None]:  # noqa: ARG001 - skips without it
    """Run Metacontroller with server-side apply and full permissions, as its own manifests do."""
    binding, account = ("clusterrolebinding", "metacontroller-all"), f"--serviceaccount={engines.NAME}:{engines.NAME}"
    cluster.control_plane.kubectl("create", *binding, "--clusterrole=cluster-admin", account)
    before = cluster.engine.command
    restart_engine(cluster, [*before, "--apply-strategy=server-side-apply"])
    yield
    cluster.control_plane.kubectl("delete", *binding)
    restart_engine(cluster, before)


def answers_of(cluster: DevCluster, status: int) -> float:
    metrics = requests.get(f"{cluster.hook_url}/metrics", timeout=60).text
    [count] = re.findall(rf'ingress_manager_answers_total{{code="{status}"}} (\S+)', metrics)
    return float(count)


def restart_engine(cluster: DevCluster, command: list[str]) -> None:
    cluster.engine.kill()
    cluster.engine.command = command
    cluster.engine.start()


@pytest.mark.gate
@pytest.mark.usefixtures("server_side")
def test_server_side_apply_takes_over_no_hand_written_ingress(stage: Stage) -> None:
    """One differs from the Ingress that the Service asks for, the other is equal to it."""
    own = published(stage)
    assert own["metadata"]["managedFields"][0]["operation"] == "Apply"
    same = {**own, "metadata": {"name": "same", "namespace": stage.namespace}}
    same["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] = "same"
    strangers: dict[str, Object] = {
        "other": stage.api.create(INGRESSES, by_hand(stage.namespace, "other", "elsewhere.example.com", "backend")),
        "same": stage.api.create(INGRESSES, same),
    }
    for name, stranger in strangers.items():
        stage.create_service(name, ON)
        stage.until_event(name, "Start Metacontroller without --apply-strategy=server-side-apply")
        assert stage.ingress(name) == stranger
        stage.annotate(name, None)
    stage.annotate("shop", None)
    stage.until("the end of its own", lambda: stage.ingress("shop") is None)
    assert {name: stage.ingress(name) for name in strangers} == strangers


@pytest.mark.parametrize(("path", "hosts"), [("/" + "x" * 830, 100), ("/" + "&" * 1000, 15)])
def test_the_largest_ingress_that_we_accept_can_be_stored(stage: Stage, path: str, hosts: int) -> None:
    """Metacontroller stores the Ingress twice: as the object, and in an annotation, in which & takes six bytes."""
    large = {"ingress/path": path, "ingress/host": ",".join(f"h{number}.example.com" for number in range(hosts))}
    assert len(published(stage, annotations=large)["spec"]["rules"]) == hosts


DENIED = pytest.param("denied", 200, marks=pytest.mark.gate)


@pytest.mark.parametrize(("way", "patches"), [("yes", 1000), ("true", 1000), DENIED])
def test_failing_services_delay_nobody(way: str, patches: int, cluster: DevCluster, stage: Stage) -> None:
    """Metacontroller has one retry queue for all tenants' failures: a refusal, a taken name, a denied update.

    If each of 1,000 syncs failed with an Event, the next failure would wait a minute and a half.
    """
    with fresh_stage(cluster) as attacker:
        for number in range(12):
            if way == "denied":
                published(attacker, f"wrong-{number}")
                continue
            made = by_hand(attacker.namespace, f"wrong-{number}", f"{number}.example.com", f"wrong-{number}")
            attacker.api.create(INGRESSES, made)
            attacker.create_service(f"wrong-{number}", {"ingress/http": way})
        denied = {"ingress/host": "denied.example.com"} if way == "denied" else {}
        if denied:
            Attack(cluster, attacker, attacker.api).others_deny(denied["ingress/host"])

        def patch(number: int) -> None:
            change = {"metadata": {"annotations": denied | {"example.com/number": f"{number}"}}}
            attacker.api.patch(SERVICES, f"wrong-{number % 12}", change, attacker.namespace)

        before = answers_of(cluster, 429)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(patch, range(patches)))
        if denied:
            stage.until("answers that hold back", lambda: answers_of(cluster, 429) > before + 10)
        stage.create_service("mistaken", {"ingress/http": "yes"})
        stage.until_event("mistaken", 'is not "true" or "false"')
        stage.annotate("mistaken", "true")
        stage.until_ingress("mistaken", "the Ingress of the corrected Service", lambda _: True)
        cluster.hook.stop()
        try:
            stage.create_service("unlucky", ON)
            stage.until_event("unlucky", "")
        finally:
            cluster.restart_hook()
        stage.until_ingress("unlucky", "the Ingress of a Service that failed for another reason", lambda _: True)
