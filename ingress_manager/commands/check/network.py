"""`check`: the NetworkPolicy of the hook. The pure part."""

from collections.abc import Iterator, Mapping
from typing import Any

from ingress_manager.commands.check.hook import ports_of
from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong
from ingress_manager.commands.check.seen import Seen
from ingress_manager.commands.reading.manifests import Item, at, mappings


def network(seen: Seen) -> Iterator[Line]:
    """Yield whether a NetworkPolicy lets Metacontroller alone ask the hook."""
    labels = at(seen.hook, "spec", "template", "metadata", "labels")
    if not isinstance(labels, dict):
        return
    policies = [
        each
        for each in seen.of_kind("NetworkPolicy", seen.installation.namespace)
        if selects(at(each, "spec", "podSelector"), labels) and "Ingress" in (at(each, "spec", "policyTypes") or ())
    ]
    if not policies:
        yield warning("no NetworkPolicy selects the hook's Pods: any Pod may ask it, and use up its connections")
        return
    names = f"NetworkPolicy {', '.join(each.full_name for each in policies)}"
    rules = [rule for each in policies for rule in mappings(at(each, "spec", "ingress"))]
    engines = seen.engines()
    shut = [each for each in engines if not any(admits(rule, each, seen) for rule in rules)]
    if shut and "Namespace" in seen.unread:
        yield unknown(f"the labels of Metacontroller's namespace could not be looked at: {seen.unread['Namespace']}")
    elif shut:
        yield wrong(
            f"{names} keeps {shut[0]} from asking the hook", "Let its Pods in: metacontroller/README.md says how."
        )
    elif any(not rule.get("from") for rule in rules):
        yield warning(f"{names} lets every Pod ask the hook", "Let in Metacontroller alone.")
    elif engines:
        yield ok(f"{names} lets Metacontroller ask the hook, and not everybody")
    else:
        yield unknown(f"{names} is there; nothing was found that runs Metacontroller, to let in")


def admits(rule: Mapping[str, Any], engine: Item, seen: Seen) -> bool:
    """Return whether a rule of a NetworkPolicy lets the Pods of a Deployment ask the hook."""
    ports = mappings(rule.get("ports"))
    if ports and not any("port" not in port or port["port"] in ports_of(seen.hook) for port in ports):
        return False
    labels = at(engine, "spec", "template", "metadata", "labels") or {}
    namespace = seen.one("Namespace", engine.namespace)
    names = {**(namespace.labels if namespace else {}), "kubernetes.io/metadata.name": engine.namespace}
    peers = mappings(rule.get("from"))
    same = engine.namespace == seen.installation.namespace
    return not peers or any(
        (selects(peer["namespaceSelector"], names) if "namespaceSelector" in peer else same)
        and selects(peer.get("podSelector") or {}, labels)
        for peer in peers
        if "ipBlock" not in peer
    )


def selects(selector: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a label selector of Kubernetes fits."""
    if not isinstance(selector, dict) or not (selector.get("matchLabels") or {}).items() <= labels.items():
        return False
    return all(
        {
            "In": labels.get(each["key"]) in each.get("values", ()),
            "NotIn": labels.get(each["key"]) not in each.get("values", ()),
            "Exists": each["key"] in labels,
            "DoesNotExist": each["key"] not in labels,
        }[each["operator"]]
        for each in mappings(selector.get("matchExpressions"))
    )
