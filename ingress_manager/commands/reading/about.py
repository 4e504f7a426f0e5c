"""Findings about what was read, at the line where it can be mended."""

from collections.abc import Iterator

from ingress_manager.commands.printing.findings import Finding
from ingress_manager.commands.reading.manifests import Item, Unreadable
from ingress_manager.core.errors import Problem, Refused


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
