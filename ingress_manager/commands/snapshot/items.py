"""Items: the objects that were read; each knows the file and the line where it is."""

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
"""The kinds whose objects commands read and let kubectl change, each with the one version that is read."""


class Document(NamedTuple):
    value: Any
    first: int
    """The line, from 1, on which it begins."""

    last: int
    places: Places

    def line(self, path: FieldPath) -> int:
        """Return the line of a field, or of the nearest field around it that exists."""
        paths = (tuple(path[:length]) for length in range(len(path), -1, -1))
        # libyaml counts some more characters as line ends than editors do.
        return min(self.first + next((self.places[path] for path in paths if path in self.places), 1) - 1, self.last)


@dataclass(frozen=True)
class Item:
    """An object, and where it was read. Its fields may hold any JSON value; it has none if it can't be read."""

    object: Object
    file: str = ""
    """Empty when it comes from the cluster."""

    default: str = "default"
    """The namespace of objects that state none."""

    document: Document | None = None
    path: FieldPath = ()
    """Where it is within its document: () or, in a List, ("items", number)."""

    @cached_property
    def kind(self) -> str:
        return str(self.object.get("kind") or "")

    @cached_property
    def metadata(self) -> Object:
        """Return the metadata; empty when there is none, or when it isn't a mapping."""
        value = self.object.get("metadata")
        metadata = value if isinstance(value, dict) else {}
        for field in ("annotations", "labels"):
            texts = metadata.get(field)
            if isinstance(texts, dict) and None in texts.values():
                # A key without a value, as Helm leaves it, is "" to the API server.
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
        """Return what a person calls the object, as in Service team-a/shop."""
        return f"{self.kind} {self.full_name}"

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations whose values are text; no other is an annotation to Kubernetes."""
        return _texts(self.metadata.get("annotations"))

    @property
    def labels(self) -> dict[str, str]:
        return _texts(self.metadata.get("labels"))

    @property
    def born(self) -> tuple[str, str]:
        """Return a key that sorts objects by age, the oldest first, and by name within a second."""
        return str(self.metadata.get("creationTimestamp") or ""), self.full_name

    @property
    def is_being_deleted(self) -> bool:
        """Return whether it is being deleted: finalizers hold it until then."""
        return bool(self.metadata.get("deletionTimestamp"))

    def line(self, *path: str | int) -> int:
        """Return the line of one of its fields in the file, or of the nearest field around it; 0 without a file."""
        return self.document.line((*self.path, *path)) if self.file and self.document else 0


@dataclass(frozen=True)
class Message:
    """A sentence about an object, or about a line of a file that can't be read."""

    item: Item
    sentence: str
    _: KW_ONLY
    field: FieldPath = ()
    remedy: str = ""
    """Empty if the sentence includes it."""

    @property
    def line(self) -> int:
        """Return the line of the field in the file; 0 without a file."""
        return self.item.line(*self.field)

    def __str__(self) -> str:
        """Return the message as editors and CI know it: `file:line: namespace/name: sentence; remedy`."""
        place = f"{self.item.file}:{self.line}" if self.item.file else ""
        about = self.item.full_name if self.item.object else ""
        text = "; ".join(filter(None, (self.sentence, self.remedy)))
        return one_line(": ".join(part for part in (place, about, text) if part))


def about_line(file: str, line: int, sentence: str) -> Message:
    """Return the message why a file can't be read, at a line counted from 1."""
    return Message(Item({}, file, document=Document({}, line, line, {})), sentence)


class Unreadable(Exception):  # noqa: N818 - the problems are its messages
    """Something that was read is no YAML, or isn't a valid object of its kind."""

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
    """Return the field at a path of an object, None where there is none."""
    value = value.object if isinstance(value, Item) else value
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the mappings in a list; empty for anything that isn't a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
