"""`ingress-manager check`: the shell."""

import contextlib
import json
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from functools import reduce
from importlib import resources
from operator import getitem
from time import monotonic, sleep
from typing import Any

import click
import yaml

from ingress_manager.commands.check import admission
from ingress_manager.commands.check.engine import account_of, asked_rights
from ingress_manager.commands.check.gateways import CRDS, GATEWAYS
from ingress_manager.commands.check.hook import failure
from ingress_manager.commands.check.lines import Line, State, exit_status, summary, table
from ingress_manager.commands.check.seen import BASE, CRD, OVERLAYS, RIGHTS, VERSION, Seen
from ingress_manager.commands.check.table import check as lines_of
from ingress_manager.commands.printing.console import note, painter
from ingress_manager.commands.reading.installations import RESOURCE
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import Item, Manifests, Origin, at
from ingress_manager.commands.reading.options import CLUSTER, INSTALLATION, Source, timeout_option, with_source
from ingress_manager.commands.reading.rights import INGRESSES
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.commands.view.events import OF_SERVICES
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.kubernetes import Object

paint = painter(
    {
        State.OK: "green",
        State.WARNING: "yellow",
        State.WRONG: "red",
        State.UNKNOWN: "cyan",
        "head": "bold",
        "command": "dim",
    }
)
PAUSE = 2.0
"""Seconds between two looks of --wait."""


@click.command(short_help="Check the installation, part by part.")
@with_source(*CLUSTER, INSTALLATION)
@click.option("--wait", is_flag=True, help="Check again until nothing is wrong, at most for --timeout.")
@timeout_option("2m", "How long to wait with --wait")
@click.pass_context
def check(context: click.Context, source: Source, *, wait: bool, seconds: int) -> None:
    """Check the installation, part by part, and say how to fix what is wrong.

    `check` only reads. It lists what it may not read.

    Exit status: 0 if nothing is wrong, even with warnings; 1 if something is wrong; 2 for wrong use, or if nothing is
    known to be wrong, and a part could not be read.

    \b
    Examples:
      ingress-manager check
      ingress-manager check --wait --timeout 5m
    """  # noqa: D301 - \b keeps click from joining lines
    until = monotonic() + seconds
    found, told = lines(source), ""
    while wait and (wrong := next((line for line in found if line.state is State.WRONG), None)) and monotonic() < until:
        if wrong.sentence != told:
            told = wrong.sentence
            note(f"… waiting until nothing is wrong: {told}")
        sleep(PAUSE)
        found = lines(source)
    click.echo("".join(table(found, paint, source.kubectl.options)))
    click.echo(summary(found))
    context.exit(exit_status(found))


def lines(source: Source) -> list[Line]:
    """Return a line for each thing that was looked at, or could not be."""
    return list(lines_of(look(source.kubectl, Seen(expected(), wanted=source.installation))))


def expected() -> dict[str, list[Object]]:
    """Return the objects that this version installs, by the folders that they are from.

    The folders in installed/ are links to those that kustomize builds: what it makes of them is done here, too. Each
    patch of an overlay adds entries to lists of one object.
    """
    found = {folder: objects(folder) for folder in (BASE, "gateway")}
    for folder, base in OVERLAYS.items():
        made = [*objects(folder), *deepcopy(found[base])]
        [kustomization] = [each for each in made if "patches" in each]
        made.remove(kustomization)
        for patch in kustomization["patches"]:
            name, kind = patch["target"]["name"], patch["target"]["kind"]
            [patched] = [each for each in made if each["kind"] == kind and each["metadata"]["name"] == name]
            for added in yaml.load(patch["patch"], yaml.CSafeLoader):
                _, *path, _ = added["path"].split("/")
                inside: Any = reduce(getitem, path, patched)
                inside.append(added["value"])
        found[folder] = made
    return found


def objects(folder: str) -> list[Object]:
    """Return what stands in the files of a folder in installed/."""
    files = sorted(resources.files(__package__).joinpath("installed", folder).iterdir(), key=lambda file: file.name)
    return [each for file in files for each in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader)]


ADMISSION = "admissionregistration.k8s.io"
KINDS = {
    "DecoratorController": RESOURCE,
    "ValidatingAdmissionPolicy": f"validatingadmissionpolicies.{ADMISSION}",
    "ValidatingAdmissionPolicyBinding": f"validatingadmissionpolicybindings.{ADMISSION}",
    admission.KIND: f"validatingwebhookconfigurations.{ADMISSION}",
    "IngressClass": "ingressclasses.networking.k8s.io",
    "Gateway": GATEWAYS,
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
}
"""What is read of the whole cluster, by the kind, as kubectl is asked for it."""

BRIEFLY = "--request-timeout=5s"
"""The API server would wait for long for a hook that a NetworkPolicy keeps from it."""


def look(kubectl: Kubectl, seen: Seen) -> Seen:
    """Return what can be read of the installation, and why the rest can't."""
    with noting(seen, VERSION):
        stated = json.loads(kubectl.run("version", "--output=json"))
        seen.kubernetes = str(at(stated, "serverVersion", "gitVersion"))
    for kind, resource in KINDS.items():
        read(kubectl, seen, kind, resource, "--all-namespaces")
    read(kubectl, seen, "Event", "events", "--all-namespaces", OF_SERVICES)
    read(kubectl, seen, CRD, " ".join(f"customresourcedefinitions/{name}" for name in CRDS.values()), IGNORE_NOT_FOUND)
    where = f"--namespace={seen.installation.namespace}"
    read(kubectl, seen, "NetworkPolicy", "networkpolicies.networking.k8s.io", where)
    if seen.hook and (configmap := configmap_of(seen.hook)):
        read(kubectl, seen, "ConfigMap", f"configmaps/{configmap}", where, IGNORE_NOT_FOUND)
    read_rights(kubectl, seen)
    read_certificates(kubectl, seen)
    service = f"{seen.installation.namespace}/services/http:{seen.installation.name}:http"
    with contextlib.suppress(KubectlFailed):
        seen.metrics = kubectl.run("get", "--raw", f"/api/v1/namespaces/{service}/proxy/metrics", BRIEFLY)
    seen.now = datetime.now(UTC).isoformat(timespec="seconds")
    if failure(seen):
        seen.made = newest_made(kubectl)
    return seen


def read(kubectl: Kubectl, seen: Seen, what: str, resources: str, *options: str) -> None:
    """Read some objects. Nothing is there of a kind that the cluster doesn't know."""
    with noting(seen, what):
        seen.items += (kubectl.get_if_known(resources, *options) or Manifests()).items


def newest_made(kubectl: Kubectl) -> str:
    """Return when the newest Ingress was made by ingress-manager; empty where there is none, or nobody may know."""
    ours = f"--selector={MANAGED_BY_LABEL}={MANAGED_BY}"
    times = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
    try:
        return max(kubectl.run("get", "--all-namespaces", ours, times, "--", INGRESSES).split(), default="")
    except KubectlFailed:
        return ""


def read_rights(kubectl: Kubectl, seen: Seen) -> None:
    """Ask the API server what Metacontroller's ServiceAccount may do. It stores nothing of the question."""
    account = account_of(seen)
    if account is None:
        return
    namespace, name = account
    asked = asked_rights(seen)
    reviews = [
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": f"system:serviceaccount:{namespace}:{name}",
                "groups": ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"],
                "resourceAttributes": right._asdict(),
            },
        }
        for right in asked
    ]
    with noting(seen, RIGHTS):
        answers = kubectl.run(
            *("create", "--filename=-", "--output=jsonpath={.status.allowed} "),
            stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": reviews}),
        ).split()
        seen.rights = {right: answer == "true" for right, answer in zip(asked, answers, strict=True)}


def read_certificates(kubectl: Kubectl, seen: Seen) -> None:
    """Read the certificate of the webhook, where it is installed."""
    crt = "--output=jsonpath={.data.tls\\.crt}"  # all that is printed of the Secret: no private key
    for namespace, name in admission.secrets(seen):
        with noting(seen, "Secret"):
            printed = kubectl.run("get", f"--namespace={namespace}", IGNORE_NOT_FOUND, crt, "--", f"secret/{name}")
            about = {"name": name, "namespace": namespace}
            seen.items += [Item({"kind": "Secret", "metadata": about, "data": {"tls.crt": printed}}, Origin("", ""))]


@contextlib.contextmanager
def noting(seen: Seen, what: str) -> Iterator[None]:
    """Note why something could not be read."""
    try:
        yield
    except KubectlFailed as failed:
        seen.unread[what] = failed.message
