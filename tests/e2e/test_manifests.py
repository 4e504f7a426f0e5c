"""A real API server, with Pod Security admission, takes all that is installed without a word of warning."""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import SERVICES, WEBHOOKS, Object
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.control_plane import ControlPlane
from devcluster.overlay import ADMISSION, CONTROLLER
from tests.docs.test_docs import blocks
from tests.e2e.conftest import nodes
from tests.e2e.objects import DEPLOYMENTS, SECRETS, create
from tests.e2e.people import commands_of, sh
from tests.manifests.objects import FOLDERS, rendered
from tools import dist
from tools.install import replacement


@pytest.fixture(scope="module")
def installed(empty_cluster: ControlPlane) -> ControlPlane:
    """Return an API server to which every folder was applied; a warning would have been an error."""
    empty_cluster.kubectl("apply", "--filename", str(CRD_FILE))
    empty_cluster.kubectl("wait", "--for=condition=established", "--filename", str(CRD_FILE))
    text = yaml.safe_dump_all(item for folder in (*FOLDERS, "metacontroller/listenerset") for item in rendered(folder))
    empty_cluster.kubectl("apply", "--filename=-", "--warnings-as-errors", input=text)
    return empty_cluster


def pods(folder: str) -> Iterator[dict[str, Any]]:
    """Yield a Pod for each Deployment of a folder, as the Deployment's controller would make it."""
    for item in rendered(folder):
        if item["kind"] == "Deployment":
            names = {"name": item["metadata"]["name"], "namespace": item["metadata"]["namespace"]}
            template = item["spec"]["template"]
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": template["metadata"] | names,
                "spec": template["spec"],
            }


def test_all_is_taken_without_a_warning_and_every_pod_is_admitted_where_restricted_is_enforced(
    installed: ControlPlane,
) -> None:
    made = [pod for folder in [*FOLDERS, "manifests/admission"] for pod in pods(folder)]
    assert len(made) == 6
    text = yaml.safe_dump_all(made)
    said = installed.kubectl("create", "--filename=-", "--dry-run=server", "--warnings-as-errors", input=text)
    assert said.count("created (server dry run)") == len(made)


def test_what_was_applied_shows_no_difference(installed: ControlPlane) -> None:
    """So a tool that compares the cluster with Git finds nothing either: nothing has to be ignored."""
    for folder in ("manifests", "manifests/sample", "gateway", "metacontroller/install", "metacontroller/listenerset"):
        assert installed.kubectl("diff", "--kustomize", str(REPOSITORY / folder)) == "", folder


def test_the_components_are_taken_without_a_warning(installed: ControlPlane, tmp_path: Path) -> None:
    base = os.path.relpath(REPOSITORY, tmp_path.resolve())
    options = [f"gateway/{name}" for name in ("gateway-api", "ingress-nginx", "https-redirect")]
    options += ["manifests/admission", "manifests/openshift"]
    kustomization = {
        "resources": [f"{base}/{folder}" for folder in FOLDERS],
        "components": [f"{base}/{folder}" for folder in options],
    }
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    installed.kubectl("apply", "--kustomize", str(tmp_path), "--dry-run=server", "--warnings-as-errors")


def test_the_file_of_a_release_installs_the_hook_alone_first_and_then_the_rest(
    installed: ControlPlane, tmp_path: Path
) -> None:
    image = "registry.example.com/ingress-manager:1.2.3"
    path = tmp_path / "install.yaml"
    path.write_text(dist.manifests(dist.MANIFESTS["install.yaml"], [replacement(image)], tmp_path))
    options = ("--warnings-as-errors", "--dry-run=server", "--output=name", "--filename", str(path))
    hook = installed.kubectl("apply", *options, "--selector=app.kubernetes.io/component=hook").split()
    assert len(hook) == len(rendered("manifests"))
    everything = installed.kubectl("apply", *options).split()
    assert everything[: len(hook)] == hook
    assert len(everything) == len(hook) + len(rendered("metacontroller/controller"))


# What docs/upgrade.md and the README tell people to run.


def test_the_commands_of_an_upgrade_can_be_run_in_their_order(installed: ControlPlane, tmp_path: Path) -> None:
    file = tmp_path / "install.yaml"
    file.write_text(dist.manifests(dist.MANIFESTS["install.yaml"], [], tmp_path))
    ran = []
    with nodes(installed.api):
        for command in dict.fromkeys(commands_of("docs/upgrade.md")):
            if not command.startswith("ingress-manager audit"):  # other tests run audit
                sh(installed, command.replace("dist/install.yaml", str(file)))
                ran.append(command.split()[1])
    assert ran == ["apply", "rollout", "apply", "apply", "rollout", "apply", "apply"]


def test_the_commands_of_kubectl_install_what_they_are_for(installed: ControlPlane) -> None:
    commands = [line for line in commands_of("README.md") if line.startswith("kubectl ")]
    assert len(commands) == 2
    for command in commands:
        sh(installed, command)
    for kind, namespace, name in (
        ("service", "sample", "hello"),
        ("deployment", "ingress-manager-gateway", "ingress-manager-gateway"),
        ("deployment", "ingress-manager-gateway", "not-found"),
    ):
        assert name in installed.kubectl("get", kind, "--namespace", namespace, name)


def test_the_commands_of_the_page_on_admission_install_renew_and_remove_it(
    empty_cluster: ControlPlane, tmp_path: Path
) -> None:
    def run(command: str) -> str:
        return sh(empty_cluster, command, folder=tmp_path).stdout

    def stored() -> tuple[bytes, bytes]:
        """Return the certificate of the Secret, and the authority by which the API server knows it."""
        secret = empty_cluster.api.get(SECRETS, f"{ADMISSION}-tls", CONTROLLER)
        webhook = empty_cluster.api.get(WEBHOOKS, CONTROLLER)
        assert secret is not None
        assert webhook is not None
        bundle = webhook["webhooks"][0]["clientConfig"]["caBundle"]
        return base64.b64decode(secret["data"]["tls.crt"]), base64.b64decode(bundle)

    (tmp_path / "manifests").symlink_to(REPOSITORY / "manifests")
    (tmp_path / "my-hook").mkdir()
    kustomization = yaml.safe_load(blocks("admission.md", "yaml")[0])
    kustomization["components"].remove("../manifests/admission/cert-manager")
    (tmp_path / "my-hook/kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    run("kubectl apply --filename manifests/namespace.yaml")
    authority, certificate, secret, apply, bundle, outage, renew, *remove = commands_of("docs/admission.md")

    for command in (authority, certificate, secret, apply, bundle):
        run(command)
    first, known_by = stored()
    (tmp_path / "known-by.crt").write_bytes(known_by)
    verify = f"openssl verify -CAfile known-by.crt -verify_hostname {ADMISSION}.{CONTROLLER}.svc tls.crt"
    assert run(verify) == "tls.crt: OK\n"
    deployment = empty_cluster.api.get(DEPLOYMENTS, ADMISSION, CONTROLLER)
    assert deployment is not None
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.com/ingress-manager:0.1.0"

    # Nobody answers here, so the API server goes on without an answer.
    annotated: Object = {"annotations": {"ingress/hots": "shop.example.com"}}
    create(empty_cluster.api, SERVICES, "unanswered", "default", annotated, spec={"ports": [{"port": 80}]})
    empty_cluster.api.delete(SERVICES, "unanswered", "default")
    assert f'name="services.{CONTROLLER}.internal"' in run(outage)

    for command in (certificate, renew, apply):
        run(command)
    assert stored()[0] != first
    assert stored()[1] == known_by, "no other authority is needed, and an apply keeps the one that is stated"
    assert run(verify) == "tls.crt: OK\n"

    for command in remove:
        run(command)
    assert empty_cluster.api.get(WEBHOOKS, CONTROLLER) is None
    left = run(f"kubectl get all,secrets,networkpolicies,poddisruptionbudgets --namespace {CONTROLLER} --output name")
    assert [line for line in left.splitlines() if "admission" in line] == []
