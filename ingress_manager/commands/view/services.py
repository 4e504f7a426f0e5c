"""Services: the one place where an object that a person wrote becomes the Service that `core.decide` takes.

A Service in a file lacks what the API server adds: the namespace and the uid. They are filled in here.
"""

import re

import msgspec

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.about import about
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.text import quoted

SERVICE = "v1/Service"

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")


def as_service(item: Item) -> Service | Message:
    """Return the typed Service, or the message that says why kubectl would not apply it either."""
    annotations = item.metadata.get("annotations")
    for key, value in annotations.items() if isinstance(annotations, dict) else ():
        if not isinstance(value, str):
            return about(item, f"{key}: must be text: put the value in quotes", "metadata", "annotations", key)
    metadata = {**item.metadata, "namespace": item.namespace, "uid": str(item.metadata.get("uid") or "")}
    try:
        return msgspec.convert({**item.object, "metadata": metadata}, Service)
    except msgspec.ValidationError as error:
        return invalid(item, SERVICE, str(error))


def invalid(item: Item, kind: str, said: str) -> Message:
    """Return the message for what msgspec says about an object of a kind such as v1/Service, at the field's line."""
    called = kind.rpartition("/")[2]
    problem, _, where = said.partition(" - at `$")
    field = [name or int(number) for name, number in _STEP.findall(where)]
    if missing := re.search(r"missing required field `(\w+)`", problem):
        path = f"{where.rstrip('`')}.{missing[1]}".lstrip(".")
        return about(item, f"is no valid {called}: {path} is missing", *field)
    path = where.rstrip("`").lstrip(".")
    return about(item, f"is no valid {called}: {path}: {_expected(problem)}", *field)


def _expected(problem: str) -> str:
    """Return the end of a sentence for what msgspec says about a type."""
    types = re.findall("`([^`]*)`", problem)
    if problem.startswith("Expected") and len(types) == 2:
        return f"must be {types[0].replace('str', 'text')}, not {types[1].replace('str', 'text')}"
    return quoted(problem)
