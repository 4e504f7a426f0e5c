"""Taken: what answers now, and would not by other settings, or for another Service; and what keeps it.

Hosts and paths are compared as `claims` does: a class, or a listener of a Gateway, answers for itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from ingress_manager.commands.annotating.annotated import annotated_for
from ingress_manager.commands.audit.claims import Claim, claims_of
from ingress_manager.commands.plans.steps import annotating, unseen
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.drift import merged
from ingress_manager.commands.view.ingresses import backends_in
from ingress_manager.commands.view.known import Unknown
from ingress_manager.commands.view.look import ServiceView, View
from ingress_manager.commands.view.objects import ObjectView, as_object, is_being_deleted
from ingress_manager.core.decide import RemovedFirst
from ingress_manager.core.entrances import entrance_for
from ingress_manager.core.errors import Refused
from ingress_manager.core.kubernetes import Ingress, Object
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed

Answers = Mapping[Claim, set[str]]
"""The Services, as namespace/name, that answer what is claimed."""

BOTH_FIRST = "allow the old beside the new, until nobody asks for it"


@dataclass(frozen=True, slots=True)
class Taken:
    """A host and a path at which a Service answers, and what would become of them."""

    service: str
    """As namespace/name."""

    url: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What to do before the settings are changed, so that nothing is taken from a Service."""

    service: str
    sentence: str
    command: Command = ()


def taken(view: View, policy: Policy) -> tuple[list[Taken], list[Kept]]:
    """Return what the settings of a view would take, by Service and then by host and path, and what keeps it."""
    services = view.services.items()
    ours = {key: label for label, service in services for key in service.observed}
    after = {label: list(stands_after(view, service)) for label, service in services}
    others = [(each, "") for key, each in view.objects.items() if key not in ours]
    now = answers([*others, *((each, label) for label, service in services for each in service.observed.values())])
    then = answers([*others, *((each, label) for label, objects in after.items() for each in objects)])
    carved = [(claim, before) for claim in then.keys() - now.keys() if (before := answering(claim, now))]
    lost: list[Taken] = []
    kept: list[Kept] = []
    for label, service in sorted(services):
        found = {claim: answer(then[claim]) for claim, by in carved if label in by and label not in then[claim]}
        objects: list[ObjectView] = []
        for each in service.observed.values():
            if entrance_for(service.service, each.key) not in service.entrances:
                continue  # the Service has turned it off: no settings take it
            own = dict(fates(view, each, label, then))
            found |= own
            objects += [each] if own else []
        urls = dict.fromkeys((str(claim), found[claim]) for claim in sorted(found))
        lost += [Taken(label, url, sentence) for url, sentence in urls]
        kept += dict.fromkeys(keeping(view, service, objects, policy))
    return lost, kept


def answers(objects: Iterable[tuple[ObjectView, str]]) -> dict[Claim, set[str]]:
    """Return what answers where: each object comes with the Service that it was made for, "" for a stranger's."""
    found: dict[Claim, set[str]] = {}
    for each, label in objects:
        backends = backends_in(each.typed.spec) if not label and isinstance(each.typed, Ingress) else ()
        services = (f"{each.item.namespace}/{backend.service.name}" if backend.service else "" for backend in backends)
        for claim, service in zip_longest(claims_of(each), services):
            found.setdefault(claim, set()).add(label or service or str(each))
    return found


def stands_after(view: View, service: ServiceView) -> Iterator[ObjectView]:
    """Yield what stands for a Service in the end, once all that the settings forbid is gone."""
    if isinstance(service.decision, Refused | Unknown) or is_being_deleted(service.item):
        yield from service.observed.values()
        return
    for key, desired in view.anew(service).items():
        if each := service.observed.get(key):
            yield changed(each, desired)
        elif key not in view.objects:
            yield as_object(Item(desired, service.item.origin))  # type: ignore[misc]


def changed(observed: ObjectView, desired: Object) -> ObjectView:
    """Return an object as Metacontroller would make it; as it is where it can't."""
    try:
        then = merged(observed.item, desired)
    except ValueError:
        return observed
    metadata = {**observed.item.metadata, **then["metadata"]}
    item = Item({**observed.item.object, "metadata": metadata, "spec": then["spec"]}, observed.item.origin)
    found = as_object(item)
    return found if isinstance(found, ObjectView) else observed


def fates(view: View, each: ObjectView, label: str, then: Answers) -> Iterator[tuple[Claim, str]]:
    """Yield what would become of each claim of an object that a Service, `label`, would not answer all the time."""
    service = view.services[label]
    anew = isinstance(service.decision, RemovedFirst) and not service.refused and each.key not in service.desired
    for claim in claims_of(each):
        by = answering(claim, then)
        elsewhere = [called(other) for other in then if other[1:] == claim[1:] and label in then[other]]
        if label in by:
            if anew:
                yield claim, f"nothing would answer until {each} is made anew"
        elif by:
            yield claim, answer(by)
        elif elsewhere:
            yield claim, f"{listed(elsewhere)} would answer, and {called(claim)} no more"
        else:
            yield claim, "nothing would answer"


def answer(services: Iterable[str]) -> str:
    return f"{listed(sorted(services))} would answer"


def answering(claim: Claim, answers: Answers) -> set[str]:
    """Return the Services that answer what is claimed: by the same claim, or else by the nearest prefix around it."""
    if claim in answers:
        return answers[claim]
    hosts = dict.fromkeys((claim.host, f"*.{claim.host.partition('.')[2]}", ""))
    parts = claim.path.rstrip("/").split("/")
    paths = ["/".join(parts[:count]) or "/" for count in range(len(parts), 0, -1)]
    around = (claim._replace(host=host, path=path, is_exact=False) for host in hosts for path in paths)
    return next((answers[each] for each in around if each in answers), set())


def called(claim: Claim) -> str:
    """Return what a person calls the class or the Gateway that a claim is among."""
    kind, name, *_ = claim.among
    if kind == INGRESS:
        return f"class {name}" if name else "the cluster's default class"
    return f"{kind} {name}/{claim.among[2]}"


def keeping(view: View, service: ServiceView, objects: Iterable[ObjectView], policy: Policy) -> Iterator[Kept]:
    """Yield what keeps objects of a Service as they are, the settings that come notwithstanding."""
    label = service.item.full_name
    forbidden = view.forbidden(service)
    for each in objects:
        if not isinstance(each.typed, Ingress):
            yield Kept(label, BOTH_FIRST)
            continue
        entrance = entrance_for(service.service, each.key)
        asked = annotated_for(each.item, each.typed.spec, service.service, policy.without_pause(), entrance)
        claims = set(claims_of(changed(each, asked.ingress))) if asked.ingress else set()
        if asked.refused:
            yield Kept(label, f"{BOTH_FIRST}: {asked.refused.line()}")
        elif each.key in forbidden:
            yield Kept(label, f"{BOTH_FIRST}: {forbidden[each.key].sentence}")
        elif claims != set(claims_of(each)) or not only_adds(service.item, asked.annotations):
            yield Kept(label, BOTH_FIRST)
        else:
            change = annotating(service.item, asked.annotations).command
            yield Kept(label, f"let it ask itself for what {each} has", change)


def only_adds(service: Item, annotations: Mapping[str, str | None]) -> bool:
    """Return whether a command can make these changes of annotations, and only adds some.

    It is run before the settings are changed: what it took off or replaced could be what something answers by now.
    """
    adds = all(value is not None and key not in service.annotations for key, value in annotations.items())
    return bool(annotations) and adds and not any(unseen(service, annotations))
