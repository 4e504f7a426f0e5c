"""Reads files and folders, as `kubectl apply -f` does."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.manifests import Manifests, Unreadable, read
from ingress_manager.core.text import one_line

SUFFIXES = (".json", ".yaml", ".yml")


def read_files(paths: Iterable[str], namespace: str) -> Manifests:
    """Return the objects in files, folders, and standard input (-).

    Raises click.UsageError for what isn't there, and Unreadable where something in it can't be read.
    """
    found = Manifests()
    for path in paths:
        for file in [None] if path == "-" else _files(Path(path)):
            # A name may hold what a terminal obeys, or bytes that are no text.
            name = one_line(str(file)) if file else "stdin"
            try:
                content = file.read_bytes() if file else sys.stdin.buffer.read()
                found.extend(read(content.decode("utf-8-sig"), name, namespace))
            except OSError as error:
                raise click.UsageError(f"{name} can't be read: {error.strerror}") from error
            except UnicodeDecodeError as error:
                line = 1 + content.count(b"\n", 0, error.start)
                found.unreadable.append(Message("is not UTF-8 text", name, line))
    if found.unreadable:
        raise Unreadable(found.unreadable)
    return found


def _files(path: Path) -> Iterator[Path]:
    """Yield the file, or those of a folder whose names say that they are YAML or JSON."""
    if not path.is_dir():
        yield path
        return
    inside = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    if not inside:
        raise click.UsageError(f"the folder {path} holds no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file")
    yield from inside
