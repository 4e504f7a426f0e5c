"""What the settings forbid in an Ingress or an HTTPRoute, judged anew: independent of how the core judges it.

The settings are taken as plain values, as YAML states them, and the object as JSON.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from devcluster.sync_requests import Object
from ingress_manager.core.copying import KNOWN

OURS = {"ingress/not-copied", "ingress/added-by-settings"}


def stated(policy: msgspec.Struct) -> Object:
    """Return the settings as plain values, as a YAML file would hold them."""
    made: Object = msgspec.to_builtins(policy)
    return made


def forbidden(made: Object, settings: Object, parent: Object) -> Iterator[str]:
    """Yield what is in the Ingress, or the HTTPRoute, of the Service `parent` though `settings` forbid it."""
    if parent["spec"].get("type") == "ExternalName":
        yield "the Service is an ExternalName"
    namespace = made["metadata"]["namespace"]
    own = settings.get("namespaces", {}).get(namespace, {})
    limits = settings.get("limits", {}) | own.get("limits", {})
    defaults = settings.get("defaults", {}) | own.get("defaults", {})
    hosts = limits.get("hosts", "any")
    for host in hosts_of(made):
        if hosts != "any" and not is_within(host, [pattern.replace("{namespace}", namespace) for pattern in hosts]):
            yield f"host {host}"
    classes = limits.get("classes", "any")
    if made["kind"] == "Ingress" and classes != "any" and made["spec"].get("ingressClassName") not in classes:
        yield f"class {made['spec'].get('ingressClassName')}"
    gateway = defaults.get("gateway")
    if made["kind"] == "HTTPRoute" and gateway:
        sections = {gateway.get("http", "http"), gateway.get("https", "https")}
        for ref in made["spec"]["parentRefs"]:
            same = (ref["namespace"], ref["name"]) == (gateway["namespace"], gateway["name"])
            if not same or ref["sectionName"] not in sections:
                yield f"listener {ref}"
    for path_type in path_types_of(made):
        if path_type not in limits.get("pathTypes", ["Prefix", "Exact"]):
            yield f"path type {path_type}"
    tls = settings.get("defaults", {}).get("tls", {}) | own.get("defaults", {}).get("tls", {})
    added = {**defaults.get("annotations", {}), **tls.get("annotations", {})}
    yield from forbidden_annotations(made["metadata"].get("annotations", {}), limits, added)


def hosts_of(made: Object) -> list[str]:
    """Return the hosts of an Ingress or an HTTPRoute."""
    spec = made["spec"]
    if made["kind"] == "HTTPRoute":
        return list(spec["hostnames"])
    return [rule["host"] for rule in spec["rules"]] + [host for tls in spec.get("tls", []) for host in tls["hosts"]]


def path_types_of(made: Object) -> list[str]:
    """Return the type of each path of an Ingress or an HTTPRoute, as an Ingress calls it."""
    rules = made["spec"]["rules"]
    if made["kind"] == "HTTPRoute":
        words = {"PathPrefix": "Prefix", "Exact": "Exact"}
        return [words[match["path"]["type"]] for rule in rules for match in rule["matches"]]
    return [path["pathType"] for rule in rules for path in rule["http"]["paths"]]


def forbidden_annotations(annotations: dict[str, str], limits: Object, added: dict[str, str]) -> Iterator[str]:
    """Yield the annotations that the settings haven't added, and don't let a Service have copied."""
    by_settings = annotations.get("ingress/added-by-settings", "").split(", ")
    copied: dict[str, Any] = limits.get(
        "copyAnnotations", {key: "any" for key, known in KNOWN.items() if known.by_default}
    )
    for key, value in annotations.items():
        if key in OURS or key in by_settings or added.get(key) == value:
            continue
        if key in added or key not in copied or (copied[key] != "any" and value not in copied[key]):
            yield f"annotation {key}"
        elif key in KNOWN and not re.fullmatch(KNOWN[key].pattern, value):
            yield f"value of {key}"


def is_within(host: str, patterns: list[str]) -> bool:
    """Return whether every host that `host` matches is one of `patterns`."""
    # For a wildcard: a host directly below its domain, and one further below.
    return (
        all(
            any(matched == p or (p.startswith("*.") and matched.endswith(p[1:])) for p in patterns)
            for matched in {host.replace("*", "x", 1), host.replace("*", "x.y", 1)}
        )
        or host in patterns
    )
