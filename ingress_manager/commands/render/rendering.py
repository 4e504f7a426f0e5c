"""`render`: what Services become, before anything is applied. The pure part."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item, about, about_refusal
from ingress_manager.commands.view.typed import as_service
from ingress_manager.core.decide import Desired, decide, refusal_of
from ingress_manager.core.entrances import no_effect, without_http
from ingress_manager.core.kubernetes import NOTHING, Object
from ingress_manager.core.policy import Policy


@dataclass(slots=True)
class Rendered:
    """What became of all the Services, in their order."""

    objects: list[Object] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)


def render(items: Iterable[Item], policy: Policy) -> Rendered:
    """Return the objects that the Services among the items become, and why others become none.

    Nothing stands yet. So a `policy` that is paused refuses every Service that wants an Ingress.
    """
    rendered = Rendered()
    for item in items:
        if item.kind != SERVICES:
            continue
        service = as_service(item)
        if isinstance(service, list):
            rendered.messages += service
            continue
        decision = decide(service, NOTHING, policy)
        if isinstance(decision, Desired):
            rendered.objects.extend(decision.objects)
        if refused := refusal_of(decision):
            rendered.messages.extend(about_refusal(item, refused))
        if keys := without_http(item.annotations):
            rendered.messages.append(about(item, no_effect(keys), "metadata", "annotations", keys[0]))
    return rendered
