"""What a view is made of, read as far as the user may: the objects of a cluster or of files, and the settings."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from ingress_manager.commands.reading.kinds import INGRESS, LISTENERSET, PLURAL, RESOURCES, SERVICE, SERVICES
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Item, Manifests, Origin
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.view.certificates import NOT_INSTALLED, can_be_read
from ingress_manager.commands.view.events import OF_SERVICES, Report, reports, reports_in
from ingress_manager.commands.view.known import SETTINGS, UNKNOWN, Known, Unknown
from ingress_manager.commands.view.look import View
from ingress_manager.commands.view.objects import TYPES, certificates_of, kind_of_other_version
from ingress_manager.commands.view.surroundings import (
    CERTIFICATES,
    CLASS,
    EVERYWHERE,
    GATEWAY,
    SECRET,
    SLICE,
    Surroundings,
    surroundings_in,
)
from ingress_manager.commands.view.surroundings import RESOURCES as AROUND
from ingress_manager.core.forbidden import parents_of
from ingress_manager.core.kubernetes import Ingress
from ingress_manager.core.policy import Policy

VERSIONS = {SERVICE: SERVICES, **{kind: version for version, (kind, _) in TYPES.items()}}


def read_objects(source: Source) -> tuple[Manifests, Known]:
    """Return what there is, as far as the user may read it. Raises click.UsageError, and KubectlFailed for Services."""
    known = Known()
    if source.files:
        manifests = source.read("")
        known.misread, known.is_whole = manifests.misread, manifests.is_whole
        versions = {item.kind for item in manifests.items}
        there = {misread for misread, _ in known.misread} | {*map(kind_of_other_version, versions)}
        for kind, version in VERSIONS.items():
            if version not in versions and kind not in there:
                prints = f"`kubectl get {PLURAL[kind].lower()}` prints them"
                known.unread[kind] = f"{PLURAL[kind]} could not be looked at: there is none in what was read; {prints}"
        known.open = {*known.unread} - {SERVICE, INGRESS}
        return manifests, known
    manifests = Manifests()
    for kind, resource in RESOURCES.items():
        try:
            manifests.extend(source.read(resource))
        except KubectlFailed as failed:
            if kind != INGRESS and failed.is_unknown_kind:
                known.lacking.add(kind)
            else:
                known.unread[kind] = f"{PLURAL[kind]} could not be looked at: {failed.message}"
    # Last: the Ingress of a Service that is made meanwhile must not be taken for one whose Service is gone.
    manifests.extend(source.read("services"))
    if not manifests.items:
        known.unread["namespace"] = f"There is nothing to look at in {scope_of(source)}, if it is there at all"
    return manifests, known


def read_reports(source: Source, manifests: Manifests) -> Mapping[str, Report] | str:
    """Return what Metacontroller has reported of each Service, or why that can't be looked at."""
    if source.files:
        return reports_in(manifests.items)
    try:
        return reports(source.kubectl.get("events", OF_SERVICES, *source.scope).items)
    except KubectlFailed as failed:
        return failed.message


def scope_of(source: Source) -> str:
    """Return what of a cluster is read, as a person would say it."""
    if source.all_namespaces:
        return "the cluster"
    return "kubectl's current namespace" if source.namespace is None else f"the namespace {source.namespace}"


def read_policy(source: Source, known: Known, option: str) -> Policy | Unknown:
    """Return the settings: those that `option` names, else those of the hook in the cluster.

    Those that can't be read are noted as unknown. Raises click.UsageError when what was read can't be used.
    """
    try:
        if source.files and source.settings is None:
            raise KubectlFailed("they are not in the files")
        return source.stated_policy(option)
    except KubectlFailed as failed:
        known.unread[SETTINGS] = f"The settings could not be looked at: {failed.message}; {option} FILE names them"
        return UNKNOWN


_SECRETS = (
    '{{range .items}}{{.metadata.namespace}} {{.metadata.name}} {{with .data}}{{with index . "tls.crt"}}{{.}}{{end}}'
    "{{end}} {{range $key, $_ := .data}}{{$key}},{{end}} {{.type}}{{println}}{{end}}"
)
"""What kubectl prints of Secrets: of all that is in them, the certificates alone have their values."""

_NO_RELEASES = "--field-selector=type!=helm.sh/release.v1"
"""Helm's Secrets hold whole charts, and never a certificate."""


def places_around(view: View) -> set[tuple[str, str]]:
    """Return what decides whether anything answers: the kinds, each with a namespace, or with EVERYWHERE if in none."""
    found: set[tuple[str, str]] = set()
    for each in view.objects.values():
        if not (each.is_marked and each.service):
            continue
        namespace = each.item.namespace
        found.add((SLICE, namespace))
        found |= {(CLASS, EVERYWHERE)} if isinstance(each.typed, Ingress) else set()
        found |= {(SECRET, namespace) for _ in certificates_of(each)}
        found |= {(GATEWAY, ref.namespace or namespace) for ref in parents_of(each.typed) if ref.kind != LISTENERSET}
    return found


def read_surroundings(source: Source, manifests: Manifests, view: View) -> Surroundings:
    """Return what stands around the objects of a view that were made for Services, as far as the user may read it.

    `manifests` is what the view is of. Why something was not read is said in `unread`.
    """
    places = places_around(view)
    kinds = [kind for kind in AROUND if kind in {kind for kind, _ in places}]
    if source.files:
        around = surroundings_in(manifests)
        there = {kind for kind, _ in around.read | around.misread}
        around.unread = {kind: "there is none in what was read" for kind in kinds if kind not in there}
    else:
        around = Surroundings(datetime.now(UTC))
        for kind in kinds:
            if kind == SECRET:
                _take_secrets(around, source, places)
            else:
                _take(around, source, kind, {place for place in places if place[0] == kind})
    if SECRET in kinds and SECRET not in around.unread and not can_be_read():
        around.unread[CERTIFICATES] = NOT_INSTALLED
    return around


def _take(around: Surroundings, source: Source, kind: str, places: set[tuple[str, str]]) -> None:
    """Read a kind. Gateways may stand in other namespaces than what is looked at."""
    scopes = [source.scope]
    if kind == GATEWAY and not source.all_namespaces:
        scopes = [[f"--namespace={namespace}"] for _, namespace in sorted(places)]
    try:
        for scope in scopes:
            around.take(source.kubectl.get(AROUND[kind], *scope).items)
    except KubectlFailed as failed:
        around.unread[kind] = failed.message
    else:
        around.read |= places


def _take_secrets(around: Surroundings, source: Source, places: Collection[tuple[str, str]]) -> None:
    """Read what counts of the Secrets. No private key is printed."""
    try:
        lines = source.kubectl.run(
            "get", f"--output=go-template={_SECRETS}", _NO_RELEASES, *source.scope, "--", "secrets"
        ).splitlines()
    except KubectlFailed as failed:
        around.unread[SECRET] = failed.message
        return
    for line in lines:
        namespace, name, crt, keys, type_ = line.split(" ", 4)
        data = {key: crt if key == "tls.crt" else "" for key in keys.split(",")}
        metadata = {"namespace": namespace, "name": name}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": type_, "data": data}
        around.take([Item(secret, Origin("", namespace))])
    around.read |= {place for place in places if place[0] == SECRET}
