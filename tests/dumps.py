"""A cluster's objects in short form, for the cases of `audit`, `status`, `release` and `uninstall`.

An object is one of these:

Service          `name`, by default shop; `host`, for which it asks; `annotations`, `labels`; `ports` and `selector`; by
                 default it has a port http
Ingress,         in the form of tests/golden.py. With `of`, created by ingress-manager for that Service, with owner and
HTTPRoute,       Metacontroller's record; without, somebody else's. `host` suffices for a usual object: the path / of
ListenerSet      port 80, the Secret NAME-tls. `address` is in the status of an Ingress; `controller` is the status of
                 the other kinds: a reason and a message for each condition that isn't as it should be
EndpointSlice    with one ready address, for the Service `of`
Event            by Metacontroller, with a `message`, `at` a time, for the Service `of`
Secret           for TLS, with the certificate `crt`
IngressClass     `name`, by default nginx; `controller`
Gateway          `name` and `namespace`, by default web and infrastructure; `listeners`, by default http and https;
                 `address`
anything else    a complete Kubernetes object

Each has the `namespace` team-a, the time when it was `created`, and `then`, a patch (RFC 7396) with later changes;
`held` are the finalizers that block its deletion. A Service has a `uid`; other objects have a `uid` and a `version` if
these are given.

Objects in the same item as a Service have `of`, namespace and host from it.
"""

import json
from collections.abc import Set
from datetime import datetime
from typing import Any

from devcluster.sync_requests import Object, as_created
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.registry import findings_of
from ingress_manager.commands.inspection import Inspection
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.snapshot.events import EVENT, reports
from ingress_manager.commands.snapshot.items import Item, of_kind
from ingress_manager.commands.snapshot.services import UNREAD_SETTINGS, Gaps, snapshot_of
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES, Surroundings
from ingress_manager.core.copying import COPIED
from tests import golden
from tests.golden import Case

AROUND = SURROUNDING_RESOURCES.keys()
NAMESPACE = "team-a"
CREATED, MADE, NOW = "2026-01-01T03:04:05Z", "2026-01-02T03:04:05Z", "2026-01-05T04:04:05Z"
DELETED = "2026-01-03T03:04:05Z"
PORTS = [{"name": "http", "port": 80, "protocol": "TCP"}]


def manifests(case: Case) -> list[Item]:
    return read(json.dumps({"kind": "List", "items": objects(case.fields["objects"])})).items


def looked(case: Case, kinds: Set[str] = frozenset(), namespaces: Set[str] = frozenset()) -> Inspection:
    """Return the inspection of a case for a user who may not read these kinds and namespaces.

    `kinds` may include UNREAD_SETTINGS. A surrounding kind counts as read if the case has an object of it.
    """
    whole = manifests(case)
    readable = [item for item in whole if item.object["kind"] not in kinds and item.namespace not in namespaces]
    around = Surroundings(datetime.fromisoformat(NOW), read={item.object["kind"] for item in whole} & AROUND - kinds)
    around.take(readable)
    settings = None if UNREAD_SETTINGS in kinds else case.settings
    snapshot = snapshot_of(readable, settings and settings.without_pause(), Gaps(dict.fromkeys(kinds - AROUND, "no")))
    events = of_kind(readable, EVENT)
    findings = [finding.explained(reports(events)) for finding in findings_of(Evidence(snapshot, settings, around))]
    return Inspection(snapshot, around, findings, events, [], kinds - AROUND)


def objects(items: list[Object]) -> list[Object]:
    parts = [part for item in items for part in apart(item)]
    services = {
        number: since(service(short, number), short)
        for number, (kind, short) in enumerate(parts, start=1)
        if kind == "Service"
    }
    made_for = [*services.values()]
    return [services.get(number) or made(*part, made_for) for number, part in enumerate(parts, start=1)]


def apart(item: Object) -> list[tuple[str, Object]]:
    """Return the objects of an item, each with its kind, or "" for a complete object."""
    if "kind" in item:
        return [("", item)]
    same: Object = {}
    if "Service" in item:
        named = {"name": "shop"} | item["Service"]
        same = {"of": named["name"]} | {key: named[key] for key in ("namespace", "host") if key in named}
    return [(kind, short if kind == "Service" else same | short) for kind, short in item.items()]


def made(kind: str, short: Object, services: list[Object]) -> Object:
    if not kind:
        return short
    if kind in golden.USUAL:
        return since(attachment(kind, short, services), short)
    return since(event(short, services) if kind == "Event" else beside(kind, short), short)


def since(obj: Object, short: Object) -> Object:
    held = {"metadata": {"deletionTimestamp": DELETED, "finalizers": short["held"]}} if "held" in short else {}
    whole: Object = patched(patched(obj, held), short.get("then", {}))
    return whole


def patched(target: Any, patch: Any) -> Any:
    """Return a value with a merge patch applied (RFC 7396); numeric keys select items of a list."""
    if not isinstance(patch, dict):
        return patch
    if isinstance(target, list):
        return [patched(item, patch[number]) if number in patch else item for number, item in enumerate(target)]
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = patched(merged.get(key), value)
    return merged


def metadata(short: Object, created: str, **extra: Any) -> Object:
    """Return an object's metadata; a creation time of null leaves it out."""
    fields = {
        "name": short.get("name", "shop"),
        "namespace": short.get("namespace", NAMESPACE),
        "labels": short.get("labels"),
        "annotations": short.get("annotations"),
        "creationTimestamp": short.get("created", created),
        "uid": short.get("uid"),
        "resourceVersion": short.get("version"),
        **extra,
    }
    return {key: value for key, value in fields.items() if value is not None}


def service(short: Object, number: int) -> Object:
    """Return a Service; by default, its uid contains its number."""
    asking = {"ingress/http": "true", "ingress/host": short["host"]} if "host" in short else {}
    if annotations := asking | golden.parsed(short.get("annotations", {})):
        short = short | {"annotations": annotations}
    meta = metadata(short, CREATED, uid=short.get("uid", f"{number:08}-0000-0000-0000-000000000000"))
    spec = {"ports": short.get("ports", PORTS)} | {key: short[key] for key in ("selector",) if key in short}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def attachment(kind: str, short: Object, services: list[Object]) -> Object:
    """Return an Ingress, HTTPRoute or ListenerSet, created for the Service `of`, or somebody else's."""
    meta = metadata({"name": short.get("of", "shop")} | short, MADE)
    of = meta | {"name": short.get("of", meta["name"])}
    hosts = short["host"].split(", ") if "host" in short else []
    usual: dict[str, Object] = {
        "Ingress": {"rules": {host: {"Prefix /": 80} for host in hosts}},
        "HTTPRoute": {"hosts": hosts},
        "ListenerSet": {"at": "infrastructure/web/443", "secret": f"{of['name']}-tls"},
    }
    obj = golden.whole(kind, usual[kind] | short, of)
    obj = as_made(obj, short, meta, services) if "of" in short else obj | {"metadata": meta}
    return obj | (status(kind, short, obj["spec"]) if {"address", "controller"} & {*short} else {})


def as_made(desired: Object, short: Object, meta: Object, services: list[Object]) -> Object:
    """Return an object as Metacontroller creates it for its Service, which may no longer exist."""
    identity = {"name": short["of"], "namespace": meta["namespace"]}
    gone: Object = {"apiVersion": "v1", "kind": "Service", "metadata": identity | {"uid": "gone"}}
    [owner, *_] = [service for service in services if identity.items() <= service["metadata"].items()] or [gone]
    annotations, source = desired["metadata"].get("annotations", {}), owner["metadata"].get("annotations") or {}
    if copied := [key for key in sorted(annotations) if key[:8] != "ingress/" and annotations[key] == source.get(key)]:
        desired["metadata"]["annotations"] = annotations | {COPIED: ", ".join(copied)}
    made = as_created(desired, owner)
    # The API server sets these.
    del made["metadata"]["uid"], made["metadata"]["resourceVersion"], made["status"]
    made["metadata"] |= {key: meta[key] for key in ("creationTimestamp", "uid", "resourceVersion") if key in meta}
    return made


def status(kind: str, short: Object, spec: Object) -> Object:
    """Return the status set by the object's controller: an address, or conditions, true unless `short` lists them."""
    if kind == "Ingress":
        return {"status": {"loadBalancer": {"ingress": [{"ip": short["address"]}]}}}
    judged, said = [], short["controller"]
    for type_ in ("Accepted", "ResolvedRefs", "Programmed", *({"Conflicted"} & {*said})):
        reason, _, message = said.get(type_, type_).partition(": ")
        is_true = type_ not in said or type_ == "Conflicted"
        judged.append({"type": type_, "status": str(is_true), "reason": reason, "message": message})
    if kind == "ListenerSet":
        conditions = [condition for condition in judged if condition["type"] in {"Accepted", "Programmed"}]
        return {"status": {"conditions": conditions, "listeners": [{"name": "https", "conditions": judged}]}}
    parents = [
        {"controllerName": "example.com/gateway", "parentRef": parent, "conditions": judged[:2]}
        for parent in spec["parentRefs"]
    ]
    return {"status": {"parents": parents}}


def event(short: Object, services: list[Object]) -> Object:
    meta = metadata({"name": f"{short['of']}.{short.get('at', '')}"} | short, CREATED)
    [uid, *_] = [obj["metadata"]["uid"] for obj in services if obj["metadata"]["name"] == short["of"]]
    service = {"apiVersion": "v1", "kind": "Service", "name": short["of"], "namespace": meta["namespace"], "uid": uid}
    said = {"reason": "SyncError", "message": f"Sync error: {short['message']}", "lastTimestamp": short.get("at")}
    return {"apiVersion": "v1", "kind": "Event", "metadata": meta, "involvedObject": service, **said}


LISTENERS = [{"name": "http", "port": 80, "protocol": "HTTP"}, {"name": "https", "port": 443, "protocol": "HTTPS"}]


def beside(kind: str, short: Object) -> Object:
    """Return an object of a surrounding kind, such as a Gateway."""
    fields: Object = {}
    if kind == "EndpointSlice":
        fields = {"name": f"{short['of']}-x", "labels": {"kubernetes.io/service-name": short["of"]}}
        rest: Object = {
            "apiVersion": "discovery.k8s.io/v1",
            "addressType": "IPv4",
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
            "endpoints": [{"addresses": ["10.0.0.7"], "conditions": {"ready": True}}],
        }
    elif kind == "Secret":
        rest = {"apiVersion": "v1", "type": "kubernetes.io/tls", "data": {"tls.crt": short["crt"], "tls.key": ""}}
    elif kind == "IngressClass":
        fields = {"name": "nginx", "namespace": None}
        controller = short.get("controller", "example.com/controller")
        rest = {"apiVersion": "networking.k8s.io/v1", "spec": {"controller": controller}}
    else:
        fields = {"name": "web", "namespace": "infrastructure"}
        addresses = [{"value": short["address"]}] if "address" in short else []
        spec = {"listeners": short.get("listeners", LISTENERS)}
        rest = {"apiVersion": f"{golden.GATEWAY_API}/v1", "spec": spec, "status": {"addresses": addresses}}
    return rest | {"kind": kind, "metadata": metadata(fields | short, CREATED)}
