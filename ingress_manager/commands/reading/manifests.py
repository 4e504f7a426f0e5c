"""Reads manifests: the objects in YAML or JSON text from files, standard input or kubectl.

Metadata that becomes part of commands is validated, because kubectl would take a name such as --all for an option. API
servers reject such names. Sources: the Kubernetes documentation, "Object Names and IDs", and ObjectMeta's reference.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from ingress_manager.commands.reading.documents import documents
from ingress_manager.commands.snapshot.items import VERSIONS, Item, Message, Unreadable, about_line, at
from ingress_manager.core.strict_yaml import FieldPath
from ingress_manager.core.syntax import wrong_annotation_key, wrong_name
from ingress_manager.core.text import one_line, quoted

_ID = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._]*")


class Read(NamedTuple):
    items: list[Item]
    unreadable: list[Message]
    """Messages that say why documents or objects can't be read."""


def read(text: str, file: str = "", namespace: str = "default") -> Read:
    items, unreadable = Read([], [])
    for document in documents(text, file):
        if isinstance(document, Message):
            unreadable.append(document)
            continue
        for value, path in _opened(document.value):
            if not isinstance(value, dict):
                unreadable.append(about_line(file, document.line(path), "must be a Kubernetes object (a mapping)"))
                continue
            item = Item(value, file, namespace, document, path)
            version = str(value.get("apiVersion", ""))
            # In another API group, such as Knative's, a Service is a different kind.
            if version.rpartition("/")[0] in {VERSIONS.get(item.kind, version).rpartition("/")[0], "extensions"}:
                problems = [*_problems(item, version)] if item.kind in VERSIONS else []
                unreadable += problems
                items += [] if problems else [item]
    return Read(items, unreadable)


def _problems(item: Item, version: str) -> Iterator[Message]:
    """Yield messages about an unsupported apiVersion (`version`) and about invalid metadata that commands would use."""
    metadata, begin = item.metadata, f"invalid {item.kind}: metadata"
    if version != VERSIONS[item.kind]:
        yield Message(item, f"apiVersion: {quoted(version)} isn't supported; use {VERSIONS[item.kind]}")
    if not metadata.get("name"):
        yield Message(item, f"{begin}.name is missing", field=("metadata",))
    checks = {"name": wrong_name, "namespace": wrong_name, "uid": _wrong_id, "resourceVersion": _wrong_id}
    for key, check in checks.items():
        text = metadata.get(key) or (item.namespace if key == "namespace" else "")
        if not isinstance(text, str):
            yield Message(item, f"{begin}.{key}: must be text: put it in quotes", field=("metadata", key))
        elif text and (end := check(text)):
            yield Message(item, f"{begin}.{key}: {quoted(text)} {end}", field=("metadata", key))
    annotations = metadata.get("annotations")
    for key in annotations if isinstance(annotations, dict) else ():
        if end := wrong_annotation_key(key.lower()):
            yield Message(item, f"{begin}.annotations: {quoted(key)} {end}", field=("metadata", "annotations", key))


def _wrong_id(text: str) -> str:
    return "" if _ID.fullmatch(text) else "must be the value that the API server assigned"


def _opened(value: Any, path: FieldPath = ()) -> Iterator[tuple[Any, FieldPath]]:
    """Yield (member, path) for each member if `value` is a List, or else (value, path). Yield nothing for None."""
    if value is None:
        return
    if value and isinstance(value, list) and all(at(entry, "op") for entry in value):
        value = {"kind": "JSON patch"}  # RFC 6902
    members, kind = at(value, "items"), at(value, "kind")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(members, list)):
        yield value, path
        return
    # Unlike in a List, the members of a ServiceList need not state their kind.
    implied = {} if kind == "List" else {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
    for number, member in enumerate(members):
        yield from _opened({**implied, **member} if isinstance(member, dict) else member, (*path, "items", number))


SUFFIXES = (".json", ".yaml", ".yml")


def read_files(paths: Iterable[str], namespace: str) -> list[Item]:
    """Return the objects in files, folders and standard input (-). Objects without a namespace get `namespace`.

    Raises click.UsageError if a file can't be opened, or Unreadable with all problems in the files.
    """
    items, unreadable = Read([], [])
    for file in (file for path in paths for file in _files(path)):
        try:
            more = read(*text_of_file(file, utf_16=True), namespace)
            items += more.items
            unreadable += more.unreadable
        except Unreadable as error:
            unreadable += error.messages
    if unreadable:
        raise Unreadable(unreadable)
    return items


def text_of_file(path: str, *, utf_16: bool = False) -> tuple[str, str]:
    """Return a file's text and name (- for stdin). `utf_16` also allows UTF-16. Raises click.UsageError, Unreadable."""
    # A file's name may contain control characters, or bytes that aren't text.
    name = "stdin" if path == "-" else one_line(path)
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
            content = file.read()
        # kubectl accepts UTF-16, too, but only UTF-8 for the files of a ConfigMap.
        return content.decode("utf-16" if utf_16 and content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"), name
    except OSError as error:
        raise click.UsageError(f"{name} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Unreadable([about_line(name, 1 + content.count(b"\n", 0, error.start), "is not UTF-8 text")]) from error
    except ValueError as error:
        raise click.UsageError("- is given twice, but standard input can be read only once") from error


def _files(path: str) -> list[str]:
    if not Path(path).is_dir():
        return [path]
    inside = sorted(str(file) for file in Path(path).iterdir() if file.suffix in SUFFIXES)
    if not inside:
        raise click.UsageError(f"the folder {path} contains no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file")
    return inside
