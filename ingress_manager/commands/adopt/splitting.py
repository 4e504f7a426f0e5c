"""Splitting: what can be done with an Ingress that isn't that of one Service, of the same name: it can't be adopted.

Each Service gets an Ingress of its own beside the old one. For a time both lead to the same Services: no request fails.
"""

from collections.abc import Collection, Iterator

import msgspec

from ingress_manager.commands.annotating.annotated import Annotated, annotated_for, annotated_with, left_behind
from ingress_manager.commands.plans.plan import Step
from ingress_manager.commands.plans.steps import annotating, kubectl, patch, unseen, wait
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.view.entrances import ingress_of
from ingress_manager.commands.view.ingresses import covers, default_port_of, services_of
from ingress_manager.commands.view.typed import as_service
from ingress_manager.core.annotations import LONGEST_ENTRANCE, PROFILE, is_entrance_name, read_entrances
from ingress_manager.core.kubernetes import IngressSpec, Service
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed

WEBHOOK = "ingress-nginx's admission webhook, where there is one, denies a host and path that another Ingress has."


def split(item: Item, spec: IngressSpec, manifests: Manifests, policy: Policy) -> Iterator[Step]:
    """Yield the steps that give each Service its own Ingress, and take the old one away at the end.

    `manifests` hold all the Services and Ingresses of the namespace. Notes tell what would be different.
    """
    names = services_of(spec)
    own = [own_ingress(name, item, part(spec, name), manifests, policy) for name in names if name != item.name]
    yield from (Step(notes=[WEBHOOK]), *own)
    if not any(step.command for step in own):
        return
    if not all(step.command for step in own):
        yield Step(notes=["Take the paths that have moved out of the old Ingress. It stays for the others."])
    elif item.name in names:
        yield Step(without_others(item, spec))
        yield Step(("ingress-manager", "adopt", item.label, "--apply"))
    else:
        yield Step(kubectl("delete", item))


def own_ingress(name: str, item: Item, spec: IngressSpec, manifests: Manifests, policy: Policy) -> Step:
    """Return the step that gives a Service an Ingress of its own, which says what `spec` says.

    A Service that has an Ingress gets another entrance: what it has stays as it is. The step has no command, and says
    why, where the paths to the Service stay in the old Ingress.
    """
    label = f"{item.namespace}/{name}"
    found = next((each for each in manifests.of_kind(SERVICES) if each.label == label), None)
    service = as_service(found) if found else None
    if found is None or service is None or isinstance(service, list):
        return Step(notes=[f"There is no Service {name} that could be annotated."])
    taken = [each.name for each in manifests.of_kind(INGRESSES) if each.namespace == item.namespace]
    asked = asked_beside(item, spec, service, taken, policy)
    if reason := why_none(found, asked):
        return Step(notes=[f"Service {name} {reason}"])
    left = left_behind(item.annotations, asked)
    notes = [f"Ingress {asked.name} lacks {listed(left)}"] if left else []
    notes += [f"Ingress {asked.name} differs: {change.field}: {change.sentence}" for change in asked.changes]
    if asked.name != name and (left or not all(change.is_served_alike for change in asked.changes)):
        # What only this one Ingress has is lost when it goes, and what is copied from the Service, all its others get.
        profile = f"{asked.name.removeprefix(f'{name}.')}.{PROFILE}"
        return Step(notes=[*notes, f"So it isn't made. A profile of the settings could say the rest: {profile}."])
    stands = wait(found, "create", asked.name)
    if not asked.annotations:
        return Step(stands, notes=notes)
    # What the Service has asked for since would be another Ingress with these annotations.
    return annotating(found, asked.annotations, stands, version=True, notes=notes)


def why_none(service: Item, asked: Annotated) -> str:
    """Return why a Service can't be given an Ingress; empty when it can."""
    if asked.refused:
        return f"can't have one: {asked.refused.line()}"
    if asked.ingress is None:
        return "has a profile by which it gets no Ingress: see outputs."
    wrong = next(unseen(service, asked.annotations), None)
    return f"can't be annotated by a command: {wrong.sentence}" if wrong else ""


def asked_beside(item: Item, spec: IngressSpec, service: Service, taken: Collection[str], policy: Policy) -> Annotated:
    """Return how a Service asks for what `spec` says without a change of what it asks for already.

    `taken` are the names of the Ingresses that stand.
    """
    name = service.metadata.name
    entrances = [*read_entrances(service.metadata.annotations or {})]
    for entrance in entrances:
        asked = annotated_with(item, spec, service, policy, {}, entrance)
        if asked.ingress and not asked.changes and not left_behind(item.annotations, asked):
            return asked
    if "" not in entrances and name not in taken:
        return annotated_for(item, spec, service, policy)
    words = (without(item.name, name), spec.ingress_class_name or "", "also")
    free = (
        word
        for word in (word[:LONGEST_ENTRANCE].strip("-") for word in (*words, *map("also-{}".format, range(2, 99))))
        if is_entrance_name(word) and word not in entrances and ingress_of(word, name) not in taken
    )
    return annotated_for(item, spec, service, policy, next(free))


def without(name: str, service: str) -> str:
    """Return what remains of the name of an Ingress without that of its Service, as a word; "" when nothing does."""
    return f"-{name}-".replace(".", "-").replace(f"-{service}-", "-", 1).strip("-")


def without_others(item: Item, spec: IngressSpec) -> Command:
    """Return the command that leaves in an Ingress only what leads to the Service of its name."""
    own = part(spec, item.name)
    rest = msgspec.to_builtins(own)
    change = {"rules": rest["rules"], **({"tls": rest.get("tls")} if spec.tls else {})}
    if spec.default_backend and not own.default_backend:
        change["defaultBackend"] = None
    version = item.metadata.get("resourceVersion")
    metadata = {"metadata": {"resourceVersion": version}} if version else {}
    return patch(item, {**metadata, "spec": change})


def part(spec: IngressSpec, service: str) -> IngressSpec:
    """Return a spec with only what leads to one Service."""
    rules = []
    for rule in spec.rules or ():
        paths = [
            path
            for path in (rule.http.paths if rule.http else ())
            if path.backend.service and path.backend.service.name == service
        ]
        if rule.http and paths:
            rules.append(msgspec.structs.replace(rule, http=msgspec.structs.replace(rule.http, paths=paths)))
    default = spec.default_backend if default_port_of(service, spec) is not None else None
    hosts, every = {rule.host for rule in rules}, {rule.host for rule in spec.rules or ()}
    # A certificate for a host of no rule is used by what answers every host, if anything does.
    rest = "" in hosts or bool(default) or not ("" in every or (spec.default_backend and spec.default_backend.service))
    tls = [
        msgspec.structs.replace(entry, hosts=own or None)
        for entry in spec.tls or ()
        if (own := [host for host in entry.hosts or () if covers(host, hosts) or (rest and not covers(host, every))])
        or not entry.hosts
    ]
    return msgspec.structs.replace(spec, default_backend=default, rules=rules or None, tls=tls or None)
