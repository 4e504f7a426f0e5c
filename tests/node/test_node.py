"""Each installation method on a node: install, use, change and remove. Every Pod meets the level `restricted`."""

import os
import random
import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import yaml

from devcluster import build
from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICES, new_session, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.errors import MissingProgram
from devcluster.node import ADDRESS, PAUSE, Node, require
from devcluster.processes import run
from devcluster.programs import find_metacontroller, find_traefik
from tests.docs.test_docs import blocks
from tests.e2e.objects import ON, PODS, create, service
from tests.e2e.people import Ended, checkout, environment_of, meanwhile, sh
from tests.e2e.test_install import everything, until_only
from tests.manifests.objects import container
from tools.install import replacement

HOOK = "localhost/ingress-manager:tested"
HOST = "shop.example.com"
SHOP = Path(__file__).with_name("shop.yaml")
"""The manifest of a tenant's namespace with a Service and its Pod."""


def archives(folder: Path) -> list[Path]:
    """Write archives of the images that a node needs, like `docker save`, so that no registry is needed.

    Buildah builds the hook's image from the Dockerfile, with $BUILD_OPTIONS. The others have the names in the
    manifests, and contain one program of this machine each. Raises MissingProgram if a program is neither here nor
    obtainable, and DevClusterError for other failures.
    """
    metacontroller = find_metacontroller()
    if metacontroller is None:
        raise MissingProgram("A node needs Metacontroller, which no registry has: put `metacontroller` on PATH.")
    programs = {
        PAUSE: (build.get("pause", print), 'ENTRYPOINT ["/usr/bin/pause"]'),
        "localhost/coredns:1": (build.get("coredns", print), 'ENTRYPOINT ["/usr/bin/coredns"]'),
        container("metacontroller", "metacontroller")["image"]: (metacontroller, "USER 65532"),
        container("gateway", "ingress-manager-gateway")["image"]: (find_traefik(), 'ENTRYPOINT ["/usr/bin/traefik"]'),
    }
    hook = folder / "hook.tar"
    options = shlex.split(os.environ.get("BUILD_OPTIONS", ""))
    run("buildah", "build", f"--tag={HOOK}", "--file=Dockerfile", *options, ".", cwd=REPOSITORY)
    run("buildah", "push", HOOK, f"docker-archive:{hook}:{HOOK}")
    return [hook, *(write(folder / f"{number}.tar", name, *of) for number, (name, of) in enumerate(programs.items()))]


def write(archive: Path, name: str, program: Path, configuration: str) -> Path:
    """Write an archive of an image with one program, and return it. Raises CommandFailed."""
    file = archive.with_suffix(".Dockerfile")
    lines = ("FROM scratch", f"COPY --chmod=0755 {program.name} /usr/bin/", configuration, "")
    file.write_text("\n".join(lines), encoding="utf-8")
    # It isn't named here, because another image may have the name.
    image = run("buildah", "build", "--quiet", f"--file={file}", program.parent).strip()
    run("buildah", "push", image, f"docker-archive:{archive}:{name}")
    run("buildah", "rmi", image)
    return archive


class Site:
    """A node, and an administrator's copy of this repository, with the gateway's class in its settings."""

    def __init__(self, node: Node, folder: Path) -> None:
        self.node, self.folder = node, checkout(folder)
        settings = self.folder / "manifests/settings.yaml"
        stated = settings.read_text(encoding="utf-8")
        settings.write_text(stated.replace("\n  class: nginx\n", "\n  class: ingress-manager\n"), encoding="utf-8")
        image = replacement(HOOK)
        content = {"resources": ["../gateway"], "images": [image]}
        (self.folder / "my-gateway").mkdir()
        (self.folder / "my-gateway/kustomization.yaml").write_text(yaml.safe_dump(content))
        named = {"repository": image["newName"], "tag": image["newTag"]}
        values = {"image": named, "settings": {"defaults": {"class": "ingress-manager"}}}
        (self.folder / "my-values.yaml").write_text(yaml.safe_dump(values))

    def run(self, script: str) -> Ended:
        """Run commands with Metacontroller's CRDs already downloaded, and return the result."""
        local = re.sub(r"https://\S*/metacontroller-crds-v1\.yaml", str(CRD_FILE), script)
        plane = self.node.control_plane
        path = f"{build.get('helm', print).parent}:{environment_of(plane)['PATH']}"
        return sh(plane, local, folder=self.folder, environment={"PATH": path, "HOME": str(self.folder.parent)})

    def visit(self, host: str = HOST) -> requests.Response:
        """Return the gateway's response to a visitor, through the node port."""
        service = self.node.api.get(SERVICES, "ingress-manager-gateway", "ingress-manager-gateway") or {}
        with new_session("visitor") as session:
            url = f"http://{ADDRESS}:{service['spec']['ports'][0]['nodePort']}/"
            return session.get(url, headers={"Host": host}, timeout=10)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield a node with a running gateway and a shop; skip, with the reason, if no node can run."""
    try:
        require()
        images = archives(tmp_path_factory.mktemp("images"))
    except MissingProgram as missing:
        pytest.skip(f"NOTHING RAN ON A NODE. {missing}")
    with Node(images, print) as node:
        site = Site(node, tmp_path_factory.mktemp("site"))
        site.run("kubectl apply -k my-gateway/")
        node.control_plane.kubectl("apply", f"--filename={SHOP}")
        for namespace in ("ingress-manager-gateway", "team-a"):
            node.control_plane.kubectl("rollout", "status", "deployment", f"--namespace={namespace}", "--timeout=2m")
        yield site


MAKE = f"make install IMAGE={HOOK} METACONTROLLER_CRDS={CRD_FILE} 2>&1"
HELM = blocks("helm.md", "sh")
INSTALL = {"make": MAKE, "helm": "".join(HELM[:2])}
REMOVE = {"make": "make uninstall INGRESSES=remove YES=1", "helm": "".join(HELM[-2:])}


@pytest.mark.parametrize(("way", "end"), [("make", "make"), ("helm", "helm"), ("make", "helm")])
def test_a_service_is_served_and_an_uninstall_leaves_nothing(site: Site, way: str, end: str) -> None:
    """A user who installed with `make` and removes with Helm lets Helm take over, upgrade and roll back first."""
    node, plane = site.node, site.node.control_plane
    before = everything(plane)
    printed = site.run(INSTALL[way]).stdout
    assert way == "helm" or "\nAll is well: " in printed, printed
    assert "404: There is no page here" in site.visit().text
    site.run(f"kubectl annotate service shop --namespace team-a ingress/http=true ingress/host={HOST}")
    wait_for(lambda: "ingress-manager/" in site.visit().text, 60, what="what the shop's Pod answers")
    assert site.visit("another.example.com").status_code == 404
    namespaces = {pod["metadata"]["namespace"] for pod in node.api.list(PODS)} - {"kube-system"}
    assert namespaces == {"ingress-manager", "ingress-manager-gateway", "metacontroller", "team-a"}
    enforced = "pod-security.kubernetes.io/enforce=restricted"
    assert {*plane.kubectl("get", "ns", "-l", enforced, "-o", "name").split()} >= {f"namespace/{n}" for n in namespaces}
    if way != end:
        site.run("".join(HELM[2:-2]))
        assert "ingress-manager/" in site.visit().text
    elif way == "make":
        no_change_is_lost_by_a_rollout_of_the_hook(site)
    site.run(REMOVE[end])
    wait_for(lambda: site.visit().status_code == 404, 60, what="the end of the shop")
    plane.kubectl("annotate", "service", "shop", "--namespace=team-a", "ingress/http-", "ingress/host-")
    until_only(plane, before)


def no_change_is_lost_by_a_rollout_of_the_hook(site: Site) -> None:
    """Restart the hook while Services change. In the end, each Ingress has the last host, and no error was reported."""
    api, chance = site.node.api, random.Random(1)  # noqa: S311 - no secret
    create(api, NAMESPACES, "churn")
    wanted = {f"s{number}": f"s{number}.example.com" for number in range(100)}
    for name, host in wanted.items():
        api.create(SERVICES, service("churn", name, annotations=ON | {"ingress/host": host}))

    def arrived() -> bool:
        made = {each["metadata"]["name"]: each["spec"]["rules"][0]["host"] for each in api.list(INGRESSES, "churn")}
        return made == wanted

    def change() -> None:
        name = chance.choice([*wanted])
        wanted[name] = f"{name}.v{time.monotonic_ns()}.example.com"
        patch = {"metadata": {"annotations": {"ingress/host": wanted[name]}}}
        api.patch(SERVICES, name, patch, "churn")

    wait_for(arrived, 60, what="100 Ingresses")
    with meanwhile(change, 0.05):
        site.run("kubectl rollout restart deployment ingress-manager --namespace ingress-manager")
        site.run("kubectl rollout status deployment ingress-manager --namespace ingress-manager --timeout=2m")
        time.sleep(5)
    wait_for(arrived, 30, what="the last change")
    assert [each["message"] for each in api.list(EVENTS, "churn") if each["reason"] == "SyncError"] == []
    api.delete(NAMESPACES, "churn")
    wait_for(lambda: api.get(NAMESPACES, "churn") is None, 60, what="the end of the namespace")
