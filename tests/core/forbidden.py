"""What the settings forbid in an Ingress or an HTTPRoute, judged anew: independent of how the core judges it.

The settings are taken as plain values, as YAML states them, and the object as JSON.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from devcluster.sync_requests import Object
from ingress_manager.core.vocabulary import KNOWN

OURS = {"ingress/not-copied", "ingress/added-by-settings", "ingress/profile"}
RIGHT_PATHS = {
    "Prefix": re.compile("/[A-Za-z0-9/._~!&,=:@%-]*"),
    "Exact": re.compile("/[A-Za-z0-9/._~!&,=:@%-]*"),
    "ImplementationSpecific": re.compile(r"/[!$%&()*+,\-./0-9:<=>?@A-Z\[\\\]^_a-z{|}~]*"),
}
"""The paths of each type: a pattern to no controller, or what ends no word of a controller's configuration."""

MANAGED_BY = {"app.kubernetes.io/managed-by": "ingress-manager"}


def stated(policy: msgspec.Struct) -> Object:
    """Return the settings as plain values, as a YAML file would hold them."""
    made: Object = msgspec.to_builtins(policy)
    return made


def entry_of(settings: Object, namespace: str) -> Object:
    """Return the entry of a namespace: of its name, else of the longest pattern, the first of equal ones."""
    entries: Object = settings.get("namespaces", {})
    fitting = [name for name in entries if re.fullmatch(name.replace("*", ".*"), namespace)]
    fitting.sort(key=lambda name: ("*" in name, -len(name), name))
    found: Object = entries[fitting[0]] if fitting else {}
    return found


def limits_in(settings: Object, namespace: str) -> Object:
    """Return the limits in a namespace: each is its own, else the general one."""
    own = entry_of(settings, namespace)
    limits: Object = settings.get("limits", {}) | own.get("limits", {})
    return limits


def defaults_in(settings: Object, namespace: str, profile: str | None) -> Object:
    """Return what holds where a Service says nothing: that of the profile, else the namespace's, else the general.

    Without a profile, it is the default one.
    """
    own = entry_of(settings, namespace)
    layers: list[Object] = [settings.get("defaults", {}), own.get("defaults", {})]
    name = profile or (layers[0] | layers[1]).get("profile")
    layers.append(settings.get("profiles", {}).get(name, {}))
    found: Object = {}
    for layer in layers:
        found = found | layer | {"tls": found.get("tls", {}) | layer.get("tls", {})}
    return found


def is_allowed(value: Any, limit: Any) -> bool:
    """Return whether a limit allows a value: it is the word any, or a list with the value."""
    return limit == "any" or value in limit


def forbidden(made: Object, settings: Object, parent: Object) -> Iterator[str]:
    """Yield what is in the Ingress, or the HTTPRoute, of the Service `parent` though `settings` forbid it."""
    if parent["spec"].get("type") == "ExternalName":
        yield "the Service is an ExternalName"
    namespace, annotations = made["metadata"]["namespace"], made["metadata"].get("annotations", {})
    limits, profile = limits_in(settings, namespace), annotations.get("ingress/profile")
    if profile is not None and not is_allowed(profile, limits.get("profiles", "any")):
        yield f"profile {profile}"
    yield from forbidden_places(made, settings, limits)
    for path_type, path in paths_of(made):
        if path_type not in limits.get("pathTypes", ["Prefix", "Exact"]):
            yield f"path type {path_type}"
        if not RIGHT_PATHS[path_type].fullmatch(path):
            yield f"path {path}"
    defaults = defaults_in(settings, namespace, profile)
    added = {**defaults.get("annotations", {}), **defaults["tls"].get("annotations", {})}
    yield from forbidden_annotations(annotations, limits, added)


def forbidden_places(made: Object, settings: Object, limits: Object) -> Iterator[str]:
    """Yield the hosts, the class and the listeners that the settings forbid."""
    namespace, hosts = made["metadata"]["namespace"], limits.get("hosts", "any")
    for host in hosts_of(made):
        if hosts != "any" and not is_within(host, [pattern.replace("{namespace}", namespace) for pattern in hosts]):
            yield f"host {host}"
    by_annotation = made["metadata"].get("annotations", {}).get("kubernetes.io/ingress.class")
    ingress_class = made["spec"].get("ingressClassName", by_annotation)
    if made["kind"] == "Ingress" and not is_allowed(ingress_class, limits.get("classes", "any")):
        yield f"class {ingress_class}"
    if made["kind"] == "HTTPRoute":
        gateways = list(gateways_in(settings, namespace))
        for ref in made["spec"]["parentRefs"]:
            if not any(leads_to(gateway, ref) for gateway in gateways):
                yield f"listener {ref}"


def gateways_in(settings: Object, namespace: str) -> Iterator[Object]:
    """Yield the Gateways that the settings lead to in a namespace: by a profile that is allowed, or by none."""
    for stated in (own_defaults(settings, namespace), *usable_profiles(settings, namespace).values()):
        if stated.get("gateway"):
            yield stated["gateway"]


def own_defaults(settings: Object, namespace: str) -> Object:
    """Return the defaults in a namespace without a profile."""
    own = entry_of(settings, namespace)
    defaults: Object = settings.get("defaults", {}) | own.get("defaults", {})
    return defaults


def usable_profiles(settings: Object, namespace: str) -> dict[str, Object]:
    """Return the profiles that a Service of a namespace may have."""
    limit = limits_in(settings, namespace).get("profiles", "any")
    return {name: profile for name, profile in settings.get("profiles", {}).items() if is_allowed(name, limit)}


def lacking(made: Object, settings: Object) -> Iterator[str]:
    """Yield what the Ingress, or the HTTPRoute, lacks of what the settings give all that is made now."""
    namespace, name = made["metadata"]["namespace"], made["metadata"].get("annotations", {}).get("ingress/profile")
    own, usable = own_defaults(settings, namespace), usable_profiles(settings, namespace)
    if name is None and own.get("profile") and limits_in(settings, namespace).get("profiles", "any") != "any":
        yield "a profile"
    if made["kind"] == "Ingress":
        if name in usable and usable[name].get("filters") and "ingress" not in usable[name]["outputs"]:
            yield "filters"
        return
    stated = [*usable.values()] if own.get("profile") else [*usable.values(), {}]
    if not any("httproute" in (own | each).get("outputs", []) for each in stated):
        yield "an output"
    if name in usable:
        profile = json.loads(json.dumps(usable[name]))
        for rule in made["spec"]["rules"]:
            for field in ("filters", "timeouts") if "backendRefs" in rule else ():
                if rule.get(field) != (profile.get(field) or None):
                    yield field


def leads_to(gateway: Object, ref: Object) -> bool:
    """Return whether a parentRef names a listener of the Gateway."""
    sections = {gateway.get("http", "http"), gateway.get("https", "https")}
    same = (ref["namespace"], ref["name"]) == (gateway["namespace"], gateway["name"])
    return same and ref["sectionName"] in sections


def unexplained(made: Object, settings: Object, parent: Object) -> Iterator[str]:
    """Yield what a new Ingress or HTTPRoute has from nowhere: not from the settings, and not from the Service."""
    metadata = made["metadata"]
    annotations = metadata.get("annotations", {})
    defaults = defaults_in(settings, metadata["namespace"], annotations.get("ingress/profile"))
    with_tls = defaults["tls"].get("annotations", {}) if made["kind"] == "Ingress" and "tls" in made["spec"] else {}
    for key, value in annotations.items():
        added = {**defaults.get("annotations", {}), **with_tls}
        if key not in OURS and value != added.get(key, parent["metadata"]["annotations"].get(key)):
            yield f"annotation {key}"
    added = {**defaults.get("labels", {}), **MANAGED_BY}
    for key, value in metadata["labels"].items():
        if value != added.get(key):
            yield f"label {key}"
    yield from (f"no label {key}" for key in added if key not in metadata["labels"])


def hosts_of(made: Object) -> list[str]:
    """Return the hosts of an Ingress or an HTTPRoute; "*" stands for every host."""
    spec = made["spec"]
    if made["kind"] == "HTTPRoute":
        return list(spec.get("hostnames", ["*"]))
    hosts = [rule.get("host", "*") for rule in spec.get("rules", [])] + ["*"] * ("defaultBackend" in spec)
    return hosts + [host for tls in spec.get("tls", []) for host in tls.get("hosts", ["*"])]


def paths_of(made: Object) -> list[tuple[str, str]]:
    """Return the type of each path of an Ingress or an HTTPRoute, as an Ingress calls it, and the path."""
    rules = made["spec"].get("rules", [])
    if made["kind"] == "HTTPRoute":
        words = {"PathPrefix": "Prefix", "Exact": "Exact"}
        paths = [match["path"] for rule in rules for match in rule["matches"]]
        return [(words[path["type"]], path["value"]) for path in paths]
    return [(path["pathType"], path["path"]) for rule in rules for path in rule["http"]["paths"]]


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
    if host == "*":
        return host in patterns
    # For a wildcard: a host directly below its domain, and one further below.
    return (
        all(
            any(matched == p or (p.startswith("*.") and matched.endswith(p[1:])) for p in patterns)
            for matched in {host.replace("*", "x", 1), host.replace("*", "x.y", 1)}
        )
        or host in patterns
    )
