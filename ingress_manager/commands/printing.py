"""Printing: objects and messages as text that a terminal obeys nothing of."""

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
"""Text that every YAML parser reads as text, unquoted. PyYAML wouldn't quote y and 1e3: true and 1000 to kubectl."""


class _Dumper(yaml.CSafeDumper):
    """No anchors: two equal values are two values. Text has quotes or is a block, unless it needs neither."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML calls it with every value
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if _PLAIN.fullmatch(text) else "|" if "\n" in text and is_seen(text) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def as_json(value: Any) -> str:
    """Return a plain value as JSON that a terminal obeys nothing of."""
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    # Only strings hold unprintable characters, and they may be escaped there.
    return (text if is_seen(text) else "".join(c if is_seen(c) else json.dumps(c)[1:-1] for c in text)) + "\n"


def as_yaml(*values: Any) -> str:
    """Return plain values as documents of block-style YAML, keys in their order, that a terminal obeys nothing of."""
    text: str = yaml.dump_all(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    # Only double-quoted strings hold unprintable characters, and they may be escaped there.
    return text if is_seen(text) else "".join(c if is_seen(c) else f"\\U{ord(c):08x}" for c in text)


def unseen_lines(sentences: Iterable[str], columns: int) -> Iterator[str]:
    """Yield the lines that list what could not be read."""
    for sentence in sentences:
        for line in wrapped(f"{one_line(sentence)}.", columns, hanging=INDENT):
            yield f"{click.style(line, fg='red')}\n"


def show(messages: Sequence[Message]) -> int:
    """Print each message on its own line of standard error; return how many there are."""
    for message in messages:
        click.echo(fitted(str(message)), err=True)
    return len(messages)
