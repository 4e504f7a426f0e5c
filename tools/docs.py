"""The parts of the docs that are made from the code: `make docs` writes them, tests/test_docs.py keeps them true."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from hooks.annotations import TABLE
from hooks.copying import KNOWN
from hooks.errors import REASONS
from hooks.policy import NamespaceSettings, NamespaceTls, Policy, Tls

DOCS = Path(__file__).parent.parent / "docs"
SCHEMA = DOCS / "settings.schema.json"
TRAFFIC = DOCS.parent / "tests/e2e/traffic.yaml"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table whose columns line up."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |" for row in cells]
    lines.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    return "\n".join(lines)


def annotations() -> str:
    """Return the table of the annotations."""
    rows = ((f"`{a.key}`", a.meaning, a.value, a.default) for a in TABLE)
    return table(("annotation", "what it decides", "value", "without it"), rows)


def settings(type_: type[msgspec.Struct]) -> str:
    """Return the table of the fields of one of the settings' types."""
    described = msgspec.json.schema(type_)["$defs"][type_.__name__]["properties"]
    rows = []
    for field in msgspec.structs.fields(type_):
        default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
        if field.name == "copied":
            shown = "the list below"
        else:
            shown = "" if default is msgspec.UNSET else f"`{yaml_of(msgspec.to_builtins(default))}`"
        rows.append((f"`{field.encode_name}`", described[field.encode_name]["description"], shown))
    return table(("field", "what it decides", "default"), rows)


def yaml_of(value: Any) -> str:
    """Return a plain value as one would write it in the settings file."""
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("...\n").strip()


def known(by_default: bool) -> str:
    """Return the table of the keys that we know: those that are copied by default, or the others."""
    rows = (
        (f"`{key}`", row.purpose, row.right.removeprefix("must be "))
        for key, row in KNOWN.items()
        if row.by_default == by_default
    )
    return table(("key", "what for", "a value is"), rows)


def reasons() -> str:
    """Return the table of the reasons of refusals."""
    return table(("reason", "what it means"), ((f"`{reason}`", meaning) for reason, meaning in REASONS.items()))


def traffic() -> str:
    """Return the table of what the gateway carries, from what the end-to-end tests say that they show."""
    rows = yaml.safe_load(TRAFFIC.read_text(encoding="utf-8"))
    return table(
        ("what", "by Ingress", "by HTTPRoute"),
        ((row["what"], row.get("ingress", "yes"), row.get("httproute", "yes")) for row in rows),
    )


def schema() -> str:
    """Return the JSON Schema of the settings file."""
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Settings of ingress-manager"}
    return json.dumps({**title, **msgspec.json.schema(Policy)}, indent=2, ensure_ascii=False) + "\n"


PARTS: dict[str, Callable[[], str]] = {
    "annotations": annotations,
    "settings": lambda: settings(Policy),
    "tls": lambda: settings(Tls),
    "namespaces": lambda: settings(NamespaceSettings),
    "namespaces_tls": lambda: settings(NamespaceTls),
    "copied": lambda: known(by_default=True),
    "known": lambda: known(by_default=False),
    "reasons": reasons,
    "traffic": traffic,
}
"""The parts of the Markdown pages, by the name between `<!-- made: NAME -->` and `<!-- end -->`."""


def with_parts(page: str) -> str:
    """Return the page with each of its parts as the code makes it."""
    return re.sub(
        r"(<!-- made: (\w+) -->\n)(?:(?!<!-- end).)*(<!-- end -->)",
        lambda found: f"{found[1]}{PARTS[found[2]]()}\n{found[3]}",
        page,
        flags=re.DOTALL,
    )


def pages() -> dict[Path, str]:
    """Return what each page should hold."""
    made = {path: with_parts(path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md"))}
    return {**made, SCHEMA: schema()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
