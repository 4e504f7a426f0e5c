"""Generates docs and the chart's schema for `make docs`. tests/docs/test_docs.py checks that they are up to date."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml
from click.testing import CliRunner

from devcluster.build import REPOSITORY
from ingress_manager.commands.findings.finding import REMEDIES, Severity
from ingress_manager.commands.findings.registry import KINDS
from ingress_manager.commands.main import commands
from ingress_manager.core.annotations import TABLE
from ingress_manager.core.settings import Defaults, Limits, Profile, Settings
from ingress_manager.core.vocabulary import COPIED_BY_DEFAULT
from tools import chart
from tools.markdown import replayed

DOCS = REPOSITORY / "docs"
EXAMPLES = DOCS / "commands/examples"

SHOWN_INSIDE = {"Admission", "Tls", "Gateway"}
"""Settings types whose fields are listed with the type that contains them."""


def settings(type_: type[msgspec.Struct], left_out: Collection[str] = ()) -> str:
    """Return a Markdown list of a type's fields, except `left_out`, with their defaults."""
    rows = fields(chart.types_of_settings(type_), type_.__name__, left_out)
    return listed(f"{name}{f' ({shown})' if shown else ''}: {meaning}" for name, meaning, shown in rows)


def fields(
    types: dict[str, Any], name: str, left_out: Collection[str] = (), prefix: str = ""
) -> Iterator[tuple[str, str, str]]:
    """Yield (`prefix` + name, meaning, default) for each field of a type, and of nested types in SHOWN_INSIDE."""
    for field, described in types[name]["properties"].items():
        if field in left_out:
            continue
        if field in types[name]["required"]:
            shown = "required"
        elif field == "copyAnnotations":
            shown = "[nine keys](annotations.md#annotations-for-the-ingress-controller)"
        elif field == "ingressClasses":
            shown = "[the bundled gateway's](#what-a-controller-reads)"
        else:
            # YAML, as in the settings file.
            value = yaml.safe_dump(described.get("default"), default_flow_style=True).removesuffix("...\n").strip()
            shown = "" if "$ref" in described or "default" not in described or name == "Profile" else f"`{value}`"
        named = [schema.get("$ref", "").rpartition("/")[2] for schema in (described, *described.get("anyOf", ()))]
        shown_inside = SHOWN_INSIDE.intersection(named)
        if shown or not shown_inside:
            yield f"`{prefix}{field}`", described["description"], shown
        for inside in shown_inside:
            yield from fields(types, inside, (), f"{prefix}{field}.")


def findings() -> str:
    """Return the list of finding kinds with their severities. Remedies are omitted, because `status` shows them."""
    warnings, hints = (
        ", ".join(f"`{kind.name}`" for kind in KINDS if kind.severity is severity)
        for severity in (Severity.WARNING, Severity.HINT)
    )
    rows = listed(f"`{kind.name}`: {kind.meaning}" for kind in KINDS)
    return f"{rows}\n\nWarnings are {warnings}.\nHints are {hints}. All others are errors."


def listed(texts: Iterable[str]) -> str:
    """Return the texts as a Markdown list, wrapped at 150 characters."""
    return "\n".join(textwrap.fill(f"- {text}", 150, subsequent_indent="  ", break_on_hyphens=False) for text in texts)


PARTS: dict[str, Callable[[], str]] = {
    "annotations": lambda: listed(f"`{key}` ({row.default}): {row.meaning}" for key, row in TABLE.items()),
    "settings": lambda: settings(Settings, left_out=("defaults", "limits", "profiles", "namespaces")),
    "defaults": lambda: settings(Defaults),
    "limits": lambda: settings(Limits),
    "profiles": lambda: settings(Profile, left_out=Defaults.__struct_encode_fields__),
    "copied": lambda: (
        textwrap.fill(", ".join(f"`{key}`" for key in COPIED_BY_DEFAULT), 150, break_on_hyphens=False) + "\n"
    ),
    "refusals": lambda: "\n\n".join(
        f"Fixed by the {whose}:\n\n{listed(f'`{reason}`: {remedy}' for reason, remedy in remedies.items())}"
        for whose, remedies in REMEDIES.items()
    ),
    "findings": findings,
}
"""The generated sections of Markdown pages, by the name between `<!-- made: NAME -->` and `<!-- end -->`."""

PLAIN = {"NO_COLOR": "1", "COLUMNS": "100"}
"""Environment variables for the commands on a page, to make their output the same on every machine."""

APART = re.compile(r"[|<>$;&*?~]|--help")
"""Matches commands that need a subprocess: those with shell syntax, and `--help`, which CliRunner prints wider."""


def fill_in_parts(page: str) -> str:
    """Return the page with its generated sections updated."""
    return re.sub(
        r"(<!-- made: (\w+) -->\n)(?:(?!<!-- end).)*(<!-- end -->)",
        lambda match: f"{match[1]}{PARTS[match[2]]()}\n{match[3]}",
        page,
        flags=re.DOTALL,
    )


def output(command: str) -> str:
    """Run a command in the folder of the examples, and return its standard output and standard error combined."""
    program, *arguments = shlex.split(command)
    if program == "ingress-manager" and not APART.search(command):
        # In this process, because starting another would take longer than the command itself.
        with contextlib.chdir(EXAMPLES):
            ran = CliRunner(catch_exceptions=False).invoke(commands, arguments, prog_name=program, env=PLAIN)
        return ran.output
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    shell, env = ["sh", "-c", f"exec 2>&1; {command}"], {**os.environ, **PLAIN, "PATH": path}
    return subprocess.run(shell, cwd=EXAMPLES, env=env, stdout=subprocess.PIPE, text=True, check=False).stdout


def paths() -> list[Path]:
    """Return the files that are generated, or have generated sections."""
    pages = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("commands/*.md"))]
    return [*pages, chart.CHART / "README.md", chart.SCHEMA]


def made(path: Path) -> str:
    """Return the content that a file should have."""
    if path == chart.SCHEMA:
        return chart.values_schema()
    return replayed(fill_in_parts(path.read_text(encoding="utf-8")), "console", lambda typed: output(typed.command))


if __name__ == "__main__":
    for path in paths():
        path.write_text(made(path), encoding="utf-8")
