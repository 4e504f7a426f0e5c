"""`check`: what this version installs, of the manifests in installed/, and how an object of the cluster differs."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from importlib import resources
from operator import getitem
from typing import Any

import yaml

from ingress_manager.commands.check.cluster import Cluster, Line, wrong
from ingress_manager.commands.snapshot.drift import changes
from ingress_manager.commands.snapshot.items import at
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.text import cut

FOLDERS = ("controller", "httproute", "listenerset")
"""Those of metacontroller/: each adds a kind to what is in the one before it."""

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
"""What the API server adds where nothing is stated."""


@cache
def expected(folder: str) -> dict[tuple[str, str], Object]:
    """Return the objects that a folder in installed/ installs, by kind and name.

    That is a link to metacontroller/, whose folders kustomize builds: what it makes of them is done here, too. Each
    patch of an overlay adds entries to lists of one object.
    """
    files = sorted(resources.files(__package__).joinpath("installed", folder).iterdir(), key=lambda file: file.name)
    found = [each for file in files for each in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)]
    patches = [patch for each in found for patch in each.get("patches", ())]
    objects = deepcopy(expected(FOLDERS[FOLDERS.index(folder) - 1])) if patches else {}
    objects |= {(each["kind"], each["metadata"]["name"]): each for each in found if each["kind"] != "Kustomization"}
    for patch in patches:
        for added in yaml.load(patch["patch"], yaml.CSafeLoader):
            _, *path, _ = added["path"].split("/")
            entries: Any = reduce(getitem, path, objects[patch["target"]["kind"], patch["target"]["name"]])
            entries.append(added["value"])
    return objects


def folder_of(cluster: Cluster) -> str:
    """Return the folder whose DecoratorController makes the same kinds as the one that is there."""
    return next((folder for folder in reversed(FOLDERS) if cluster.makes(f"{folder}s")), FOLDERS[0])


def differences(ours: Object, found: Any) -> list[str]:
    """Return how the spec of an object differs from ours, a field each: what it is, and what it should be."""
    return [cut(each, LONGEST) for each in changes(plain(at(found, "spec")), plain(ours["spec"]), "spec")]


def plain(value: Any) -> Any:
    """Return a value without what the API server adds; in expressions, spaces make no difference."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if (key, each) not in ADDED}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def policies(cluster: Cluster) -> Iterator[Line]:
    """Yield which admission policies and bindings aren't there, or are others than this version has.

    Those for more kinds guard the others as well.
    """
    folders = FOLDERS[FOLDERS.index(folder_of(cluster)) :]
    for kind, name in expected(folders[0]):
        if resource := POLICIES.get(kind):
            found = cluster.one(resource, name)
            told = [differences(expected(folder)[kind, name], found) for folder in folders]
            if found is None:
                yield wrong(f"the {kind} {name} isn't there")
            elif all(told):
                yield wrong(f"the {kind} {name}: {told[0][0]}")
