"""Objects of a cluster in few words: what the cases of `audit`, `status`, `release` and `uninstall` are made of.

An object is one of these:

Service          `name`, by default shop; `annotations`, `labels`; `ports` and `selector`; by default it has a port http
Ingress,         as tools/golden.py has them, made by ingress-manager for the Service `of`, with Metacontroller's record
HTTPRoute,       of it, an owner, and all else; without `of`, somebody's
ListenerSet
EndpointSlice    one of the Service `of`, with one ready address
anything else    whole, as Kubernetes has it

Each has the `namespace` team-a, when it was `created`, and `then`, a patch (RFC 7396) by which it has become another
one since. A Service has a `uid`. Of what is made, `recorded: false` leaves out the record.
"""

from typing import Any

from devcluster.sync_requests import Object, as_created
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.manifests import Manifests, read
from ingress_manager.core.copying import COPIED
from ingress_manager.core.kubernetes import LAST_APPLIED
from tools import golden
from tools.golden import Case

NAMESPACE = "team-a"
CREATED, MADE = "2026-01-01T03:04:05Z", "2026-01-02T03:04:05Z"
PORTS = [{"name": "http", "port": 80, "protocol": "TCP"}]


def text(case: Case) -> str:
    """Return the objects of a case, as `kubectl get -o yaml` would print them."""
    return "---\n".join(as_yaml(each) for each in objects(case.stated["objects"]))


def manifests(case: Case) -> Manifests:
    """Return the objects of a case, as a command reads them."""
    return read(text(case))


def objects(stated: list[Object]) -> list[Object]:
    """Return the objects, whole."""
    services = {
        number: patched(service(each["Service"], number), each["Service"].get("then", {}))
        for number, each in enumerate(stated, start=1)
        if "Service" in each
    }
    return [services.get(number) or made(each, [*services.values()]) for number, each in enumerate(stated, start=1)]


def made(stated: Object, services: list[Object]) -> Object:
    """Return an object that is no Service."""
    if "kind" in stated:
        return stated
    [(kind, short)] = stated.items()
    found = endpoints(short) if kind == "EndpointSlice" else attachment(kind, short, services)
    whole: Object = patched(found, short.get("then", {}))
    return whole


def patched(target: Any, patch: Any) -> Any:
    """Return what a merge patch makes of a value (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = patched(merged.get(key), value)
    return merged


def metadata(short: Object, created: str, **stated: Any) -> Object:
    """Return metadata: its name and namespace, and when it was created, unless that is null."""
    found = {
        "name": short.get("name", "shop"),
        "namespace": short.get("namespace", NAMESPACE),
        "labels": short.get("labels"),
        "annotations": short.get("annotations"),
        "creationTimestamp": short.get("created", created),
        **stated,
    }
    return {key: value for key, value in found.items() if value is not None}


def service(short: Object, number: int) -> Object:
    """Return a Service, whose uid tells its number, unless it is stated."""
    own = metadata(short, CREATED, uid=short.get("uid", f"{number:08}-0000-0000-0000-000000000000"))
    spec = {"ports": short.get("ports", PORTS)} | {key: short[key] for key in ("selector",) if key in short}
    return {"apiVersion": "v1", "kind": "Service", "metadata": own, "spec": spec}


def attachment(kind: str, short: Object, services: list[Object]) -> Object:
    """Return an object that is made for a Service, or somebody's."""
    own = metadata({"name": short.get("of", "shop")} | short, MADE)
    whole = {"Ingress": golden.ingress, "HTTPRoute": golden.httproute, "ListenerSet": golden.listenerset}[kind]
    desired = whole(short, own | {"name": short.get("of", own["name"])})
    if "of" not in short:
        return desired | {"metadata": own}
    identity = {"name": short["of"], "namespace": own["namespace"]}
    gone: Object = {"apiVersion": "v1", "kind": "Service", "metadata": identity | {"uid": "gone"}}
    [owner, *_] = [each for each in services if identity.items() <= each["metadata"].items()] or [gone]
    annotations, stated = desired["metadata"].get("annotations", {}), owner["metadata"].get("annotations") or {}
    if copied := [key for key in sorted(annotations) if key[:8] != "ingress/" and annotations[key] == stated.get(key)]:
        annotations[COPIED] = ", ".join(copied)
    made = as_created(desired, owner)
    # An API server gives it these.
    del made["metadata"]["uid"], made["metadata"]["resourceVersion"], made["status"]
    if not short.get("recorded", True):
        del made["metadata"]["annotations"][LAST_APPLIED]
    if "creationTimestamp" in own:
        made["metadata"]["creationTimestamp"] = own["creationTimestamp"]
    return made


def endpoints(short: Object) -> Object:
    """Return an EndpointSlice."""
    labels = {"kubernetes.io/service-name": short["of"]}
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": metadata({"name": f"{short['of']}-x"} | short, CREATED, labels=labels),
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["10.0.0.7"], "conditions": {"ready": True}}],
    }
