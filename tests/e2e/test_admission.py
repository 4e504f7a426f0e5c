"""The answer at `kubectl apply`: on a real API server, who is told what, and what a change has to wait for."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml

from devcluster import gateway
from devcluster.admission import Admission
from devcluster.api import SERVICES, WEBHOOKS, ApiError, Object, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.conftest import fresh_stage
from tests.e2e.objects import new

WEBHOOK = REPOSITORY / "manifests/admission/webhook.yaml"

RIGHT = {"ingress/http": "true", "ingress/path": "/"}
WRONG = RIGHT | {"ingress/path": "nowhere"}
SAID = 'ingress/path: "nowhere" must start with / [invalid-value]'
"""What is wrong with it, as the Event says."""

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def asked(engine: str) -> Iterator[DevCluster]:
    """Yield a cluster whose API server asks before it writes a Service."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    with DevCluster(engine, admission=True) as running:
        configure(running, patient)
        yield running


@pytest.fixture
def stage(asked: DevCluster) -> Iterator[Stage]:
    """Yield a fresh namespace."""
    with fresh_stage(asked, f"asked-{next(_numbers)}") as fresh:
        yield fresh


def admission_of(cluster: DevCluster) -> Admission:
    """Return the process that is asked."""
    assert cluster.admission is not None
    return cluster.admission


def patient(webhook: Object) -> None:
    """Let the API server wait until there is an answer, however busy this machine is."""
    webhook["timeoutSeconds"] = 30


def configure(cluster: DevCluster, change: Callable[[Object], None]) -> None:
    """Change the webhook, and return when the API server goes by that."""
    found = cluster.api.get(WEBHOOKS, "ingress-manager")
    assert found is not None
    [webhook] = found["webhooks"]
    change(webhook)
    # It takes a moment. From then on, it doesn't ask about what has this label, either.
    label = str(next(_numbers))
    webhook["objectSelector"] = {"matchExpressions": [{"key": "unasked", "operator": "NotIn", "values": [label]}]}
    cluster.api.update(WEBHOOKS, found)
    unasked, path = service("default", WRONG, labels={"unasked": label}), path_of(SERVICES, "default")

    def is_unasked() -> bool:
        try:
            return not cluster.api.warnings("POST", path, params={"dryRun": "All"}, body=unasked)
        except ApiError:  # it is denied
            return False

    wait_for(is_unasked, 30)


def service(namespace: str, annotations: dict[str, str], name: str = "shop", **metadata: Any) -> Object:
    """Return a Service."""
    spec = {"ports": [{"name": "http", "port": 80}]}
    return new(SERVICES, name, namespace, {"annotations": annotations} | metadata, spec=spec)


# Warnings.


def test_whoever_makes_a_mistake_reads_once_what_the_event_says(stage: Stage) -> None:
    path, wrong = path_of(SERVICES, stage.namespace), service(stage.namespace, WRONG)
    for options in ({"dryRun": "All"}, {}):
        assert stage.api.warnings("POST", path, params=options, body=wrong) == (SAID,)
    assert stage.until_event("shop", SAID).endswith(f"422 body: {SAID}")


# Whom the API server asks, and when.


def questions(cluster: DevCluster) -> int:
    """Return how often the API server has asked."""
    counted = re.findall(r"^ingress_manager_admissions_total{.*} (\S+)$", admission_of(cluster).metrics(), re.MULTILINE)
    return int(sum(map(float, counted)))


OTHER = {"example.com/owner": "a"}
BALANCED = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
CHANGES: list[tuple[str, dict[str, str], Object, int]] = [
    ("an annotation", RIGHT, {"metadata": {"annotations": {"ingress/path": "/a"}}}, 1),
    ("an annotation of another entrance", OTHER, {"metadata": {"annotations": {"a.ingress/http": "true"}}}, 1),
    ("an annotation that may be one to copy", RIGHT, {"metadata": {"annotations": OTHER}}, 1),
    ("a port", RIGHT, {"spec": {"ports": [{"name": "http", "port": 81}]}}, 1),
    ("the type", RIGHT, {"spec": {"type": "ClusterIP"}}, 1),
    ("the last annotation goes", {"ingress/http": "true"}, {"metadata": {"annotations": None}}, 0),
    ("the same again", RIGHT, {"metadata": {"annotations": RIGHT}}, 0),
    ("a load balancer's status", RIGHT, BALANCED, 0),
    ("a finalizer", RIGHT, {"metadata": {"finalizers": ["example.com/keep"]}}, 0),
    ("a port of a Service that asks for nothing", OTHER, {"spec": {"ports": [{"port": 81}]}}, 0),
]
"""Changes of a Service with these annotations, and how often the API server asks because of each."""


def test_the_api_server_asks_only_when_what_counts_has_changed(asked: DevCluster, stage: Stage) -> None:
    seen = {}
    for number, (reason, annotations, change, _) in enumerate(CHANGES):
        # A name of its own: of one that was made again, the API server would first try to patch what it remembers.
        name = f"shop-{number}"
        made = service(stage.namespace, annotations, name)
        made["spec"]["type"] = "LoadBalancer"
        stage.api.create(SERVICES, made)
        before, path = questions(asked), path_of(SERVICES, stage.namespace, name)
        stage.api.request("PATCH", path + ("/status" if "status" in change else ""), body=change)
        seen[reason] = questions(asked) - before
        stage.api.patch(SERVICES, name, {"metadata": {"finalizers": None}}, stage.namespace)
    assert seen == {reason: count for reason, _, _, count in CHANGES}


def test_the_api_server_asks_neither_of_other_services_nor_in_its_own_namespaces_nor_before_a_deletion(
    asked: DevCluster, stage: Stage
) -> None:
    before = questions(asked)
    stage.api.create(SERVICES, service(stage.namespace, OTHER | {f"example.com/{number}": "" for number in range(900)}))
    stage.api.delete(SERVICES, "shop", stage.namespace)
    for namespace in ("kube-system", "ingress-manager", "metacontroller"):
        assert not stage.api.warnings("POST", path_of(SERVICES, namespace), body=service(namespace, WRONG))
        stage.api.delete(SERVICES, "shop", namespace)
    assert questions(asked) == before


# Without an answer.


def test_without_an_answer_every_write_goes_through(asked: DevCluster, stage: Stage) -> None:
    admission = admission_of(asked)
    seconds_to_wait = yaml.safe_load(WEBHOOK.read_text())["webhooks"][0]["timeoutSeconds"]
    configure(asked, lambda webhook: webhook.update(timeoutSeconds=seconds_to_wait))

    def went_through() -> int:
        counter = 'apiserver_admission_webhook_fail_open_count{name="services.ingress-manager.internal"'
        lines = asked.kubectl("get", "--raw", "/metrics").splitlines()
        return sum(int(float(line.rpartition(" ")[2])) for line in lines if line.startswith(counter))

    def write(name: str) -> None:
        before = went_through()
        # That it raises nothing is what counts.
        stage.api.create(SERVICES, service(stage.namespace, WRONG, name))
        assert went_through() - before == 1, "the API server counts what it lets through unasked"

    with admission.process.paused():
        write("stopped")
    admission.process.kill()
    write("killed")
    admission.process.start()
    admission.wait_ready(asked.api)
    configure(asked, patient)


# deny.


DENY: Object = {"admission": {"deny": True}}


def annotated(annotations: Mapping[str, str]) -> Object:
    """Return a patch of annotations."""
    return {"metadata": {"annotations": annotations}}


def test_with_deny_a_mistake_is_denied_but_one_from_before_only_if_it_grows_and_the_service_goes_with_its_ingress(
    asked: DevCluster, stage: Stage
) -> None:
    def patch(change: Object) -> None:
        stage.api.patch(SERVICES, "shop", change, stage.namespace)

    stage.api.create(SERVICES, service(stage.namespace, RIGHT))
    stage.until_ingress("shop", "its Ingress", lambda _: True)
    patch(annotated(WRONG))
    asked.settings_file.write_text(yaml.safe_dump(DENY))
    admission_of(asked).process.kill()
    admission_of(asked).process.start()
    admission_of(asked).wait_ready(asked.api)
    with pytest.raises(ApiError, match=re.escape(SAID)):
        stage.api.create(SERVICES, service(stage.namespace, WRONG, "another"))
    with pytest.raises(ApiError, match="ingress/class"):
        patch(annotated({"ingress/class": "Not_A_Class"}))
    patch({"metadata": {"finalizers": ["example.com/keep"]}})
    stage.api.delete(SERVICES, "shop", stage.namespace)
    patch({"metadata": {"finalizers": None}})
    stage.until("no Service", lambda: stage.api.get(SERVICES, "shop", stage.namespace) is None)
    stage.until("no Ingress", lambda: stage.ingress("shop") is None)
