"""Reads the objects and settings for a snapshot from files or a cluster, as far as the user's permissions allow."""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

import click

from ingress_manager.commands.reading.kubectl import MANAGED_RESOURCES, KubectlFailed
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.snapshot.certificates import NOT_INSTALLED, can_be_read
from ingress_manager.commands.snapshot.items import CLASS_KIND, GATEWAY, INGRESS, SECRET, SERVICE, SLICE, VERSIONS, Item
from ingress_manager.commands.snapshot.managed import is_decorated, is_labelled
from ingress_manager.commands.snapshot.objects import secrets_of
from ingress_manager.commands.snapshot.services import Gaps, Snapshot
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES, Surroundings, attached_to
from ingress_manager.commands.text import plural
from ingress_manager.core.settings import Settings
from ingress_manager.core.text import listed


def read_objects(source: Source, *options: str) -> tuple[list[Item], Gaps]:
    """Return the objects in a cluster or in files, and a record of the kinds that could not be read.

    `options` are passed to kubectl. Raises click.UsageError, Unreadable, and KubectlFailed if Services can't be read.
    """
    gaps, items = Gaps(), list[Item]()
    if source.files:
        items = source.read("")
        for kind in (kind for kind in VERSIONS if kind not in {item.kind for item in items}):
            prints = f"add the output of `kubectl get {plural(kind).lower()} -o yaml`"
            gaps.unread[kind] = f"{plural(kind)} could not be read: the files contain none; {prints}"
        if SERVICE in gaps.unread:
            raise click.UsageError(gaps.unread[SERVICE])
        gaps.optional = {*gaps.unread} - {INGRESS}
        managed = {item.namespace for item in items if is_decorated(item) or is_labelled(item)}
        if blind := managed - {item.namespace for item in items if item.kind == SERVICE}:
            gaps.unread["namespaces"] = f"No Service in {listed(sorted(blind))} was read, so nothing there was checked"
            items = [item for item in items if item.namespace not in blind]
        return items, gaps
    for kind, resource in MANAGED_RESOURCES.items():
        try:
            items += source.read(resource, *options)
        except KubectlFailed as failed:
            if kind != INGRESS and failed.is_unknown_kind:
                gaps.lacking.add(kind)
            else:
                gaps.unread[kind] = f"{plural(kind)} could not be read: {failed.message}"
    # Services are last, so that the Ingress of a Service that is created meanwhile doesn't seem to lack its Service.
    items += source.read("services", *options)
    if not items:
        gaps.unread["namespace"] = f"There is nothing to check in {scope_of(source)}, if it exists at all"
    return items, gaps


def scope_of(source: Source) -> str:
    if source.all_namespaces:
        return "the cluster"
    return "kubectl's current namespace" if source.namespace is None else f"the namespace {source.namespace}"


def read_settings(source: Source, option: str) -> Settings | str:
    """Return the settings, or why they are unavailable. Raises click.UsageError or Unreadable for a bad file."""
    if source.files and source.settings is None:
        return f"The settings could not be read, because only files are used: name a file with {option} FILE"
    try:
        return source.read_settings(option)
    except KubectlFailed as failed:
        return failed.message


_SECRETS = (
    '{{range .items}}{{.metadata.namespace}} {{.metadata.name}} {{with .data}}{{with index . "tls.crt"}}{{.}}{{end}}'
    "{{end}} {{range $key, $_ := .data}}{{$key}},{{end}} {{.type}}{{println}}{{end}}"
)
"""The template for kubectl's output: each Secret's namespace, name, certificate, keys and type, but no private key."""

_NO_RELEASES = "--field-selector=type!=helm.sh/release.v1"
"""Excludes Helm's Secrets, which contain whole charts but never a certificate."""


def read_surroundings(source: Source, snapshot: Snapshot, kinds: Collection[str]) -> Surroundings:
    """Return objects of `kinds` on which managed objects in `snapshot` may depend, with messages about unread kinds."""
    around = Surroundings(datetime.now(UTC), soon=timedelta(days=source.certificate_days))
    managed = [obj for obj in snapshot.objects.values() if obj.is_decorated and obj.service]
    gateways = {label.partition("/")[0] for obj in managed for label in attached_to(obj, GATEWAY)}
    matters = {
        CLASS_KIND: any(obj.kind == INGRESS for obj in managed),
        GATEWAY: bool(gateways),
        SLICE: bool(managed),
        SECRET: any(True for obj in managed for _ in secrets_of(obj)),
    }
    for kind in (kind for kind, does in matters.items() if does and kind in kinds):
        scopes = [source.scope]
        if kind == GATEWAY and not source.all_namespaces:
            # Gateways and their routes may be in different namespaces.
            scopes = [[f"--namespace={namespace}"] for namespace in sorted(gateways)]
        try:
            for scope in scopes:
                resource = SURROUNDING_RESOURCES[kind]
                around.take(_secrets(source) if kind == SECRET else source.kubectl.get(resource, *scope))
            around.read.add(kind)
        except KubectlFailed as failed:
            around.unseen.append(f"{plural(kind)} could not be read: {failed.message}")
    if SECRET in around.read and not can_be_read():
        around.unseen.append(f"The certificates in Secrets could not be read: {NOT_INSTALLED}")
    return around


def _secrets(source: Source) -> Iterator[Item]:
    """Yield the Secrets, with every value except tls.crt empty, because kubectl must not print private keys."""
    options = (f"--output=go-template={_SECRETS}", _NO_RELEASES, *source.scope)
    for line in source.kubectl.run("get", *options, "--", "secrets").splitlines():
        namespace, name, crt, keys, type_ = line.split(" ", 4)
        data = {key: crt if key == "tls.crt" else "" for key in keys.split(",")}
        metadata = {"namespace": namespace, "name": name}
        yield Item({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": type_, "data": data})
