"""Findings: what a person has to look at, one sentence each, with the place where it can be mended."""

from collections.abc import Iterator
from dataclasses import dataclass

from ingress_manager.commands.manifests import Item, Unreadable
from ingress_manager.core.errors import Problem, Refused
from ingress_manager.core.text import one_line


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about an object, or about a file that can't be read."""

    sentence: str
    file: str = ""
    """Empty when the object comes from the cluster."""

    line: int = 0
    """Counted from 1; 0 when there is no file."""

    about: str = ""
    """The object, as namespace/name; empty when it is about the file."""

    reason: str = ""
    """The reason code of a refusal (ingress_manager.core.errors.Reason); empty for anything else."""

    def __str__(self) -> str:
        """Return the finding as editors and CI know it: `file:line: namespace/name: sentence`."""
        place = f"{self.file}:{self.line}" if self.file else ""
        return one_line(": ".join(part for part in (place, self.about, self.sentence) if part))


def about(item: Item, sentence: str, *field: str | int, reason: str = "") -> Finding:
    """Return a finding about an item, at the line of one of its fields, such as "spec", "ports", 0."""
    return Finding(sentence, item.origin.file, item.line(*field), item.label, reason)


def about_file(unreadable: Unreadable) -> Finding:
    """Return the finding that says why a document or an object can't be read."""
    return Finding(unreadable.sentence, unreadable.file, unreadable.line, unreadable.about)


def about_refusal(item: Item, refused: Refused) -> Iterator[Finding]:
    """Yield a finding for each problem, at the line of the annotation that it is about, else of the object."""
    for problem in refused.problems:
        yield about_problem(item, problem)
    if refused.more:
        yield about(item, f"and {refused.more} more")


def about_problem(item: Item, problem: Problem) -> Finding:
    """Return the finding for one problem, at the line of the annotation that it is about, else of the object."""
    field = ("metadata", "annotations", problem.annotation) if problem.annotation else ()
    return about(item, problem.sentence, *field, reason=problem.reason)
