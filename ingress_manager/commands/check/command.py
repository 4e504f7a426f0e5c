"""`ingress-manager check`: the shell."""

import contextlib
import json
from collections.abc import Iterator, Mapping
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
from ingress_manager.commands.check.gateways import CRDS as GATEWAY_API
from ingress_manager.commands.check.hook import failure
from ingress_manager.commands.check.lines import FORMATS, Line, State, exit_status, report, summary, table
from ingress_manager.commands.check.seen import BASE, CRD, OVERLAYS, RIGHTS, VERSION, Seen
from ingress_manager.commands.check.table import check as lines_of
from ingress_manager.commands.printing.console import note, painter
from ingress_manager.commands.reading.installations import RESOURCE, service_of_hook
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
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.option("--wait", is_flag=True, help="Check again until nothing is wrong, at most for --timeout.")
@timeout_option("2m", "How long to wait with --wait")
@click.pass_context
def check(context: click.Context, source: Source, output: str, *, wait: bool, seconds: int) -> None:
    """Check the installation, part by part, and say how to fix what is wrong.

    `check` only reads. It lists what it may not read.

    Exit status: 0 if nothing is wrong, even with warnings; 1 if something is wrong; 2 for wrong use, or if nothing is
    known to be wrong, and a part could not be read.

    \b
    Examples:
      ingress-manager check
      ingress-manager check --wait --timeout 5m
      ingress-manager check -o json
    """  # noqa: D301 - \b keeps click from joining lines
    until = monotonic() + seconds
    found, told = lines(source), ""
    while wait and (wrong := next((line for line in found if line.state is State.WRONG), None)) and monotonic() < until:
        if wrong.sentence != told:
            told = wrong.sentence
            note(f"… waiting until nothing is wrong: {told}")
        sleep(PAUSE)
        found = lines(source)
    if output == "json":
        click.echo(report(found, source.kubectl.options), nl=False)
    else:
        for text in table(found, paint, source.kubectl.options):
            click.echo(text, nl=False)
        click.echo(f"\n{summary(found)}")
    context.exit(exit_status(found))


def lines(source: Source) -> list[Line]:
    """Return a line for each thing that was looked at, or could not be. Raises click.UsageError."""
    return list(lines_of(look(source.kubectl, Seen(expected(), wanted=source.installation))))


def expected() -> dict[str, list[Object]]:
    """Return the objects that this version installs, by the folders that they are from.

    The folders in installed/ are links to those that kustomize builds: what it makes of them is done here, too. Each
    patch of an overlay adds entries to lists of one object.
    """
    found = {folder: objects(folder) for folder in ("admission", BASE, "gateway")}
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


CLUSTER_WIDE = {
    "DecoratorController": RESOURCE,
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies.admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    admission.KIND: "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "IngressClass": "ingressclasses.networking.k8s.io",
    "Namespace": "namespaces",
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
}
"""What is read of the whole cluster, by the kind, as kubectl is asked for it."""

BESIDE_THE_HOOK = {"Service": "services", "Pod": "pods", "NetworkPolicy": "networkpolicies.networking.k8s.io"}

OF_GATEWAYS = {"Gateway": GATEWAY_API[0]}

BRIEFLY = "--request-timeout=5s"
"""The API server would wait for long for a hook that a NetworkPolicy keeps from it."""


def look(kubectl: Kubectl, seen: Seen) -> Seen:
    """Return what can be read of the installation. Raises click.UsageError where it can't be said which one is meant.

    What can be read together is. Where that fails, each kind is read by itself, so that it is known which may not be.
    """
    with noting(seen, VERSION):
        stated = json.loads(kubectl.run("version", "--output=json"))
        seen.kubernetes = str(at(stated, "serverVersion", "gitVersion"))
    read_kinds(kubectl, seen, CLUSTER_WIDE, "--all-namespaces")
    with noting(seen, CRD):
        names = " ".join(f"customresourcedefinitions/{name}" for name in (RESOURCE, *GATEWAY_API))
        seen.items += kubectl.get(names, IGNORE_NOT_FOUND).items
    hook = service_of_hook(seen.of_kind("DecoratorController"))
    answering = [namespace for each in admission.webhooks(seen) if (namespace := admission.service_of(each)[0])]
    for namespace in dict.fromkeys([*(hook or ())[:1], seen.installation.namespace, *answering]):
        read_kinds(kubectl, seen, BESIDE_THE_HOOK, f"--namespace={namespace}")
    if seen.hook and (configmap := configmap_of(seen.hook)):
        with noting(seen, "ConfigMap"):
            where = f"--namespace={seen.installation.namespace}"
            seen.items += kubectl.get(f"configmaps/{configmap}", where, IGNORE_NOT_FOUND).items
    if seen.one(CRD, GATEWAY_API[0]) or CRD in seen.unread:
        read_kinds(kubectl, seen, OF_GATEWAYS, "--all-namespaces")
    read_kinds(kubectl, seen, {"Event": "events"}, "--all-namespaces", OF_SERVICES)
    read_rights(kubectl, seen)
    read_admission(kubectl, seen)
    service = f"{seen.installation.namespace}/services/http:{seen.installation.name}:http"
    with contextlib.suppress(KubectlFailed):
        seen.metrics = kubectl.run("get", "--raw", f"/api/v1/namespaces/{service}/proxy/metrics", BRIEFLY)
    seen.now = datetime.now(UTC).isoformat(timespec="seconds")
    if failure(seen):
        seen.made = newest_made(kubectl)
    return seen


def newest_made(kubectl: Kubectl) -> str:
    """Return when the newest Ingress was made by ingress-manager; empty where there is none, or nobody may know."""
    ours = f"--selector={MANAGED_BY_LABEL}={MANAGED_BY}"
    times = "--output=jsonpath={.items[*].metadata.creationTimestamp}"
    try:
        return max(kubectl.run("get", "--all-namespaces", ours, times, "--", INGRESSES).split(), default="")
    except KubectlFailed:
        return ""


def read_kinds(kubectl: Kubectl, seen: Seen, kinds: Mapping[str, str], *options: str) -> None:
    """Read the objects of some kinds, all at once or else each by itself."""
    try:
        seen.items += kubectl.get(",".join(kinds.values()), *options).items
    except KubectlFailed:
        for kind, resource in kinds.items():
            with noting(seen, kind):
                # Nothing is there of a kind that the cluster doesn't know.
                seen.items += (kubectl.get_if_known(resource, *options) or Manifests()).items


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


def read_admission(kubectl: Kubectl, seen: Seen) -> None:
    """Read the certificate of the webhook, and try it, where it is installed: nothing is stored in a dry run."""
    if not any(admission.webhooks(seen)):
        return
    crt = "--output=jsonpath={.data.tls\\.crt}"  # all that is printed of the Secret: no private key
    for namespace, name in admission.secrets(seen):
        with noting(seen, "Secret"):
            printed = kubectl.run("get", f"--namespace={namespace}", IGNORE_NOT_FOUND, crt, "--", f"secret/{name}")
            about = {"name": name, "namespace": namespace}
            seen.items += [Item({"kind": "Secret", "metadata": about, "data": {"tls.crt": printed}}, Origin("", ""))]
    if why := admission.why_not_tried(seen):
        seen.unread["trial"] = why
        return
    try:
        mistaken = json.dumps(admission.MISTAKEN)
        for _ in range(admission.TRIALS):
            seen.warned = kubectl.warnings("create", "--dry-run=server", "--filename=-", stdin=mistaken)
            if admission.is_answered(seen):
                break
    except KubectlFailed as failed:
        if admission.is_of_webhook(failed.message):
            seen.warned = [failed.message]
        else:
            seen.unread["trial"] = failed.message


@contextlib.contextmanager
def noting(seen: Seen, what: str) -> Iterator[None]:
    try:
        yield
    except KubectlFailed as failed:
        seen.unread[what] = failed.message
