"""What is to be done with one Ingress: what it becomes, or what is in the way."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ingress_manager.commands.annotating.annotated import Annotated
from ingress_manager.commands.plans.deployers import before, not_yet
from ingress_manager.commands.plans.plan import Plan, Step, listed
from ingress_manager.commands.printing.words import comment, word
from ingress_manager.commands.reading.manifests import Item, about
from ingress_manager.core.kubernetes import Object


@dataclass(slots=True)
class Adoption(Plan):
    """What is to be done with one Ingress. With a message, nothing."""

    becomes: Sequence[str] = ()
    """The Ingresses that it becomes: itself, if it stays. Empty when it can't be adopted."""

    spec: Object | None = None
    """The spec that it has afterwards; None when it goes, or can't be adopted."""

    objects: Sequence[Object] = ()
    """What its Services are given then."""

    advice: Sequence[Step] = ()
    """What can be done before it is tried again."""

    changes: list[str] = field(default_factory=list)
    """The fields that would change."""

    left: Sequence[str] = ()
    """The annotations that it keeps, and that one made anew would lack."""

    def refuse(self, sentences: Iterable[str]) -> None:
        """Add why it can't be adopted."""
        self.messages = (*self.messages, *(about(self.item, sentence) for sentence in sentences))

    def tell(self, sentences: Iterable[str]) -> None:
        """Add what is worth knowing."""
        self.notes = [*self.notes, *(f"{self.title}: {sentence}" for sentence in sentences)]

    def wait_for_sources(self, pairs: Sequence[tuple[Item, Annotated]]) -> None:
        """Refuse where a tool keeps the Ingress, or takes annotations off a Service, by what its source says."""
        services = [(service, asked.annotations) for service, asked in pairs]
        self.refuse(not_yet(self.item, services))
        if self.messages:
            self.advice = [*before(self.item, services)]

    def becoming(self, steps: Iterable[Step], names: Sequence[str], asked: Iterable[Annotated]) -> None:
        """Take the steps, after which these Ingresses answer, and Services are given what was asked for."""
        self.steps, self.becomes = [*steps], names
        self.objects = [each for made in asked for each in made.objects]
        self.done = f"{self.title} is ingress-manager's: {', '.join(names)}."

    @property
    def replaces(self) -> bool:
        """Return whether other Ingresses are to answer for it."""
        return bool({*self.becomes} - {self.title})

    @property
    def summary(self) -> str:
        """Return what becomes of it, in a few words."""
        if self.messages:
            return "can't be adopted"
        if not self.replaces:
            return "stays, and is adopted"
        others = ", ".join(label for label in self.becomes if label != self.title)
        return f"stays, and what leads elsewhere becomes {others}" if self.spec else f"becomes {others}"

    def lines(self, options: Sequence[str] = ()) -> Iterator[str]:
        """Yield the steps that adopt an Ingress, or, as comments, what can be done before it is tried again."""
        if self.advice:
            yield comment(f"{self.title} can't be adopted as it is. First:")
            yield from (comment(f"  {line}") for line in listed(self.advice, options))
        if not self.becomes:
            return
        yield comment(self.title)
        yield from listed(self.steps, options)
        if not any(step.until for step in self.steps):
            yield comment("The next steps need the Ingress and the Services as the cluster has them:")
            yield f"ingress-manager adopt {word(self.title)} --apply"
