"""Findings: problems that a person has to fix. Each kind of finding is one decorated function.

    @finding(blocks=Blocks.TRAFFIC, remedy="Name another class.")
    def no_class(evidence: Evidence) -> Iterator[Finding]:
        '''The Ingress's class doesn't exist.'''
        yield Finding(item, "IngressClass nginx doesn't exist", kubectl("edit", item), service)

The function's name and docstring become the name and description of the kind, in the output of `audit` and in the docs.
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
    """The severity of a finding, most serious value first. Hints don't affect the exit status of `audit`."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Responsible(StrEnum):
    """Who has to fix the cause of a refusal."""

    OWNER = "owner"
    ADMINISTRATOR = "administrator"


_TEXT = Path(__file__).with_name("reasons.yaml").read_bytes()
REMEDIES = msgspec.yaml.decode(_TEXT, type=dict[Responsible, dict[Reason, str]])
"""The remedy for each refusal reason, grouped by who has to act."""


class Blocks(Enum):
    """What a finding prevents. `status` derives the object's state from this."""

    SYNC = auto()
    """The object is missing or not as its Service requests, so the object's state is `waiting`."""

    TRAFFIC = auto()
    """The object is as its Service requests, but some traffic isn't served."""


class Kind(NamedTuple):
    name: str
    severity: Severity
    meaning: str = ""
    remedy: str = ""  # what to do; "" if that depends on the reasons of each finding
    blocks: Blocks | None = None
    find: "Find" = lambda _: iter(())

    def __call__(self, evidence: Evidence) -> "list[Finding]":
        """Return this kind's findings, sorted by who has to act (the administrator first), namespace and name."""
        findings = [replace(finding, kind=self, remedy=self.remedy) for finding in self.find(evidence)]
        findings.sort(key=lambda one: (one.whose != Responsible.ADMINISTRATOR, one.item.full_name, str(one.item)))
        return findings


@dataclass(frozen=True)
class Finding(Message):
    command: Command = ()
    service: Item | None = None
    reasons: Sequence[Reason] = ()
    """Why the Service is refused or the object forbidden, as named in Events, logs and metrics."""

    about: Key | None = None  # the object concerned, if it isn't `item`
    awaits_sync: bool = False
    """Whether Metacontroller hasn't acted yet, for a reason that only its Event on the Service can explain."""

    kind: Kind = field(default=Kind("", Severity.HINT))

    @property
    def key(self) -> Key:
        return self.about or (self.item.object["kind"], self.item.full_name)

    @property
    def whose(self) -> Responsible | None:
        """Return who has to act (the administrator, if any reason requires it), or None if there are no reasons."""
        if not REMEDIES[Responsible.ADMINISTRATOR].keys().isdisjoint(self.reasons):
            return Responsible.ADMINISTRATOR
        return Responsible.OWNER if self.reasons else None

    def explained(self, reports: Mapping[str, Report] | None) -> "Finding":
        """Return the finding; if it awaits a sync, add its Service's report. `reports` is by uid, or None if unread."""
        if not self.awaits_sync:
            return self
        service = self.service or self.item
        report = (reports or {}).get(str(service.metadata.get("uid") or ""))
        if report is None and reports is not None:
            return replace(self, sentence=f"{self.sentence}, and no Event on the Service explains why")
        said = report and f"; at {report.time}, Metacontroller reported: {report.problem}"
        return replace(self, sentence=f"{self.sentence}{said or ''}", command=kubectl("describe", service))


Find = Callable[[Evidence], Iterator[Finding]]


def finding(*, blocks: Blocks | None, remedy: str, severity: Severity = Severity.ERROR) -> Callable[[Find], Kind]:
    """Return a decorator that turns a function yielding findings into a Kind with the function's name and docstring."""

    def declare(find: Find) -> Kind:
        name, meaning = find.__name__.replace("_", "-"), (find.__doc__ or "").partition("\n")[0]
        return Kind(name, severity, meaning, remedy, blocks, find)

    return declare
