"""What the manifests can be made into: the components, and the kustomizations that the docs show."""

import copy
import re

import pytest
import yaml

from tests.manifests.objects import FOLDERS, Build, Object, differing, find, kustomizations, one, rendered

# What holds for all of them.


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pod_runs_on_linux_with_images_that_name_their_registry_and_version(folder: str) -> None:
    """CRI-O has no default registry."""
    for deployment in [item for item in rendered(folder) if item["kind"] == "Deployment"]:
        spec = deployment["spec"]["template"]["spec"]
        assert spec["nodeSelector"] == {"kubernetes.io/os": "linux"}
        for each in spec["containers"]:
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+/[a-z0-9./-]+:v?\d+\.\d+\.\d+", each["image"])


# The component for OpenShift.


def test_on_openshift_the_cluster_chooses_the_users_and_an_owner_may_be_named(build: Build) -> None:
    folders = [f"../{folder}" for folder in FOLDERS]
    before = build({"resources": folders})
    after = build({"resources": folders, "components": ["../manifests/openshift"]})
    expected = copy.deepcopy(before)
    for item in expected:
        if item["kind"] == "Deployment":
            security = item["spec"]["template"]["spec"]["securityContext"]
            security.pop("runAsUser", None)
            security.pop("runAsGroup", None)
            [container] = item["spec"]["template"]["spec"]["containers"]
            container["securityContext"].pop("runAsGroup", None)
    right = {"apiGroups": [""], "resources": ["services/finalizers"], "verbs": ["update"]}
    one(expected, "ClusterRole", "ingress-manager")["rules"].append(right)
    assert after == expected


# The kustomizations of metacontroller/README.md: Helm's, another place, another namespace.

HELM, ELSEWHERE, MOVED = kustomizations("metacontroller/README.md")


def test_the_component_for_helm_gives_the_rights_to_the_charts_serviceaccount(build: Build) -> None:
    [(key, binding)] = differing(rendered("metacontroller/controller"), build(HELM)).items()
    assert key == ("ClusterRoleBinding", "ingress-manager")
    assert binding is not None
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "metacontroller-metacontroller-helm", "namespace": "metacontroller"}
    ]


def test_a_metacontroller_somewhere_else_gets_the_rights_and_may_call_the_hook(build: Build) -> None:
    before, after = [*rendered("manifests"), *rendered("metacontroller/controller")], build(ELSEWHERE)
    binding, policy = ("ClusterRoleBinding", "ingress-manager"), ("NetworkPolicy", "ingress-manager")
    assert differing(before, after).keys() == {binding, policy}
    [subject] = one(after, *binding)["subjects"]
    [peer] = one(after, *policy)["spec"]["ingress"][0]["from"]
    assert subject == {"kind": "ServiceAccount", "name": "my-release-metacontroller-helm", "namespace": "operators"}
    assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "operators"}}


@pytest.mark.parametrize("controller", ["controller", pytest.param("httproute", marks=pytest.mark.thorough)])
def test_one_line_moves_the_hook_to_another_namespace_and_the_controller_calls_it_there(
    controller: str, build: Build
) -> None:
    assert MOVED["namespace"] == "platform"
    moved = yaml.safe_load(yaml.safe_dump(MOVED).replace("/controller", f"/{controller}"))
    before = [*rendered("manifests"), *rendered(f"metacontroller/{controller}")]
    expected = yaml.safe_load(yaml.safe_dump(before).replace("namespace: ingress-manager\n", "namespace: platform\n"))
    one(expected, "Namespace")["metadata"]["name"] = "platform"
    assert sorted(build(moved), key=str) == sorted(expected, key=str)
    webhook = one(expected, "DecoratorController")["spec"]["hooks"]["sync"]["webhook"]
    assert webhook["service"]["namespace"] == "platform"


# docs/gitops.md.


def test_argo_cd_applies_the_decoratorcontroller_alone_in_a_later_wave(build: Build) -> None:
    [kustomization] = kustomizations("docs/gitops.md")
    wave = "argocd.argoproj.io/sync-wave"
    objects = build(kustomization)
    waves = {(item["kind"], item["metadata"].get("annotations", {}).get(wave)) for item in objects}
    assert [pair for pair in waves if pair[1] is not None] == [("DecoratorController", "1")]
    kinds = {item["kind"] for item in [*rendered("manifests"), *rendered("metacontroller")]}
    assert {kind for kind, _ in waves} == kinds | {"CustomResourceDefinition"}
    [own] = one(objects, "Deployment", "ingress-manager")["spec"]["template"]["spec"]["containers"]
    assert own["image"].startswith("registry.example.com/ingress-manager:")


# docs/operating.md.


def test_the_kustomization_for_larger_clusters_changes_what_it_says(build: Build) -> None:
    [larger] = map(build, kustomizations("docs/operating.md"))
    changed = one(larger, "Deployment", "metacontroller")
    assert memory_limit(changed) == "1Gi" != memory_limit(find("metacontroller", "Deployment"))
    classes = {
        item["metadata"]["name"]: item["spec"]["template"]["spec"].get("priorityClassName")
        for item in larger
        if item["kind"] == "Deployment"
    }
    assert classes == dict.fromkeys(("ingress-manager", "metacontroller"), "system-cluster-critical")


def memory_limit(deployment: Object) -> str:
    """Return the limit of a Deployment's only container."""
    [found] = deployment["spec"]["template"]["spec"]["containers"]
    return str(found["resources"]["limits"]["memory"])
