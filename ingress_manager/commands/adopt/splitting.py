"""Splitting: what can be done with an Ingress that isn't that of one Service, of the same name: it can't be adopted.

Each Service gets an Ingress of its own beside the old one. For a time both lead to the same Services: no request fails.
"""

from collections.abc import Iterator, Mapping

import msgspec

from ingress_manager.commands.annotating.annotated import annotated_for, left_behind
from ingress_manager.commands.plans.plan import Step
from ingress_manager.commands.plans.steps import annotating, kubectl, patch, unseen, wait
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import routes_to, services_of
from ingress_manager.commands.view.typed import as_service
from ingress_manager.core.kubernetes import IngressSpec
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed

WEBHOOK = "ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has."


def split(item: Item, spec: IngressSpec, services: Mapping[str, Item], policy: Policy) -> Iterator[Step]:
    """Yield the steps that give each Service its own Ingress, and take the old one away at the end.

    `services` are all there are, by namespace/name. Notes tell what would be different.
    """
    names = services_of(spec)
    rest = spec if item.name not in names else msgspec.structs.replace(spec, default_backend=None)
    own = [own_ingress(name, item, part(rest, name), services, policy) for name in names if name != item.name]
    yield from (Step(notes=[WEBHOOK]), *own)
    if not all(step.command for step in own):
        yield Step(notes=["Take the paths that have moved out of the old Ingress. It stays for the others."])
    elif item.name in names:
        yield Step(without_others(item, spec))
        yield Step(("ingress-manager", "adopt", item.label, "--apply"))
    else:
        yield Step(kubectl("delete", item))


def own_ingress(name: str, item: Item, spec: IngressSpec, services: Mapping[str, Item], policy: Policy) -> Step:
    """Return the step that gives a Service an Ingress of its own, which says what `spec` says.

    It has no command, and says why, where the paths to the Service stay in the old Ingress.
    """
    found = services.get(f"{item.namespace}/{name}")
    service = as_service(found) if found else None
    if found is None or service is None or isinstance(service, list):
        return Step(notes=[f"There is no Service {name} that could be annotated."])
    if len(routes_to(name, spec)) < len(list(spec.paths())):
        return Step(notes=[f"A rule without a host leads to Service {name}, and no annotation can ask for that."])
    asked = annotated_for(item, spec, service, policy)
    if asked.refused:
        return Step(notes=[f"Service {name} can't have one: {asked.refused.line()}"])
    if asked.ingress is None:
        return Step(notes=[f"Service {name} has a profile by which it gets no Ingress: see outputs."])
    if wrong := list(unseen(found, asked.annotations)):
        return Step(notes=[f"Service {name} can't be annotated by a command: {wrong[0].sentence}"])
    left = left_behind(item.annotations, asked)
    notes = [f"Ingress {name} lacks {listed(left)}"] if left else []
    notes += [f"Ingress {name} differs: {change.field}: {change.sentence}" for change in asked.changes]
    return annotating(found, asked.annotations, wait(found, "create"), notes=notes)


def without_others(item: Item, spec: IngressSpec) -> Command:
    """Return the command that leaves in an Ingress only what leads to the Service of its name."""
    rest = msgspec.to_builtins(part(spec, item.name))
    change = {"rules": rest["rules"], **({"tls": rest.get("tls")} if spec.tls else {})}
    version = item.metadata.get("resourceVersion")
    metadata = {"metadata": {"resourceVersion": version}} if version else {}
    return patch(item, {**metadata, "spec": change})


def part(spec: IngressSpec, service: str) -> IngressSpec:
    """Return a spec with only those paths that lead to one Service."""
    rules = []
    for rule in spec.rules or ():
        paths = [
            path
            for path in (rule.http.paths if rule.http else ())
            if path.backend.service and path.backend.service.name == service
        ]
        if rule.http and paths:
            rules.append(msgspec.structs.replace(rule, http=msgspec.structs.replace(rule.http, paths=paths)))
    hosts = {rule.host for rule in rules}
    tls = [
        msgspec.structs.replace(entry, hosts=[host for host in entry.hosts or () if host in hosts] or None)
        for entry in spec.tls or ()
        if not entry.hosts or hosts.intersection(entry.hosts)
    ]
    return msgspec.structs.replace(spec, rules=rules, tls=tls or None)
