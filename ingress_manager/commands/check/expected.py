"""`check`: what this version installs, of the manifests in installed/, and how an object of the cluster differs."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from importlib import resources
from operator import getitem
from typing import Any

import yaml

from ingress_manager.commands.check.cluster import Cluster, Line, wrong
from ingress_manager.commands.reading.manifests import at
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.text import cut

FOLDERS = ("controller", "httproute", "listenerset")
"""Those of metacontroller/: each adds a kind to what is in the one before it."""

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
RESOURCES = {
    POLICY: "validatingadmissionpolicies.admissionregistration.k8s.io",
    BINDING: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
}

LONGEST = 200
"""Characters of a difference: an expression has thousands."""

DEFAULTS = {
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
    "scope": "*",
    "parameterNotFoundAction": "Allow",
}
"""What the API server adds where nothing is stated."""


@cache
def expected(folder: str) -> list[Object]:
    """Return the objects that a folder in installed/ installs.

    The folders are links to those that kustomize builds: what it makes of them is done here, too. Each patch of an
    overlay adds entries to lists of one object.
    """
    files = sorted(resources.files(__package__).joinpath("installed", folder).iterdir(), key=lambda file: file.name)
    found = [each for file in files for each in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)]
    patches = [patch for each in found for patch in each.get("patches", ())]
    found = [each for each in found if each["kind"] != "Kustomization"]
    if patches:
        found += deepcopy(expected(FOLDERS[FOLDERS.index(folder) - 1]))
    for patch in patches:
        target = patch["target"]["kind"], patch["target"]["name"]
        [patched] = [each for each in found if (each["kind"], each["metadata"]["name"]) == target]
        for added in yaml.load(patch["patch"], yaml.CSafeLoader):
            _, *path, _ = added["path"].split("/")
            inside: Any = reduce(getitem, path, patched)
            inside.append(added["value"])
    return found


def of_kind(kind: str, *folders: str) -> list[Object]:
    """Return the objects of a kind that some folders install."""
    return [each for folder in folders for each in expected(folder) if each["kind"] == kind]


def folder_of(cluster: Cluster) -> str:
    """Return the folder whose DecoratorController makes the same kinds as the one that is there."""
    return next((folder for folder in reversed(FOLDERS) if cluster.makes(f"{folder}s")), FOLDERS[0])


def differences(ours: Object, found: Any) -> list[str]:
    """Return how the spec of an object differs from ours, each time with the place, such as spec.attachments[0]."""
    wanted, stands = dict(flat(ours["spec"])), dict(flat(at(found, "spec")))
    return [
        cut(f"{path} is {stands.get(path, 'missing')}; this version has {wanted.get(path, 'none')}", LONGEST)
        for path in wanted | stands
        if wanted.get(path) != stands.get(path)
    ]


def flat(found: Any, path: str = "spec") -> Iterator[tuple[str, Any]]:
    """Yield each value with its place, but what the API server adds; in expressions spaces make no difference."""
    if isinstance(found, dict) and found:
        for key, value in found.items():
            if value != DEFAULTS.get(key, found):
                yield from flat(value, f"{path}.{key}")
    elif isinstance(found, list) and found:
        for number, value in enumerate(found):
            yield from flat(value, f"{path}[{number}]")
    else:
        yield path, " ".join(found.split()) if isinstance(found, str) else found


def policies(cluster: Cluster) -> Iterator[Line]:
    """Yield which admission policies and bindings aren't there, or are others than this version has.

    Those for more kinds guard the others as well.
    """
    folders = FOLDERS[FOLDERS.index(folder_of(cluster)) :]
    for name in (each["metadata"]["name"] for each in of_kind(POLICY, folders[0])):
        for kind, resource in RESOURCES.items():
            found = cluster.one(resource, name)
            told = [differences(each, found) for each in of_kind(kind, *folders) if each["metadata"]["name"] == name]
            if found is None:
                yield wrong(f"the {kind} {name} isn't there")
            elif all(told):
                yield wrong(f"the {kind} {name}: {told[0][0]}")
