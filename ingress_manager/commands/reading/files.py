"""Reads files and folders, as `kubectl apply -f` does."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.manifests import Manifests, read
from ingress_manager.core.text import one_line

SUFFIXES = (".json", ".yaml", ".yml")


def read_files(paths: Iterable[str], namespace: str, *, recursive: bool = False) -> Manifests:
    """Return the objects in files, folders, and standard input (-). Raises click.UsageError for what isn't there."""
    found = Manifests()
    for path in paths:
        if path == "-":
            found.extend(_decoded(sys.stdin.buffer.read(), "stdin", namespace))
            continue
        for file in _files(Path(path), recursive=recursive):
            # It may hold what a terminal obeys, or bytes that are no text.
            name = one_line(str(file))
            try:
                content = file.read_bytes()
            except OSError as error:
                raise click.UsageError(f"{name} can't be read: {error.strerror}") from error
            found.extend(_decoded(content, name, namespace))
    return found


def _files(path: Path, *, recursive: bool) -> Iterator[Path]:
    """Yield the file, or those of a folder whose names say that they are YAML or JSON."""
    if not path.is_dir():
        yield path
        return
    inside = sorted(file for file in path.glob("**/*" if recursive else "*") if file.suffix in SUFFIXES)
    if not inside:
        raise click.UsageError(f"the folder {path} holds no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file")
    yield from inside


def _decoded(content: bytes, file: str, namespace: str) -> Manifests:
    try:
        return read(content.decode("utf-8-sig"), file, namespace)
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        return Manifests(unreadable=[Message("is not UTF-8 text", file, line)], is_whole=False)
