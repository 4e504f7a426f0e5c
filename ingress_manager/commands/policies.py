"""Admission policies that enforce the settings' limits on hosts and classes for all routes, even hand-written ones."""

import json
from pathlib import Path

import click
import yaml

from ingress_manager.core.copying import ANY
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.settings import NamespaceSettings, Settings

LABELS = {"app.kubernetes.io/name": "ingress-manager", "app.kubernetes.io/component": "limits"}
ACTIONS = {"deny": ["Deny"], "warn": ["Warn", "Audit"]}

LONGEST, LONGEST_ENTRY = 100_000, 25_000
"""The maximum length, in characters, of all limits (enough for 1,000 two-host entries) and of one entry (800 hosts).
cel-go can't parse longer expressions, and checking 100 hosts against a longer entry would exceed CEL's cost limit."""


def policies_of(settings: Settings, action: str = "deny") -> list[Object]:
    """Return admission policies for the settings' limits, each with its binding; [] if there are no limits.

    `action` is "deny" or "warn". Raises click.UsageError if the limits are too long for policies.
    """
    limits = {key: limits_of(entry) for key, entry in {"": settings, **settings.namespaces}.items()}
    if all(limit == {"exact": [ANY], "endings": [], "classes": [ANY]} for limit in limits.values()):
        return []
    patterns = [pattern.split("*") for pattern in settings.namespace_patterns]
    literals = {"limits": json.dumps(limits), "patterns": json.dumps(patterns)}
    key = max(limits, key=lambda key: len(json.dumps(limits[key])))
    if len(literals["limits"]) > LONGEST or len(json.dumps(limits[key])) > LONGEST_ENTRY:
        where = f"namespaces.{key}.limits" if key else "limits"
        most = f"{LONGEST:,} characters of limits, and {LONGEST_ENTRY:,} in one entry"
        raise click.UsageError(f"{where}: the limits are too long for admission policies, which can contain {most}")
    parts = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    objects: list[Object] = []
    for part in parts["policies"]:
        variables = {**parts["variables"], **literals, "hosts": part["hosts"], **part.get("variables", {})}
        rule = {"apiGroups": [part["group"]], "apiVersions": ["*"], "resources": part["resources"]}
        policy = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule | {"operations": ["CREATE", "UPDATE"]}]},
            "variables": [{"name": name, "expression": expression} for name, expression in variables.items()],
            "validations": [*parts["validations"], *part.get("validations", ())],
        }
        name = f"ingress-manager-limits-{part['resources'][0]}"
        for kind, spec in (("", policy), ("Binding", {"policyName": name, "validationActions": ACTIONS[action]})):
            head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"ValidatingAdmissionPolicy{kind}"}
            objects.append({**head, "metadata": {"name": name, "labels": LABELS}, "spec": spec})
    return objects


def limits_of(entry: NamespaceSettings) -> dict[str, list[str]]:
    """Return an entry's limits: `exact` hosts, the `endings` of wildcard hosts, and `classes`. [ANY] means no limit."""
    both = entry.limits.hosts, entry.limits.classes
    hosts, classes = ([str(limit)] if isinstance(limit, str) else [*limit] for limit in both)
    wildcards = [host for host in hosts if host.startswith("*.")]
    exact = [host for host in hosts if host not in wildcards]
    return {"exact": exact, "endings": [host[1:] for host in wildcards], "classes": classes}
