"""Objects as the core's types: the one place where what a person wrote becomes the Service that `core.decide` takes.

A Service in a file lacks what the API server adds: the namespace and the uid. They are filled in here.
"""

from typing import Any, TypeVar

import msgspec

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.manifests import Item, about
from ingress_manager.core.kubernetes import Ingress, IngressSpec, Object, Service
from ingress_manager.core.shape import VALUES, Mismatch, fit, type_of
from ingress_manager.core.text import one_line

T = TypeVar("T", bound=msgspec.Struct)


def as_service(item: Item) -> Service | list[Message]:
    """Return the typed Service, or the messages that say why kubectl would not apply it either."""
    metadata = {**item.metadata, "namespace": item.namespace, "uid": str(item.metadata.get("uid") or "")}
    return as_type(item, {**item.object, "metadata": metadata}, Service)


def as_spec(item: Item) -> IngressSpec | list[Message]:
    """Return the typed spec of an Ingress, or the messages that say why the API server would not take it either."""
    found = as_type(item, {"metadata": {}, "spec": item.object.get("spec")}, Ingress)
    return found.spec if isinstance(found, Ingress) else found


def as_type(item: Item, object_: Object, type_: type[T]) -> T | list[Message]:
    """Return an object as a type, or a message for each place at which it is another one, at the field's line."""
    try:
        return msgspec.convert(object_, type_)
    except msgspec.ValidationError:
        pass
    object_ = {key: _without_nulls(value) if key == "spec" else value for key, value in object_.items()}
    try:
        return msgspec.convert(object_, type_)
    except msgspec.ValidationError:
        found: list[Mismatch] = []
        fit(object_, type_of(type_), found)
        return [about(item, _sentence(item, each), *each.path) for each in found]


def _without_nulls(stated: Any) -> Any:
    """Return a value without its fields that are null: the API server takes them as left out."""
    if isinstance(stated, list):
        return [_without_nulls(each) for each in stated]
    if isinstance(stated, dict):
        return {key: _without_nulls(value) for key, value in stated.items() if value is not None}
    return stated


def _sentence(item: Item, mismatch: Mismatch) -> str:
    if mismatch.sort == "type" and mismatch.path[:-1] == ("metadata", "annotations"):
        return f"{mismatch.path[-1]}: must be text: put the value in quotes"
    # The keys of what was read are text, in YAML as in JSON.
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in mismatch.path)
    if mismatch.sort == "missing":
        wrong = f"{path}.{mismatch.right[0]} is missing"
    else:
        is_ = VALUES.get(type(mismatch.stated), "null")
        wrong = f"{path}: must be {' or '.join(mismatch.right)}, not {is_}"
    return f"is no valid {item.kind.rpartition('/')[2]}: {one_line(wrong.lstrip('.'))}"
