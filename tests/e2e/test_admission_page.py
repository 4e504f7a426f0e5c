"""docs/admission.md: its commands are run as they are written, but for those beside a cluster of `make cluster`."""

import base64
from pathlib import Path

import yaml

from devcluster.api import SERVICES, WEBHOOKS, Api
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from devcluster.overlay import ADMISSION, CONTROLLER
from tests.docs.test_docs import blocks
from tests.e2e.objects import DEPLOYMENTS, SECRETS, create
from tests.e2e.shell import commands_of, sh

PAGE = "docs/admission.md"


def expose(api: Api, name: str, annotations: dict[str, str]) -> None:
    """Create a Service."""
    create(api, SERVICES, name, "default", {"annotations": annotations}, spec={"ports": [{"port": 80}]})


def test_the_commands_of_the_page_install_renew_and_remove_it(empty_cluster: ControlPlane, tmp_path: Path) -> None:
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
    authority, certificate, secret, apply, bundle, outage, renew, *remove = commands_of(PAGE)

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
    expose(empty_cluster.api, "unanswered", {"ingress/hots": "shop.example.com"})
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
