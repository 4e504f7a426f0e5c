"""`check`: what this version installs, of the manifests in installed/, and how an object of the cluster differs."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache, reduce
from importlib import resources
from operator import getitem
from typing import Any

import yaml

from ingress_manager.commands.check.cluster import Cluster, Line, warning, wrong
from ingress_manager.commands.reading.manifests import at
from ingress_manager.core.kubernetes import Object

FOLDERS = ("controller", "httproute", "listenerset")
"""Those of metacontroller/: each adds a kind to what is in the one before it."""

GATEWAY = "gateway"
POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
RESOURCES = {
    POLICY: "validatingadmissionpolicies.admissionregistration.k8s.io",
    BINDING: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
}

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
    told = {
        **{path: f"is {stands.get(path)}; this version has {value}" for path, value in wanted.items()},
        **{path: f"is {value}, and this version has none" for path, value in stands.items() if path not in wanted},
        **{path: "is missing" for path in wanted if path not in stands},
        **{path: "is another one" for path, value in wanted.items() if path in stands and " " in str(value)},
    }
    return [f"{path} {what}" for path, what in told.items() if wanted.get(path) != stands.get(path)]


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
    """Yield which admission policies and bindings aren't there, or are others than this version has."""
    # Those for more kinds guard the others as well.
    folders = FOLDERS[FOLDERS.index(folder_of(cluster)) :]
    # The gateway is of one's own choice, and its policies have to be right where one of them is there.
    for folder in (folders[0], GATEWAY):
        for name in (each["metadata"]["name"] for each in of_kind(POLICY, folder)):
            if folder != GATEWAY or any(cluster.one(resource, name) for resource in RESOURCES.values()):
                yield from judged(cluster, name, *(folders if folder != GATEWAY else [GATEWAY]))
    known = {each["metadata"]["name"] for each in of_kind(POLICY, *FOLDERS, GATEWAY)}
    for kind, resource in RESOURCES.items():
        for name in sorted(item.name for item in cluster.all(resource)):
            if name.startswith("ingress-manager-") and name not in known:
                yield warning(f"this version has no {kind} {name}", f"Delete it: kubectl delete {kind.lower()} {name}")


def judged(cluster: Cluster, name: str, *folders: str) -> Iterator[Line]:
    """Yield what is wrong with a policy or its binding: each has to be as one of the folders has it."""
    for kind, resource in RESOURCES.items():
        found = cluster.one(resource, name)
        told = [differences(each, found) for each in of_kind(kind, *folders) if each["metadata"]["name"] == name]
        if found is None:
            yield wrong(f"the {kind} {name} isn't there")
        elif all(told):
            yield wrong(f"the {kind} {name}: {told[0][0]}")
