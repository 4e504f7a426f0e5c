"""A real API server accepts all objects that the hook can return, and all manifests.

It validates strictly and enforces Pod Security admission; not even a warning is allowed.
"""

from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from devcluster.api import NAMESPACES, SERVICES, Api, path_of
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE, DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.overlay import ADMISSION, CONTROLLER, Overlay
from devcluster.sync_requests import Object, service
from ingress_manager.core.annotations import HTTP, KEYS, PROFILE, TLS
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import parse
from tests.core import made_up
from tests.core.test_cases import CASES
from tests.core.test_properties import desired_for
from tests.docs.test_docs import blocks
from tests.e2e import objects
from tests.e2e.conftest import nodes
from tests.e2e.objects import RESOURCES, create
from tests.e2e.people import commands_of, sh
from tests.manifests.objects import FOLDERS, rendered
from tools import dist

GOLDEN = [pytest.param(made, id=f"{case.name}-{number}") for case in CASES for number, made in enumerate(case.objects)]


def accepted(api: Api, sent: Object) -> Object:
    """Return an object as the API server would store it. Raises ApiError if it is rejected."""
    namespace = sent["metadata"]["namespace"]
    if api.get(NAMESPACES, namespace) is None:
        create(api, NAMESPACES, namespace)
    return api.request("POST", path_of(RESOURCES[sent["kind"]], namespace), params={"dryRun": "All"}, body=sent)


@pytest.mark.parametrize("sent", GOLDEN)
def test_a_golden_object_comes_back_as_it_was_sent(sent: Object, empty_cluster: ControlPlane) -> None:
    stored = accepted(empty_cluster.api, sent)
    assert stored["spec"] == sent["spec"], "no default is added: it would look like drift"
    assert {key: stored["metadata"][key] for key in sent["metadata"]} == sent["metadata"]


@given(made_up.valid_services() | made_up.WITH_ENTRANCES, made_up.settings())
def test_random_objects_are_accepted(empty_cluster: ControlPlane, parent: Object, settings: Settings) -> None:
    for made in desired_for(parent, settings) or desired_for(parent, Settings()):
        accepted(empty_cluster.api, made)


FULL = """
defaults: {outputs: [ingress, httproute], gateway: {name: web, namespace: infrastructure}}
limits: {pathTypes: [Prefix, Exact, ImplementationSpecific]}
profiles:
  full:
    outputs: [ingress, httproute]
    annotations: {}
    filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: login}}]
    timeouts: {request: 60s, backendRequest: 30s}
    retry: {attempts: 3, codes: [502, 503], backoff: 100ms}
"""
"""Settings with a profile that uses every profile field for the rules of an HTTPRoute."""


@pytest.mark.gate
@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
def test_an_annotation_beside_a_full_profile_is_accepted(key: str, data: st.DataObject, serving: DevCluster) -> None:
    right = made_up.WORDS[key] if key != PROFILE else st.just("full")
    made = desired_for(service({HTTP: "true", TLS: "true", PROFILE: "full", key: data.draw(right)}), parse(FULL))
    assume(made)
    for each in made:  # without the label, which only ingress-manager may set
        accepted(serving.api, each | {"metadata": {"name": each["metadata"]["name"], "namespace": "both"}})


COMPONENTS = ["gateway/gateway-api", "gateway/https-redirect", "manifests/admission", "manifests/openshift"]


@pytest.fixture(scope="module")
def installed(empty_cluster: ControlPlane) -> ControlPlane:
    """Apply every folder to an API server, with warnings as errors."""
    empty_cluster.kubectl("apply", "--filename", str(CRD_FILE))
    empty_cluster.kubectl("wait", "--for=condition=established", "--filename", str(CRD_FILE))
    text = yaml.safe_dump_all(item for folder in (*FOLDERS, "metacontroller/listenerset") for item in rendered(folder))
    empty_cluster.kubectl("apply", "--filename=-", "--warnings-as-errors", input=text)
    return empty_cluster


def test_all_components_pass_pod_security_restricted(installed: ControlPlane) -> None:
    # No Pods are created here, but the API server warns about Deployments whose Pods it would deny.
    installed.kubectl("label", "namespaces", "--all", "--overwrite", "pod-security.kubernetes.io/warn=restricted")
    text = Overlay([*FOLDERS], COMPONENTS).render().text
    said = installed.kubectl("apply", "--filename=-", "--dry-run=server", "--warnings-as-errors", input=text)
    assert said.count("deployment.apps/") == 6


def test_what_was_applied_shows_no_difference(installed: ControlPlane) -> None:
    """So tools that compare a cluster with Git need no exceptions."""
    for folder in ("manifests", "manifests/sample", "gateway", "metacontroller/install", "metacontroller/listenerset"):
        assert installed.kubectl("diff", "--kustomize", str(REPOSITORY / folder)) == "", folder


def test_the_commands_of_the_readme_and_of_an_upgrade_run(installed: ControlPlane, tmp_path: Path) -> None:
    """A release's install.yaml is first applied for the hook alone, and then completely."""
    file = tmp_path / "install.yaml"
    file.write_text(dist.manifests(dist.MANIFESTS["install.yaml"], []))
    lines = [line for line in commands_of("README.md") + commands_of("docs/upgrade.md") if line.startswith("kubectl ")]
    with nodes(installed.api):
        printed = [sh(installed, each.replace("dist/install.yaml", str(file))).stdout for each in lines]
    hook, _, everything = ([line.split()[0] for line in text.splitlines()] for text in printed[-3:])
    assert len(hook) == len(rendered("manifests"))
    assert everything[: len(hook)] == hook
    assert len(everything) == len(hook) + len(rendered("metacontroller/controller"))


def test_the_page_on_admission_installs_renews_and_removes_it(empty_cluster: ControlPlane, tmp_path: Path) -> None:
    def run(*commands: str) -> str:
        return sh(empty_cluster, "\n".join(commands), folder=tmp_path).stdout

    (tmp_path / "manifests").symlink_to(REPOSITORY / "manifests")
    (tmp_path / "my-hook").mkdir()
    kustomization = yaml.safe_load(blocks("admission.md", "yaml")[0])
    kustomization["components"].remove("../manifests/admission/cert-manager")
    (tmp_path / "my-hook/kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    authority, certificate, secret, apply, bundle, outage, renew, *remove = commands_of("docs/admission.md")
    get = f"kubectl get --namespace {CONTROLLER} --ignore-not-found --output"
    webhook = f"validatingwebhookconfiguration {CONTROLLER}"
    verify = (
        f"{get} 'jsonpath={{.data.tls\\.crt}}' secret {ADMISSION}-tls | base64 -d > served.crt",
        f"{get} 'jsonpath={{.webhooks[0].clientConfig.caBundle}}' {webhook} | base64 -d > known.crt",
        "cmp known.crt ca.crt",
        f"openssl verify -CAfile known.crt -verify_hostname {ADMISSION}.{CONTROLLER}.svc served.crt",
        "cat served.crt",
    )

    run("kubectl apply --filename manifests/namespace.yaml", authority, certificate, secret, apply, bundle)
    first = run(*verify)
    assert first.startswith("served.crt: OK\n")

    # No webhook answers here, so the API server proceeds without one.
    empty_cluster.api.create(SERVICES, objects.service("default", "unanswered", annotations={"ingress/http": "yes"}))
    empty_cluster.api.delete(SERVICES, "unanswered", "default")
    assert f'name="services.{CONTROLLER}.internal"' in run(outage)

    run(certificate, renew, apply)
    second = run(*verify)
    assert second.startswith("served.crt: OK\n")
    assert second != first
    run(*remove)
    left = run(f"{get} name {webhook}", f"{get} name all,secrets,networkpolicies,poddisruptionbudgets")
    assert [line for line in left.splitlines() if "admission" in line] == []
