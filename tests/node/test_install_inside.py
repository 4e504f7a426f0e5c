"""All that can be installed, on one node: each container is as its manifest says, and each part is reached by its Pods.

NetworkPolicies are stored on such a node and not enforced, so no test here tells what they keep away.
"""

import errno
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from devcluster import gateway_api, manifests
from devcluster.api import HTTPROUTES, INGRESSES, Object, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import install_crds
from devcluster.node.node import Node
from tests.docs.test_docs import blocks
from tests.e2e.objects import PODS
from tests.e2e.shell import commands_of
from tests.e2e.test_install import everything, until_only
from tests.manifests.monitoring import crds, scraped
from tests.node.site import SHOP, Site, delete

HOST = "shop.example.com"
NAMESPACES = ("ingress-manager", "ingress-manager-gateway", "metacontroller")
GATEWAY = "{name: ingress-manager, namespace: ingress-manager-gateway, https: null}"


@pytest.fixture(scope="module")
def site(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield a node with ingress-manager for HTTPRoutes, its webhook, its gateway, and what monitors it; and a shop."""
    before = everything(node.control_plane)
    site = Site(node, tmp_path_factory.mktemp("site"))
    settings = site.folder / "manifests/settings.yaml"
    stated = settings.read_text(encoding="utf-8").replace("\n  outputs: [ingress]\n", "\n  outputs: [httproute]\n")
    settings.write_text(stated.replace("\n  gateway: null\n", f"\n  gateway: {GATEWAY}\n"), encoding="utf-8")
    site.kustomize("my-admission", ["../manifests"], ["../manifests/admission"])
    site.kustomize("my-routes", ["../gateway"], ["../tests/node/node-port", "../gateway/gateway-api"])
    definitions = [*gateway_api.crds(print), *crds()]
    install_crds(node.api, definitions)

    site.run("kubectl apply --filename manifests/namespace.yaml")
    authority, certificate, secret, apply, bundle, *_ = commands_of("docs/admission.md")
    for command in (authority, certificate, secret, apply.replace("my-hook", "my-admission"), bundle):
        site.run(command)
    node.kubectl("apply", f"--filename={SHOP}")
    site.run("kubectl apply -k my-routes/")
    site.run("kubectl apply -k monitoring/")
    until_rolled_out(node, "ingress-manager")
    site.run(blocks("helm.md", "sh")[0])
    site.run("kubectl apply -k metacontroller/httproute/")
    for namespace in (*NAMESPACES, "team-a"):
        until_rolled_out(node, namespace)
    yield site
    node.kubectl("delete", f"--filename={SHOP}")
    delete(site)
    site.run("kubectl delete -k my-routes/")
    node.kubectl("delete", "crd", *(definition["metadata"]["name"] for definition in definitions))
    until_only(node.control_plane, before)


def until_rolled_out(node: Node, namespace: str) -> None:
    """Return once all Deployments of a namespace are available."""
    node.kubectl("rollout", "status", "deployment", f"--namespace={namespace}", "--timeout=2m")


def pods_of(node: Node, namespace: str) -> list[Object]:
    """Return the Pods of a namespace that aren't about to end."""
    return [pod for pod in node.api.list(PODS, namespace) if "deletionTimestamp" not in pod["metadata"]]


def control_groups(node: Node, pod: Object) -> dict[str, Path]:
    """Return the control groups of a Pod's container, by the name of the kind where this machine has one for each."""
    [status] = pod["status"]["containerStatuses"]
    name = status["containerID"].removeprefix("containerd://")
    below = f"ingress-manager-node{node.number}/kubepods/{pod['status']['qosClass'].lower()}"
    mounted = Path("/sys/fs/cgroup")
    found = {root.name: root / below / f"pod{pod['metadata']['uid']}" / name for root in (mounted, *mounted.glob("*/"))}
    return {kind: path for kind, path in found.items() if path.exists()}


def processes_of(groups: dict[str, Path]) -> list[Path]:
    """Return where Linux tells of each process of a container."""
    listed = (groups.get("memory") or groups["cgroup"]) / "cgroup.procs"
    return [Path("/proc") / pid for pid in listed.read_text().split()]


def limits_of(groups: dict[str, Path]) -> tuple[str, str]:
    """Return how much memory a container may use, and how much of the CPU, as Linux has it."""
    if memory := groups.get("memory"):
        quota = int((groups["cpu"] / "cpu.cfs_quota_us").read_text())
        return (memory / "memory.limit_in_bytes").read_text().strip(), "max" if quota < 0 else str(quota)
    [group] = groups.values()
    return (group / "memory.max").read_text().strip(), (group / "cpu.max").read_text().split()[0]


def stated_limits(container: Object) -> tuple[str, str]:
    """Return the same as a manifest has it; none of ours limits the CPU."""
    limits = container["resources"]["limits"]
    assert limits.keys() == {"memory"}
    return str(int(limits["memory"].removesuffix("Mi")) * 1024 * 1024), "max"


def deployments() -> list[Object]:
    """Return those that are installed here."""
    found = [
        item
        for folder in ("manifests", "metacontroller", "gateway")
        for item in manifests.rendered(folder)
        if item["kind"] == "Deployment"
    ]
    admission = yaml.safe_load((REPOSITORY / "manifests/admission/deployment.yaml").read_text(encoding="utf-8"))
    admission["metadata"]["namespace"] = "ingress-manager"
    return [*found, admission]


def pods_by_deployment(node: Node) -> Iterator[tuple[Object, Object]]:
    """Yield each Pod with what its Deployment says of its container."""
    for deployment in deployments():
        labels = deployment["spec"]["selector"]["matchLabels"]
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        pods = pods_of(node, deployment["metadata"]["namespace"])
        of_this = [pod for pod in pods if labels.items() <= pod["metadata"]["labels"].items()]
        assert len(of_this) == deployment["spec"]["replicas"]
        yield from ((pod, container) for pod in of_this)


def test_every_process_has_no_rights_and_no_file_to_write_and_every_container_its_limits(site: Site) -> None:
    with_token = set()
    for pod, container in pods_by_deployment(site.node):
        groups = control_groups(site.node, pod)
        assert limits_of(groups) == stated_limits(container)
        processes = processes_of(groups)
        assert processes
        for process in processes:
            lines = (line.partition(":\t") for line in (process / "status").read_text().splitlines())
            status = {name: value.split() for name, _, value in lines}
            assert status["Uid"] == status["Gid"] == ["65532"] * 4
            assert {int(status[f"Cap{each}"][0], 16) for each in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {0}
            assert status["NoNewPrivs"] == ["1"]
            assert status["Seccomp"] == ["2"], "a filter, which RuntimeDefault asks for"
            for folder in ("", "tmp", "opt"):
                place = process / "root" / folder
                if place.is_dir():
                    with pytest.raises(OSError, match="Read-only") as refused:
                        (place / "written").touch()
                    assert refused.value.errno == errno.EROFS
            if (process / "root/var/run/secrets/kubernetes.io/serviceaccount").exists():
                with_token.add(pod["metadata"]["labels"]["app.kubernetes.io/name"])
    assert with_token == {"metacontroller", "ingress-manager-gateway"}


def test_each_probe_of_the_manifests_succeeds_and_the_kubelet_makes_no_other(site: Site) -> None:
    stated = {
        pod["metadata"]["name"]: {kind for kind in ("startup", "readiness", "liveness") if f"{kind}Probe" in container}
        for pod, container in pods_by_deployment(site.node)
    }

    def succeeded() -> dict[str, set[str]]:
        text = site.node.kubectl("get", "--raw", "/api/v1/nodes/node/proxy/metrics/probes")
        found: dict[str, set[str]] = defaultdict(set)
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if sample.name == "prober_probe_total" and sample.labels["result"] == "successful":
                    found[sample.labels["pod"]].add(sample.labels["probe_type"].lower())
        return {name: found[name] for name in stated}

    wait_for(lambda: succeeded() == stated, 60, what=f"each probe to succeed: {stated}", interval=1)


FOUND = """
import re, shutil
from importlib.metadata import distributions
print(*[f"{re.sub('[-_.]+', '-', each.name).lower()}=={each.version}" for each in distributions()])
print(*[name for name in ("pip", "gcc", "cc", "make") if shutil.which(name)])
"""


def test_the_hook_has_the_packages_that_are_pinned_and_nothing_that_installs_or_compiles(site: Site) -> None:
    where = ("exec", "deployment/ingress-manager", "--namespace=ingress-manager", "--", "python", "-c", FOUND)
    packages, programs = site.node.kubectl(*where).splitlines()
    pinned = re.findall(r"^[\w.-]+==[\w.]+", (REPOSITORY / "requirements.txt").read_text(), re.MULTILINE)
    assert sorted(packages.split()) == sorted(pinned)
    assert programs == ""


ASK = """
import ssl, sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1], context=ssl._create_unverified_context(), timeout=10)
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""
"""What asks the API server inside of the hook's container, where there is no curl."""


def test_the_hook_is_nobody_to_the_api_server(site: Site) -> None:
    where = ("exec", "deployment/ingress-manager", "--namespace=ingress-manager", "--", "python", "-c", ASK)
    answer = site.node.kubectl(*where, f"{site.node.control_plane.url}/api/v1/services")
    assert answer.startswith("403 ")
    assert "system:anonymous" in answer


def test_an_annotated_service_has_an_httproute_by_which_it_is_served(site: Site) -> None:
    site.run(f"kubectl annotate service shop --namespace team-a ingress/http=true ingress/host={HOST}")
    assert "ingress-manager/" in site.until_answered(HOST, 200).text
    assert site.node.api.get(HTTPROUTES, "shop", "team-a") is not None
    assert site.node.api.get(INGRESSES, "shop", "team-a") is None
    checked = site.run("ingress-manager check").stdout
    assert "\nAll is well: " in checked, checked
    site.run("kubectl annotate service shop --namespace team-a ingress/http- ingress/host-")
    assert "404: There is no page here" in site.until_answered(HOST, 404).text


def test_a_mistake_is_told_by_kubectl_when_the_api_server_has_asked_the_webhooks_pods(site: Site) -> None:
    command = "kubectl annotate service shop --namespace team-a"
    told = site.run(f"{command} ingress/http=true ingress/hots={HOST}").stderr
    assert told.startswith("Warning: ingress/hots is not an annotation of ingress-manager; did you mean ingress/host?")
    assert site.run(f"{command} ingress/http- ingress/hots-").stderr == ""


def test_every_pod_that_prometheus_scrapes_answers_with_its_metrics(site: Site) -> None:
    pods = [pod for namespace in NAMESPACES for pod in pods_of(site.node, namespace)]
    for each in scraped():
        of_this = [pod for pod in pods if pod["metadata"]["labels"].get("app.kubernetes.io/name") == each.job]
        assert len(of_this) == 2
        for pod in of_this:
            # Pods have addresses on the node alone, where the API server is, too.
            at = f"{pod['metadata']['namespace']}/pods/{each.scheme}:{pod['metadata']['name']}:{each.port}"
            text = site.node.kubectl("get", f"--raw=/api/v1/namespaces/{at}/proxy{each.path}")
            assert [*text_string_to_metric_families(text)], at
