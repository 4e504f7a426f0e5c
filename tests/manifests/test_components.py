"""What the manifests can be made into: the components, and the kustomizations that the docs show."""

import copy
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.manifests import FOLDERS, built, find, rendered
from devcluster.sync_requests import body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.policy import Policy
from tools import markdown

Object = dict[str, Any]

CRDS = "https://raw.githubusercontent.com/metacontroller/metacontroller/v4.17.2/manifests/production/"
"""Where Metacontroller's own CRDs are. The tests don't reach it: they have CRDs of the same kinds."""


def shown(page: str, kind: str) -> list[Object]:
    """Return the objects of a kind in the YAML that a page shows."""
    fences = markdown.fences((REPOSITORY / page).read_text(encoding="utf-8"))
    found = [item for fence in fences if fence.info == "yaml" for item in yaml.safe_load_all(fence.text)]
    return [item for item in found if item.get("kind") == kind]


def kustomizations(page: str) -> list[Object]:
    """Return the kustomizations that a page shows."""
    return [item for item in shown(page, "Kustomization") if item["apiVersion"].startswith("kustomize.config.k8s.io/")]


@pytest.fixture
def build(tmp_path: Path) -> Callable[[Object], list[Object]]:
    """Return a function that builds a kustomization as if it were in a folder beside those of this repository."""

    def build_one(kustomization: Object) -> list[Object]:
        own = tmp_path / "own"
        own.mkdir(exist_ok=True)
        (own / "crds.yaml").write_text(CRD_FILE.read_text(encoding="utf-8"), encoding="utf-8")
        repository = os.path.relpath(REPOSITORY, own.resolve())
        text = yaml.safe_dump(kustomization).replace(f"{CRDS}metacontroller-crds-v1.yaml", "crds.yaml")
        text = re.sub(r"\.\./(?:(?:\.\./)?ingress-manager/)?(?=[a-z])", f"{repository}/", text)
        (own / "kustomization.yaml").write_text(text, encoding="utf-8")
        return built(own)

    return build_one


def one(objects: list[Object], kind: str, name: str | None = None) -> Object:
    """Return the only object of a kind, and of a name if one is given."""
    [found] = [item for item in objects if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    return found


def changed(before: list[Object], after: list[Object]) -> dict[tuple[str, str], Object]:
    """Return what is different in `after`: each object by kind and name. They have the same names."""

    def named(objects: list[Object]) -> dict[tuple[str, str], Object]:
        return {(item["kind"], item["metadata"]["name"]): item for item in objects}

    old, new = named(before), named(after)
    assert old.keys() == new.keys()
    return {key: item for key, item in new.items() if item != old[key]}


# What holds for all of them.


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_image_names_its_registry_and_its_version(folder: str) -> None:
    """CRI-O has no default registry."""
    deployments = [item for item in rendered(folder) if item["kind"] == "Deployment"]
    for deployment in deployments:
        for container in deployment["spec"]["template"]["spec"]["containers"]:
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+/[a-z0-9./-]+:v?\d+\.\d+\.\d+", container["image"])


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pod_runs_on_linux(folder: str) -> None:
    for deployment in [item for item in rendered(folder) if item["kind"] == "Deployment"]:
        assert deployment["spec"]["template"]["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_listens_on_ipv4_alone_or_asks_for_a_family(folder: str) -> None:
    text = yaml.safe_dump_all(rendered(folder))
    assert not re.search(r"\b\d+\.\d+\.\d+\.\d+\b|ipFamil|IPv4", text)


METACONTROLLERS_OWN = {
    ("Namespace", "metacontroller"),
    ("ServiceAccount", "metacontroller"),
    ("ClusterRole", "metacontroller"),
    ("ClusterRole", "aggregate-metacontroller-edit"),
    ("ClusterRole", "aggregate-metacontroller-view"),
    ("ClusterRoleBinding", "metacontroller"),
    ("StatefulSet", "metacontroller"),
}
"""The objects of manifests/production/ of Metacontroller 4.17.2, without its CRDs."""


def test_metacontrollers_install_shares_two_names_with_metacontrollers_own_and_no_rights() -> None:
    ours = {(item["kind"], item["metadata"]["name"]) for item in rendered("metacontroller")}
    assert ours & METACONTROLLERS_OWN == {("Namespace", "metacontroller"), ("ServiceAccount", "metacontroller")}


# The component for OpenShift.


def test_on_openshift_the_cluster_chooses_the_users_and_an_owner_may_be_named(
    build: Callable[[Object], list[Object]],
) -> None:
    folders = [f"../{folder}" for folder in FOLDERS]
    before = build({"resources": folders})
    after = build({"resources": folders, "components": ["../manifests/openshift"]})
    expected = copy.deepcopy(before)
    for item in expected:
        if item["kind"] == "Deployment":
            security = item["spec"]["template"]["spec"]["securityContext"]
            security.pop("runAsUser", None)
            security.pop("runAsGroup", None)
    right = {"apiGroups": [""], "resources": ["services/finalizers"], "verbs": ["update"]}
    one(expected, "ClusterRole", "ingress-manager")["rules"].append(right)
    assert after == expected
    assert changed(before, after).keys() == {
        ("ClusterRole", "ingress-manager"),
        ("Deployment", "hello"),
        ("Deployment", "ingress-manager-gateway"),
        ("Deployment", "metacontroller"),
    }


# The kustomizations of metacontroller/README.md.


@pytest.fixture
def readme() -> list[Object]:
    """Return the kustomizations of metacontroller/README.md: Helm's, another place, another namespace, OpenShift."""
    found = kustomizations("metacontroller/README.md")
    assert len(found) == 4
    return found


def test_the_component_for_helm_gives_the_rights_to_the_charts_serviceaccount(
    readme: list[Object], build: Callable[[Object], list[Object]]
) -> None:
    differs = changed(rendered("metacontroller/controller"), build(readme[0]))
    binding = differs.pop(("ClusterRoleBinding", "ingress-manager"))
    assert not differs
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "metacontroller-metacontroller-helm", "namespace": "metacontroller"}
    ]


def test_a_metacontroller_somewhere_else_gets_the_rights_and_may_call_the_hook(
    readme: list[Object], build: Callable[[Object], list[Object]]
) -> None:
    before = [*rendered("manifests"), *rendered("metacontroller/controller")]
    differs = changed(before, build(readme[1]))
    [subject] = differs.pop(("ClusterRoleBinding", "ingress-manager"))["subjects"]
    [peer] = differs.pop(("NetworkPolicy", "ingress-manager"))["spec"]["ingress"][0]["from"]
    assert not differs
    assert subject == {
        "kind": "ServiceAccount",
        "name": "my-release-metacontroller-helm",
        "namespace": "operators",
    }
    assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": subject["namespace"]}}


@pytest.mark.parametrize("controller", ["controller", pytest.param("httproute", marks=pytest.mark.thorough)])
def test_one_line_moves_the_hook_to_another_namespace_and_the_controller_calls_it_there(
    controller: str, readme: list[Object], build: Callable[[Object], list[Object]]
) -> None:
    assert readme[2]["namespace"] == "platform"
    moved = yaml.safe_load(yaml.safe_dump(readme[2]).replace("/controller", f"/{controller}"))
    before = [*rendered("manifests"), *rendered(f"metacontroller/{controller}")]
    expected = yaml.safe_load(yaml.safe_dump(before).replace("namespace: ingress-manager\n", "namespace: platform\n"))
    one(expected, "Namespace")["metadata"]["name"] = "platform"
    assert sorted(build(moved), key=str) == sorted(expected, key=str)
    assert (
        one(expected, "DecoratorController")["spec"]["hooks"]["sync"]["webhook"]["service"]["namespace"] == "platform"
    )


def test_the_kustomization_for_openshift_is_one_that_was_built_above(readme: list[Object]) -> None:
    assert {folder.removeprefix("../") for folder in readme[3]["resources"]} <= set(FOLDERS)
    assert readme[3]["components"] == ["../manifests/openshift"]


# docs/gitops.md.


def test_argo_cd_applies_the_decoratorcontroller_alone_in_a_later_wave(
    build: Callable[[Object], list[Object]],
) -> None:
    [kustomization, _] = kustomizations("docs/gitops.md")
    wave = "argocd.argoproj.io/sync-wave"
    objects = build(kustomization)
    waves = {(item["kind"], item["metadata"].get("annotations", {}).get(wave)) for item in objects}
    assert {kind for kind, stated in waves if stated is not None} == {"DecoratorController"}
    assert ("DecoratorController", "1") in waves
    kinds = {item["kind"] for item in [*rendered("manifests"), *rendered("metacontroller")]}
    assert {kind for kind, _ in waves} == kinds | {"CustomResourceDefinition"}
    image = one(objects, "Deployment", "ingress-manager")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("registry.example.com/ingress-manager:")


def test_flux_applies_the_same_objects_and_the_decoratorcontroller_last(
    build: Callable[[Object], list[Object]],
) -> None:
    argo, own = kustomizations("docs/gitops.md")
    flux = [item for item in shown("docs/gitops.md", "Kustomization") if item not in (argo, own)]
    paths = {item["metadata"]["name"]: item["spec"]["path"].removeprefix("./") for item in flux}
    [last] = [item for item in flux if "dependsOn" in item["spec"]]
    assert [name["name"] for name in last["spec"]["dependsOn"]] == [item["metadata"]["name"] for item in flux[:-1]]
    assert all(item["spec"].get("wait") for item in flux[:-1])
    assert paths.pop("metacontroller") == "platform/metacontroller"
    ours = [item for path in paths.values() for item in rendered(path.removeprefix("ingress-manager/"))]
    names = {(item["kind"], item["metadata"]["name"]) for item in [*ours, *build(own)]}
    assert names == {(item["kind"], item["metadata"]["name"]) for item in build(argo)}
    assert "DecoratorController" in {item["kind"] for item in rendered("metacontroller/controller")}


def test_what_argo_cd_and_flux_know_their_objects_by_doesnt_get_from_a_service_to_its_ingress() -> None:
    theirs = {
        "labels": {
            "app.kubernetes.io/instance": "shop",
            "kustomize.toolkit.fluxcd.io/name": "shop",
            "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
        },
        "annotations": {
            "argocd.argoproj.io/tracking-id": "shop:/Service:team-a/shop",
            "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
    }
    plain = service({"ingress/http": "true"})
    managed = copy.deepcopy(plain)
    managed["metadata"]["labels"] = theirs["labels"]
    managed["metadata"]["annotations"] |= theirs["annotations"]
    made = [answer(body(sync_request(parent)), Policy()) for parent in (plain, managed)]
    assert made[0].status == 200
    assert made[0] == made[1]


# docs/sizing.md.

SIZING = "docs/sizing.md"
UNITS = {"Mi": 2**20, "Gi": 2**30}


def bytes_of(quantity: str) -> int:
    """Return the number of bytes that a quantity such as 512 Mi is."""
    found = re.match(r"(\d+) ?(Mi|Gi)", quantity)
    assert found, quantity
    return int(found[1]) * UNITS[found[2]]


def test_the_sizes_are_those_of_the_rule_and_of_the_manifests() -> None:
    text = (REPOSITORY / SIZING).read_text(encoding="utf-8")
    [kib] = re.findall(r"\*\*(\d+) KiB for each Service", text)
    rows = re.findall(r"^\| (?:up to )?([\d,]+) +\| (\d+ [MG]i)", text, re.MULTILINE)
    assert len(rows) == 3
    for count, limit in rows:
        assert bytes_of(limit) == pytest.approx(int(count.replace(",", "")) * int(kib) * 1024, rel=0.05)
    metacontroller, hook = find("metacontroller", "Deployment"), find("manifests", "Deployment")
    for deployment, what in ((hook, "the hook's memory"), (metacontroller, "Metacontroller's memory")):
        resources = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]
        [row] = [line for line in text.splitlines() if line.startswith(f"| {what}")]
        assert bytes_of(resources["limits"]["memory"]) == bytes_of(row.partition("limit ")[2])
    assert f"{rows[0][1]}, the default" in text
    arguments = metacontroller["spec"]["template"]["spec"]["containers"][0]["args"]
    assert {"--client-go-qps=500", "--client-go-burst=1000"} <= set(arguments)
    assert "500 a second, 1,000 in a burst" in text


def test_the_kustomizations_for_larger_clusters_change_what_they_say(build: Callable[[Object], list[Object]]) -> None:
    larger, prior = map(build, kustomizations(SIZING))
    limit = one(larger, "Deployment")["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"]
    assert limit == "1Gi"
    classes = {
        item["metadata"]["name"]: item["spec"]["template"]["spec"].get("priorityClassName")
        for item in prior
        if item["kind"] == "Deployment"
    }
    assert classes == dict.fromkeys(("ingress-manager", "metacontroller"), "system-cluster-critical")
