"""Prints objects and messages, and escapes characters that could control the terminal."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
import msgspec
import yaml

from ingress_manager.commands.snapshot.items import Message
from ingress_manager.commands.terminal import INDENT, fitted, wrapped
from ingress_manager.commands.text import is_seen
from ingress_manager.core.text import one_line

_PLAIN = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[A-Za-z/][A-Za-z0-9._/-]*", re.IGNORECASE)
"""Matches strings that need no quotes. PyYAML wouldn't quote y and 1e3, which kubectl reads as true and 1000."""


class _Dumper(yaml.CSafeDumper):
    """A dumper without aliases. Multi-line strings become block scalars; others are quoted unless they match _PLAIN."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML calls it with every value
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if _PLAIN.fullmatch(text) else "|" if "\n" in text and is_seen(text) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def as_json(value: Any) -> str:
    """Return a value as indented JSON with unprintable characters escaped."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    # Only strings contain unprintable characters, and JSON allows escapes there.
    return (text if is_seen(text) else "".join(c if is_seen(c) else json.dumps(c)[1:-1] for c in text)) + "\n"


def as_yaml(*values: Any) -> str:
    """Return values as YAML documents in block style, keeping the order of keys and escaping unprintable characters."""
    text: str = yaml.dump_all(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    # Only double-quoted strings contain unprintable characters, and YAML allows escapes there.
    return text if is_seen(text) else "".join(c if is_seen(c) else f"\\U{ord(c):08x}" for c in text)


def unseen_lines(sentences: Iterable[str], columns: int) -> Iterator[str]:
    for sentence in sentences:
        for line in wrapped(f"{one_line(sentence)}.", columns, hanging=INDENT):
            yield f"{click.style(line, fg='red')}\n"


def show(messages: Sequence[Message]) -> int:
    for message in messages:
        click.echo(fitted(str(message)), err=True)
    return len(messages)
