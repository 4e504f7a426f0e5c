"""`status SERVICE`: what one Service asks for, what stands, what happened, and what to do. The pure part."""

from collections.abc import Iterable, Iterator, Sequence

from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.audit.why import service_of
from ingress_manager.commands.printing.columns import INDENT, command_lines, wrapped
from ingress_manager.commands.reading.kinds import SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reasons import REASONS
from ingress_manager.commands.status.printing import line_of
from ingress_manager.commands.status.states import Row
from ingress_manager.commands.view.entrances import keys_of
from ingress_manager.commands.view.events import EVENTS, about_whom, report_of
from ingress_manager.commands.view.look import ServiceView, View
from ingress_manager.commands.view.objects import backends_of
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import one_line, quoted

NOTHING = "nothing was found"
WIDEST = 100
"""The columns that a sentence of the docs takes at most."""

MOST_EVENTS = 5
"""Events that are told, the newest first."""


def told(  # noqa: PLR0913, PLR0917 - each is told
    service: ServiceView,
    rows: Iterable[Row],
    view: View,
    findings: Iterable[Finding],
    events: Iterable[Item],
    unseen: Sequence[str],
    options: Sequence[str] = (),
    width: int = 0,
) -> str:
    """Return all that is known of a Service, for a terminal; `unseen` says what could not be looked at.

    Lines are broken at words to be no longer than a `width` over 0.
    """
    ours = [finding for finding in findings if _is_about(finding, service)]
    parts = (
        ("asks for", _lines(_asked_for(service, view), width)),
        ("stands", _lines(_standing(service, rows, view), width)),
        ("happened", _lines(_happened(service, events), width)),
        ("to do", [line for finding in ours for line in _to_do(finding, options, width)] or _lines([NOTHING], width)),
        ("not looked at", _lines(unseen, width)),
    )
    text = "\n".join("\n".join([f"  {title}", *lines, ""]) for title, lines in parts if lines)
    return f"Service {service.item.full_name}\n\n{text}"


def _lines(sentences: Iterable[str], width: int) -> list[str]:
    return [line for sentence in sentences for line in wrapped(one_line(sentence), width, INDENT, "  ")]


def _is_about(finding: Finding, service: ServiceView) -> bool:
    about = service_of(finding.item)
    if finding.item is service.item or about.metadata.get("uid") == service.service.metadata.uid != "":
        return True
    # What has no owner may still have the name of what is made for it.
    return finding.item.full_name in {label for _, label in service.desired}


def _asked_for(service: ServiceView, view: View) -> Iterator[str]:
    annotations = service.item.annotations
    if not service.entrances:
        yield 'nothing: it has no annotation ingress/http: "true"'
    for entrance, stated in service.entrances.items():
        for key in keys_of(entrance, annotations):
            yield f"{key}: {quoted(annotations[key])}"
        if isinstance(view.policy, Policy):
            of_profile = in_namespace(view.policy, service.item.namespace, stated.profile)
            if of_profile.profile and not stated.profile:
                yield f"the profile {of_profile.profile}, by the settings"


def _standing(service: ServiceView, rows: Iterable[Row], view: View) -> Iterator[str]:
    there = 0
    for row in rows:
        there += 1
        yield line_of(row)
    for each in view.objects.values():
        leads = each.item.namespace == service.item.namespace and (SERVICE, service.item.name) in backends_of(each)
        if leads and each.key not in service.observed:
            there += 1
            yield f"{each}: not made for it, but leads to it"
    if not there and not view.unseen():
        yield "nothing"


def _happened(service: ServiceView, events: Iterable[Item]) -> Iterator[str]:
    uid = service.service.metadata.uid
    found = []
    for event in events:
        if event.kind == EVENTS and about_whom(event) == uid != "":
            time, sentence = report_of(event)
            count = f" ({event.object['count']} times)" if event.object.get("count", 1) != 1 else ""
            found.append((time, f"{event.object.get('reason')}{count}: {sentence}"))
    for time, sentence in sorted(found, reverse=True)[:MOST_EVENTS]:
        yield f"{time} {sentence}"


def _to_do(finding: Finding, options: Sequence[str], width: int) -> Iterator[str]:
    about = "" if finding.item.kind == "v1/Service" else f"{finding.item}: "
    yield from _lines([f"{finding.kind}: {about}{finding.sentence}"], width)
    remedies = [REASONS[reason].remedy for reason in finding.reasons] if finding.kind == "refused" else []
    for remedy in remedies or [KINDS[finding.kind].remedy]:
        yield from wrapped(remedy, min(width or WIDEST, WIDEST), f"{INDENT}  ")
    yield from map(one_line, command_lines(finding.command, options, width, f"{INDENT}  ", "$ "))
