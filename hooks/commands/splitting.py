"""Splitting: what can be done with an Ingress that isn't that of one Service, of the same name: it can't be adopted.

Each Service gets an Ingress of its own beside the old one. For a time both lead to the same Services: no request fails.
"""

from collections.abc import Iterator, Mapping
from shlex import quote

import msgspec

from hooks.commands.asking import ask
from hooks.commands.findings import Finding
from hooks.commands.ingresses import Spec
from hooks.commands.manifests import Item
from hooks.commands.services import as_service
from hooks.commands.steps import annotate, patch, shown
from hooks.policy import Policy

WEBHOOK = "# ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has."


def split(item: Item, spec: Spec, services: Mapping[str, Item], policy: Policy) -> Iterator[str]:
    """Yield the lines of a script that gives each Service its own Ingress, and takes the old one away at the end.

    `services` are all there are, by namespace/name. A line that begins with # tells of what the script leaves out.
    """
    own, names = f"--namespace={item.namespace}", spec.services()
    yield WEBHOOK
    for name in names:
        if name != item.name:
            yield from own_ingress(name, item, spec, services, policy)
    if item.name not in names:
        yield shown(("delete", "ingress", item.name, own))
        return
    rest = msgspec.to_builtins(part(spec, item.name))
    change = {"rules": rest["rules"], **({"tls": rest.get("tls")} if spec.tls else {})}
    version = item.metadata.get("resourceVersion")
    yield shown(patch(item, {**({"metadata": {"resourceVersion": version}} if version else {}), "spec": change}))
    yield f"ingress-manager adopt {quote(item.label)} --apply"


def own_ingress(name: str, item: Item, spec: Spec, services: Mapping[str, Item], policy: Policy) -> Iterator[str]:
    """Yield the lines that give one of the Services an Ingress of its own."""
    service_item = services.get(f"{item.namespace}/{name}")
    service = as_service(service_item) if service_item else None
    if service_item is None or service is None or isinstance(service, Finding):
        yield f"# There is no Service {name}: nothing is lost with its paths."
        return
    if not spec.routes(name):
        yield f"# Service {name} has no rule with a host, and no annotation can ask for that: its paths are lost."
        return
    asked = ask(part(spec, name), item.annotations, service, policy)
    if asked.ingress is None:
        said = asked.decision.refused.line() if asked.decision.refused else "the settings give it no Ingress"
        yield f"# Service {name} can't have one: {said}"
        return
    yield from (f"# The new one is different: {change.field}: {change.sentence}" for change in asked.changes)
    yield shown(annotate(service_item, asked.annotations, version=False))
    yield shown(("wait", "--for=create", f"ingress/{name}", f"--namespace={item.namespace}", "--timeout=60s"))


def part(spec: Spec, service: str) -> Spec:
    """Return what of a spec leads to one Service."""
    rules = []
    for rule in spec.rules or ():
        paths = [
            path
            for path in (rule.http.paths if rule.http else ())
            if path.backend.service and path.backend.service.name == service
        ]
        if rule.http and paths:
            rules.append(msgspec.structs.replace(rule, http=msgspec.structs.replace(rule.http, paths=tuple(paths))))
    hosts = {rule.host for rule in rules}
    tls = [
        msgspec.structs.replace(entry, hosts=tuple(host for host in entry.hosts or () if host in hosts) or None)
        for entry in spec.tls or ()
        if not entry.hosts or hosts.intersection(entry.hosts)
    ]
    return Spec(spec.ingress_class_name, None, tuple(rules), tuple(tls) or None)
