"""Messages about what was read, at the line where it can be mended."""

from collections.abc import Iterator

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.errors import Problem, Refused


def about(item: Item, sentence: str, *field: str | int, reason: str = "") -> Message:
    """Return a message about an item, at the line of one of its fields, such as "spec", "ports", 0."""
    return Message(sentence, item.origin.file, item.line(*field), item.full_name, reason)


def about_refusal(item: Item, refused: Refused) -> Iterator[Message]:
    """Yield a message for each problem, at the line of the annotation that it is about, else of the object."""
    for problem in refused.problems:
        yield about_problem(item, problem)
    if refused.more:
        yield about(item, f"and {refused.more} more")


def about_problem(item: Item, problem: Problem) -> Message:
    """Return the message for one problem, at the line of the annotation that it is about, else of the object."""
    field = ("metadata", "annotations", problem.annotation) if problem.annotation else ()
    return about(item, problem.sentence, *field, reason=problem.reason)
