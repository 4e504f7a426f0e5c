"""Items: the objects that were read, each with its file and line."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ingress_manager.core.kubernetes import API_VERSIONS, Object
from ingress_manager.core.strict_yaml import FieldPath, Places
from ingress_manager.core.text import one_line

SERVICE, INGRESS, HTTPROUTE, LISTENERSET = "Service", "Ingress", "HTTPRoute", "ListenerSet"
CLASS_KIND, SLICE, GATEWAY, SECRET = "IngressClass", "EndpointSlice", "Gateway", "Secret"

VERSIONS = {SERVICE: "v1", **API_VERSIONS}
"""The only supported apiVersion of Service and of each managed kind."""


class Document(NamedTuple):
    value: Any
    first: int  # the line, counted from 1, on which the document begins
    last: int
    places: Places

    def line(self, path: FieldPath) -> int:
        """Return the line of the field at `path`, or of the nearest enclosing field that exists."""
        paths = (tuple(path[:length]) for length in range(len(path), -1, -1))
        # libyaml treats more characters as line breaks than editors do.
        return min(self.first + next((self.places[path] for path in paths if path in self.places), 1) - 1, self.last)


@dataclass(frozen=True)
class Item:
    """An unvalidated object and its location. `object` is {} if the item only marks the location of a mistake."""

    object: Object
    file: str = ""  # "" for an object from a cluster
    default: str = "default"  # the namespace of an object that names none
    document: Document | None = None
    path: FieldPath = ()
    """Where the object is in the document: () or, in a List, ("items", index)."""

    @cached_property
    def kind(self) -> str:
        return str(self.object.get("kind") or "")

    @cached_property
    def metadata(self) -> Object:
        """Return the object's metadata; empty if it is missing or isn't a mapping."""
        value = self.object.get("metadata")
        metadata = value if isinstance(value, dict) else {}
        for field in ("annotations", "labels"):
            texts = metadata.get(field)
            if isinstance(texts, dict) and None in texts.values():
                # Helm may leave a key without a value, which the API server reads as "".
                metadata = metadata | {field: {key: "" if text is None else text for key, text in texts.items()}}
        return metadata

    @cached_property
    def namespace(self) -> str:
        return str(self.metadata.get("namespace") or self.default)

    @cached_property
    def name(self) -> str:
        return str(self.metadata.get("name") or "")

    @cached_property
    def full_name(self) -> str:
        return f"{self.namespace}/{self.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.full_name}"

    @cached_property
    def annotations(self) -> dict[str, str]:
        """Return the annotations whose values are strings; Kubernetes accepts no others."""
        return _texts(self.metadata.get("annotations"))

    @property
    def labels(self) -> dict[str, str]:
        return _texts(self.metadata.get("labels"))

    @property
    def age_key(self) -> tuple[str, str]:
        """Return a key that sorts objects by creation time (in seconds), oldest first, and then by namespace/name."""
        return str(self.metadata.get("creationTimestamp") or ""), self.full_name

    @property
    def is_being_deleted(self) -> bool:
        return bool(self.metadata.get("deletionTimestamp"))

    def line(self, *path: str | int) -> int:
        """Return the line of the field at `path` (or the nearest enclosing field), or 0 for an item without a file."""
        return self.document.line((*self.path, *path)) if self.file and self.document else 0


@dataclass(frozen=True)
class Message:
    """A message about an object, or about one line of an unreadable file."""

    item: Item
    sentence: str
    _: KW_ONLY
    field: FieldPath = ()
    remedy: str = ""

    @property
    def line(self) -> int:
        return self.item.line(*self.field)

    def __str__(self) -> str:
        """Return the message in the format of editors and CI: `file:line: namespace/name: sentence; remedy`."""
        place = f"{self.item.file}:{self.line}" if self.item.file else ""
        about = self.item.full_name if self.item.object else ""
        text = "; ".join(filter(None, (self.sentence, self.remedy)))
        return one_line(": ".join(part for part in (place, about, text) if part))


def about_line(file: str, line: int, sentence: str) -> Message:
    """Return a message about a line of a file. Lines are counted from 1."""
    return Message(Item({}, file, document=Document({}, line, line, {})), sentence)


class Unreadable(Exception):  # noqa: N818 - the problems are its messages
    """The input isn't valid YAML, or contains an object that isn't valid for its kind."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__("\n".join(map(str, messages)))
        self.messages = messages


def _texts(mapping: Any) -> dict[str, str]:
    if not isinstance(mapping, dict):
        return {}
    return {key: value for key, value in mapping.items() if isinstance(key, str) and isinstance(value, str)}


def of_kind(items: Iterable[Item], *kinds: str) -> list[Item]:
    return [item for item in items if item.kind in kinds]


def at(value: Any, *path: str) -> Any:
    """Return the field of `value` at `path`, or None if it doesn't exist."""
    value = value.object if isinstance(value, Item) else value
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the mappings in the list `value`; empty if `value` isn't a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
