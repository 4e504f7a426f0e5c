"""`check`: what this version installs, by the manifests in installed/, and how the cluster's objects differ."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from importlib import resources
from operator import getitem
from typing import Any

import yaml

from ingress_manager.commands.check.cluster import Cluster, Result, wrong
from ingress_manager.commands.snapshot.drift import field_differences
from ingress_manager.commands.snapshot.items import at
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.text import cut

FOLDERS = ("controller", "httproute", "listenerset")
"""The folders of metacontroller/: each adds a kind to the one before it."""

POLICIES = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies.admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings.admissionregistration.k8s.io",
}

LONGEST = 200
"""Characters of a difference: an expression has thousands."""

ADDED = [
    ("matchPolicy", "Equivalent"),
    ("namespaceSelector", {}),
    ("objectSelector", {}),
    ("scope", "*"),
    ("parameterNotFoundAction", "Allow"),
]
"""The defaults that the API server adds."""


@cache
def expected(folder: str) -> dict[tuple[str, str], Object]:
    """Return the objects that a folder in installed/ installs, by kind and name.

    installed/ is a link to metacontroller/, whose folders kustomize builds, as is done here. Each patch of an overlay
    adds entries to lists of one object.
    """
    files = sorted(resources.files(__package__).joinpath("installed", folder).iterdir(), key=lambda file: file.name)
    documents = [obj for file in files for obj in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)]
    patches = [patch for obj in documents for patch in obj.get("patches", ())]
    objects = deepcopy(expected(FOLDERS[FOLDERS.index(folder) - 1])) if patches else {}
    objects |= {(obj["kind"], obj["metadata"]["name"]): obj for obj in documents if obj["kind"] != "Kustomization"}
    for patch in patches:
        for added in yaml.load(patch["patch"], yaml.CSafeLoader):
            _, *path, _ = added["path"].split("/")
            entries: Any = reduce(getitem, path, objects[patch["target"]["kind"], patch["target"]["name"]])
            entries.append(added["value"])
    return objects


def folder_of(cluster: Cluster) -> str:
    """Return the folder whose DecoratorController manages the same kinds as the cluster's."""
    return next((folder for folder in reversed(FOLDERS) if cluster.makes(f"{folder}s")), FOLDERS[0])


def spec_differences(ours: Object, observed: Any) -> list[str]:
    """Return a sentence for each field in which the spec of an object differs from ours."""
    sentences = field_differences(plain(at(observed, "spec")), plain(ours["spec"]), "spec")
    return [cut(sentence, LONGEST) for sentence in sentences]


def plain(value: Any) -> Any:
    """Return a value without what the API server adds, and with single spaces in expressions."""
    if isinstance(value, dict):
        return {key: plain(field) for key, field in value.items() if (key, field) not in ADDED}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def policies(cluster: Cluster) -> Iterator[Result]:
    """Yield which admission policies and bindings are missing, or differ from this version's.

    Policies for more kinds than are managed are fine, too.
    """
    folders = FOLDERS[FOLDERS.index(folder_of(cluster)) :]
    for kind, name in expected(folders[0]):
        if resource := POLICIES.get(kind):
            observed = cluster.one(resource, name)
            by_folder = [spec_differences(expected(folder)[kind, name], observed) for folder in folders]
            if observed is None:
                yield wrong(f"the {kind} {name} isn't there")
            elif all(by_folder):
                yield wrong(f"the {kind} {name}: {by_folder[0][0]}")
