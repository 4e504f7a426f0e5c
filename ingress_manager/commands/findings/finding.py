"""A finding: something that needs a person. Each kind of finding is one function with a decorator.

    @finding(blocks=Blocks.TRAFFIC, remedy="Name another class.")
    def no_class(evidence: Evidence) -> Iterator[Finding]:
        '''There is no IngressClass of that name.'''
        yield Finding(item, "its class is nginx", kubectl("edit", item), service)

The function's name and docstring are the finding's. The output of `audit`, its page and the states of `status` are made
from these.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import NamedTuple

import msgspec

from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot.events import Report
from ingress_manager.commands.snapshot.items import Item, Message
from ingress_manager.commands.text import Command
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Key


class Severity(StrEnum):
    """How much a finding matters, the gravest first. Hints alone leave the exit status at 0."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Whose(StrEnum):
    """Whose task it is to do something about a reason."""

    OWNER = "owner"
    ADMINISTRATOR = "administrator"


_TEXT = Path(__file__).with_name("reasons.yaml").read_bytes()
REMEDIES = msgspec.yaml.decode(_TEXT, type=dict[Whose, dict[Reason, str]])
"""The remedy for each reason, in some sentences, by whose it is."""


class Blocks(Enum):
    """The step that a finding keeps its object from; `status` derives the object's state from it."""

    SYNC = auto()
    """Being as its Service requests: it is waiting."""

    TRAFFIC = auto()
    """Serving requests, although it is as its Service requests."""


class Kind(NamedTuple):
    """A kind of finding: called with evidence, it returns the findings."""

    name: str
    severity: Severity
    meaning: str = ""
    remedy: str = ""
    """Empty if it depends on the reasons of each finding."""

    blocks: Blocks | None = None
    find: "Find" = lambda _: iter(())

    def __call__(self, evidence: Evidence) -> "list[Finding]":
        """Return the findings of this kind, those for the administrator first, by namespace and name."""
        findings = [replace(finding, kind=self, remedy=self.remedy) for finding in self.find(evidence)]
        findings.sort(key=lambda one: (one.whose != Whose.ADMINISTRATOR, one.item.full_name, str(one.item)))
        return findings


@dataclass(frozen=True)
class Finding(Message):
    command: Command = ()
    """Fixes it; empty if no command does."""

    service: Item | None = None
    reasons: Sequence[Reason] = ()
    """Why the Service is refused or the object forbidden, as in Events, logs and metrics."""

    about: Key | None = None
    """The object concerned, if it isn't `item`."""

    awaits_sync: bool = False
    """Metacontroller has yet to do it, and nothing known prevents it: an Event may say why it hasn't."""

    kind: Kind = field(default=Kind("", Severity.HINT))

    @property
    def key(self) -> Key:
        return self.about or (self.item.object["kind"], self.item.full_name)

    @property
    def whose(self) -> Whose | None:
        """Return whose the reasons are: the administrator's if one of several is; None without any."""
        if not REMEDIES[Whose.ADMINISTRATOR].keys().isdisjoint(self.reasons):
            return Whose.ADMINISTRATOR
        return Whose.OWNER if self.reasons else None

    def explained(self, reports: Mapping[str, Report] | None) -> "Finding":
        """Return the finding with Metacontroller's report, by the Service's uid; None: no Event could be read."""
        if not self.awaits_sync:
            return self
        service = self.service or self.item
        report = (reports or {}).get(str(service.metadata.get("uid") or ""))
        if report is None and reports is not None:
            return replace(self, sentence=f"{self.sentence}, and no Event of its Service says why")
        said = report and f"; Metacontroller reported at {report.time}: {report.problem}"
        return replace(self, sentence=f"{self.sentence}{said or ''}", command=kubectl("describe", service))


Find = Callable[[Evidence], Iterator[Finding]]


def finding(*, blocks: Blocks | None, remedy: str, severity: Severity = Severity.ERROR) -> Callable[[Find], Kind]:
    """Declare the kind of finding that a function finds."""

    def declare(find: Find) -> Kind:
        name, meaning = find.__name__.replace("_", "-"), (find.__doc__ or "").partition("\n")[0]
        return Kind(name, severity, meaning, remedy, blocks, find)

    return declare
