"""Manifests: the objects in a text of YAML or JSON; each knows the file and the line where it stands.

What of an object's metadata gets into commands is checked here, where it is read. No API server takes others: a name
such as --all would be an option, and a uid with a comma would select other Events. Sources: the Kubernetes
documentation, "Object Names and IDs", and the reference of ObjectMeta.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from ingress_manager.commands.printing import Message, show
from ingress_manager.commands.reading.documents import Document, documents
from ingress_manager.core.kubernetes import API_VERSIONS, Object
from ingress_manager.core.strict_yaml import FieldPath
from ingress_manager.core.syntax import wrong_annotation_key, wrong_name
from ingress_manager.core.text import one_line, quoted

SERVICE, INGRESS, HTTPROUTE, LISTENERSET = "Service", "Ingress", "HTTPRoute", "ListenerSet"

VERSIONS = {SERVICE: "v1", **API_VERSIONS}
"""The kinds whose objects commands read and kubectl is told to change, each with the one version that is read."""

_ID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._]*")


class Unreadable(click.ClickException):
    """Something that was read is no YAML, or can't be what it says that it is: a message each."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__("\n".join(map(str, messages)))
        self.messages = messages

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click calls it with none
        """Print the messages, as those of a command are."""
        show(self.messages)


@dataclass(frozen=True)
class Item:
    """An object, and where it stands. What is inside may be anything that JSON can say."""

    object: Object
    file: str = ""
    """Empty when it comes from the cluster."""

    default: str = "default"
    """The namespace of the objects that state none."""

    document: Document | None = None
    path: FieldPath = ()
    """Where it is within its document: () or, in a List, ("items", number)."""

    @property
    def version(self) -> str:
        """Return its apiVersion."""
        return str(self.object.get("apiVersion", ""))

    @cached_property
    def kind(self) -> str:
        return str(self.object.get("kind") or "")

    @cached_property
    def metadata(self) -> Object:
        """Return the metadata; empty when there is none, or something else stands in its place."""
        found = self.object.get("metadata")
        metadata = found if isinstance(found, dict) else {}
        for key in ("annotations", "labels"):
            stated = metadata.get(key)
            if isinstance(stated, dict) and None in stated.values():
                # A key without a value, as Helm leaves it, is "" to the API server.
                metadata = metadata | {key: {each: "" if text is None else text for each, text in stated.items()}}
        return metadata

    @cached_property
    def namespace(self) -> str:
        """Return the one that it states, or that of those that state none."""
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
        """Return the labels whose values are text."""
        return _texts(self.metadata.get("labels"))

    @property
    def born(self) -> tuple[str, str]:
        """Return what sorts objects by their age, the oldest first, and those of one second by their names."""
        return str(self.metadata.get("creationTimestamp") or ""), self.full_name

    @property
    def is_being_deleted(self) -> bool:
        """Return whether it is being deleted: what is still there then is held by finalizers."""
        return bool(self.metadata.get("deletionTimestamp"))

    def line(self, *path: str | int) -> int:
        """Return the line of one of its fields in the file, else of the nearest field around it; 0 without a file."""
        return self.document.line((*self.path, *path)) if self.file and self.document else 0


class Read(NamedTuple):
    """What was read, in the order in which it was read."""

    items: list[Item]
    unreadable: list[Message]
    """Why a document or an object can't be read: a command ends with these."""


def of_kind(items: Iterable[Item], *kinds: str) -> list[Item]:
    """Return the items of these kinds."""
    return [item for item in items if item.kind in kinds]


def about(item: Item, sentence: str, *field: str | int) -> Message:
    """Return a message about an item, at the line of one of its fields, such as "spec", "ports", 0."""
    return Message(sentence, item.file, item.line(*field), item.full_name)


def at(found: Any, *path: str) -> Any:
    """Return what stands at a place of an object, None where there is no such place."""
    found = found.object if isinstance(found, Item) else found
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def mappings(found: Any) -> list[dict[str, Any]]:
    """Return the mappings in a list; nothing when it is none."""
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def read(text: str, file: str = "", namespace: str = "default") -> Read:
    """Return what is in the text of a `file`, or of the cluster."""
    found = Read([], [])
    for document in documents(text, file):
        if isinstance(document, Message):
            found.unreadable.append(document)
            continue
        for value, path in _opened(document.value):
            if not isinstance(value, dict):
                found.unreadable.append(Message("is no object: it isn't a mapping", file, document.line(path)))
                continue
            item = Item(value, file, namespace, document, path)
            if _is_of_another_api(item):
                continue
            wrong = [*_wrong_with(item)] if item.kind in VERSIONS else []
            found.unreadable.extend(wrong)
            if not wrong:
                found.items.append(item)
    return found


def _is_of_another_api(item: Item) -> bool:
    """Return whether only the kind has the name of one of VERSIONS: a Service of Knative's is another thing."""
    right = VERSIONS.get(item.kind, item.version)
    return item.version.rpartition("/")[0] not in {right.rpartition("/")[0], "extensions"}


def _wrong_with(item: Item) -> Iterator[Message]:
    """Yield why an object of one of VERSIONS isn't read: its version, or what names it in commands."""
    metadata, right, begin = item.metadata, VERSIONS[item.kind], f"is no valid {item.kind}: metadata"
    if item.version != right:
        yield about(item, f"has the version {quoted(item.version)}, which isn't read; {right} is")
    if not metadata.get("name"):
        yield about(item, f"{begin}.name is missing", "metadata")
    checks = {"name": wrong_name, "namespace": wrong_name, "uid": _wrong_id, "resourceVersion": _wrong_id}
    for key, check in checks.items():
        text = metadata.get(key) or (item.namespace if key == "namespace" else "")
        if not isinstance(text, str):
            yield about(item, f"{begin}.{key}: must be text: put it in quotes", "metadata", key)
        elif text and (end := check(text)):
            yield about(item, f"{begin}.{key}: {quoted(text)} {end}", "metadata", key)
    annotations = metadata.get("annotations")
    for key in annotations if isinstance(annotations, dict) else ():
        if end := wrong_annotation_key(key.lower()):
            yield about(item, f"{begin}.annotations: {quoted(key)} {end}", "metadata", "annotations", key)


def _wrong_id(text: str) -> str:
    return "" if _ID.fullmatch(text) else "must be what the API server has given it"


def _texts(mapping: Any) -> dict[str, str]:
    if not isinstance(mapping, dict):
        return {}
    return {key: value for key, value in mapping.items() if isinstance(key, str) and isinstance(value, str)}


def _opened(value: Any, path: FieldPath = ()) -> Iterator[tuple[Any, FieldPath]]:
    """Yield what a document holds, itself or the members of a List, each with where it is; nothing of an empty one."""
    if value is None:
        return
    members, kind = at(value, "items"), at(value, "kind")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(members, list)):
        yield value, path
        return
    # The members of a ServiceList, unlike those of a List, need not say what they are.
    implied = {} if kind == "List" else {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
    for number, member in enumerate(members):
        yield from _opened({**implied, **member} if isinstance(member, dict) else member, (*path, "items", number))


SUFFIXES = (".json", ".yaml", ".yml")


def read_files(paths: Iterable[str], namespace: str) -> list[Item]:
    """Return the objects in files, folders, and standard input (-).

    Raises click.UsageError for what isn't there, and Unreadable where something in it can't be read.
    """
    items, unreadable = list[Item](), list[Message]()
    for file in (file for path in paths for file in _files(path)):
        try:
            text, name = text_of_file(file)
            found = read(text, name, namespace)
            items += found.items
            unreadable += found.unreadable
        except Unreadable as error:
            unreadable += error.messages
    if unreadable:
        raise Unreadable(unreadable)
    return items


def text_of_file(path: str) -> tuple[str, str]:
    """Return the text in a file, - is standard input, and what a person calls it. Raises click.UsageError, Unreadable.

    A name may hold what a terminal obeys, or bytes that are no text.
    """
    name = "stdin" if path == "-" else one_line(path)
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
            content = file.read()
        return content.decode("utf-8-sig"), name
    except OSError as error:
        raise click.UsageError(f"{name} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Unreadable([Message("is not UTF-8 text", name, 1 + content.count(b"\n", 0, error.start))]) from error
    except ValueError as error:
        raise click.UsageError("- stands twice, and standard input can be read once") from error


def _files(path: str) -> list[str]:
    """Return the file, or those of a folder whose names say that they are YAML or JSON."""
    if not Path(path).is_dir():
        return [path]
    inside = sorted(str(file) for file in Path(path).iterdir() if file.suffix in SUFFIXES)
    if not inside:
        raise click.UsageError(f"the folder {path} holds no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file")
    return inside
