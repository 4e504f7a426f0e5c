"""Objects as the core's types: the one place where what a person wrote becomes the Service that `core.decide` takes.

A Service in a file lacks what the API server adds: the namespace and the uid. They are filled in here.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.kinds import INGRESSES
from ingress_manager.commands.reading.manifests import Item, Unreadable, about
from ingress_manager.core.kubernetes import Ingress, IngressSpec, Object, Service
from ingress_manager.core.shape import FieldError, converted

T = TypeVar("T", bound=msgspec.Struct)


def as_service(item: Item) -> Service | list[Message]:
    """Return the typed Service, or the message that says why kubectl would not apply it either."""
    metadata = {**item.metadata, "namespace": item.namespace, "uid": str(item.metadata.get("uid") or "")}
    return as_type(item, {**item.object, "metadata": metadata}, Service)


def as_spec(item: Item) -> IngressSpec | list[Message]:
    """Return the typed spec of an Ingress, or the message that says why the API server would not take it either."""
    found = as_type(item, {"metadata": {}, "spec": item.object.get("spec")}, Ingress)
    return found.spec if isinstance(found, Ingress) else found


def ingresses_in(items: Iterable[Item]) -> list[tuple[Item, IngressSpec]]:
    """Return the Ingresses among the items. Raises Unreadable for what no API server takes."""
    found = [(item, as_spec(item)) for item in items if item.kind == INGRESSES]
    if wrong := [message for _, spec in found if isinstance(spec, list) for message in spec]:
        raise Unreadable(wrong)
    return [(item, spec) for item, spec in found if isinstance(spec, IngressSpec)]


def as_type(item: Item, object_: Object, type_: type[T]) -> T | list[Message]:
    """Return an object as a type, or a message about the first field that is of another one, at its line."""
    try:
        return msgspec.convert(object_, type_)
    except msgspec.ValidationError:
        pass
    object_ = {key: without_nulls(value) if key == "spec" else value for key, value in object_.items()}
    try:
        found: T = converted(object_, type_)
    except FieldError as error:
        return [about(item, f"is no valid {item.kind.rpartition('/')[2]}: {error.sentence}", *error.path)]
    return found


def without_nulls(stated: Any) -> Any:
    """Return a value without its fields that are null: the API server takes them as left out."""
    if isinstance(stated, list):
        return [without_nulls(each) for each in stated]
    if isinstance(stated, dict):
        return {key: without_nulls(value) for key, value in stated.items() if value is not None}
    return stated
