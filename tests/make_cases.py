"""Writes the goldens: `make cases` updates the result of each case, and prints the diff. Review it before you commit.

tests/golden.py describes cases. In tests/cases, a case is a Service; in the tables below tests/commands, a cluster's
objects; in tests/chart.yaml, values of the chart.
"""

import difflib
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import yaml

from ingress_manager.commands.audit.command import printed as printed_audit
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.inspection import Inspection
from ingress_manager.commands.plans.plan import listed
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.release import release_of
from ingress_manager.commands.snapshot.items import SERVICE, of_kind
from ingress_manager.commands.snapshot.services import snapshot_of
from ingress_manager.commands.status.command import details, printed
from ingress_manager.commands.status.states import Judge
from ingress_manager.commands.uninstall import uninstall_steps
from ingress_manager.core.settings_parser import parse
from tests import adoptions, dumps, golden
from tests.golden import Case
from tests.manifests import test_chart

TESTS = golden.TESTS
RELEASES = TESTS / "commands/release"
UNINSTALLS = TESTS / "commands/uninstall"
AUDITS = TESTS / "commands/audit"
STATUSES = TESTS / "commands/status"
CASE = re.compile(r"^(\S+):\n((?: .*\n|\n(?=\n* ))+)", re.MULTILINE)
BECOMES = re.compile(r"^  becomes:.*\n(?:  [- ].*\n|\n(?=\n*  ))*", re.MULTILINE)
WIDTH = 104
"""The maximum length of a line with several values, without its indentation, unless it is a `Line`."""

FIELDS = ["why", "services", "beside", "ingress", "settings", "accept", "new", "forms", "objects", "becomes"]
"""The fields of a case of a command. tests/dumps.py describes `objects`, and tests/adoptions.py the fields for `adopt`.

`new` are the settings that `audit` previews. `forms` are output forms to include in the result; one case of each
command has them, so that only one golden holds the layout. With "sentences", each finding of `audit` has its sentence;
cases that differ by kind, object or command omit it, so that few goldens hold sentences."""


def released(case: Case) -> dict[str, str]:
    """Return the steps that release a case's Service, or the reasons against it, and the notes."""
    items = dumps.manifests(case)
    [service] = of_kind(items, SERVICE)
    plan = release_of(service, items)
    notes = [f"{plan.title}: {sentence}" for sentence in plan.notes]
    sections = {"steps": listed(plan.steps), "messages": map(str, (*plan.messages, *notes))}
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in sections.items()}
    return {name: text for name, text in texts.items() if text}


def uninstalled(case: Case) -> dict[str, str]:
    """Return the steps of `uninstall` with --keep, and with --remove if these differ."""
    keep, remove = (
        "".join(f"{line}\n" for line in listed(uninstall_steps(dumps.manifests(case), keep=keep)))
        for keep in (True, False)
    )
    return {"keep": keep, **({"remove": remove} if remove != keep else {})}


class Line(dict[str, Any]):
    """Fields written on one line, however long; empty ones are left out."""

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__({name: value for name, value in fields.items() if value})


def audited(case: Case) -> dict[str, Any]:
    """Return the findings of `audit` in a case, or its preview of new settings, and its output in the case's forms.

    A finding has its kind and object; `about`, for another object; the reasons; the words of the command; and, if
    `forms` has "sentences", its sentence.
    """
    seen, forms = dumps.looked(case), case.fields.get("forms", ())
    if "new" in case.fields:
        new = parse(as_yaml(case.fields["new"]))
        snapshot = snapshot_of(dumps.manifests(case), new.without_pause())
        changes = preview(Evidence(snapshot, new, seen.around), case.settings)
        seen = seen._replace(snapshot=snapshot, findings=changes)
    findings = [
        {
            finding.kind.name: str(finding.item),
            "about": " ".join(finding.about or ()),
            "reasons": [reason.value for reason in finding.reasons],
            "command": list(finding.command),
            "sentence": finding.sentence if "sentences" in forms else "",
        }
        for finding in seen.findings
    ]
    return {"findings": [*map(Line, findings)]} | in_forms(forms, lambda form: "".join(printed_audit(seen, form)))


def status_of(case: Case) -> dict[str, Any]:
    """Return the rows of `status` in a case, as in its JSON, and its output in the case's forms.

    In place of a finding's sentence, a row has `why`, the finding's kind.
    """
    seen, forms = dumps.looked(case), case.fields.get("forms", ())
    kinds = {finding.sentence: finding.kind.name for finding in seen.findings}
    rows = [
        row | ({"sentence": None, "why": kinds[row["sentence"]]} if row["sentence"] in kinds else {})
        for row in json.loads(printed_status(seen, "json"))["exposed"]
    ]
    return {"rows": [*map(Line, rows)]} | in_forms(forms, lambda form: printed_status(seen, form))


def printed_status(seen: Inspection, form: str, width: int = 0) -> str:
    """Return the output of `status`; in the form `service`, the details of each Service."""
    services, judge = seen.snapshot.services.values(), Judge(seen)
    if form == "service":
        return "\n".join(details(service, judge.rows([service]), seen, width=width) for service in services)
    return "".join(printed(list(judge.rows(services)), [], form, width))


def in_forms(forms: Iterable[str], text: Callable[[str], str]) -> dict[str, str]:
    return {form: click.unstyle(text(form)) for form in forms if form != "sentences"}


COMMANDS: dict[Path, Callable[[Case], Any]] = {
    RELEASES: released,
    UNINSTALLS: uninstalled,
    AUDITS: audited,
    STATUSES: status_of,
    adoptions.FOLDER: adoptions.becomes,
}


def update(file: Path, becomes: Callable[[Case], Any]) -> Iterator[str]:
    """Write the result of each case in a table; yield the lines of the diff, none if nothing changes.

    Raises ValueError, and writes nothing, if two cases have the same name or a text is not a case.
    """
    before = file.read_text(encoding="utf-8")
    cases = {case.name: case for case in golden.read(file)}
    if len(CASE.findall(before)) != len(cases):
        raise ValueError(f"{file} has two cases of one name, or something that is no case")
    after = CASE.sub(lambda match: updated(match[0], cases[match[1]], becomes), before)
    if after != before:
        file.write_text(after, encoding="utf-8")
    yield from difflib.unified_diff(before.splitlines(True), after.splitlines(True), file.name, file.name)


def updated(text: str, case: Case, becomes: Callable[[Case], Any]) -> str:
    """Return the text of a case with its new result; the other text is kept as written."""
    now = becomes(case)
    if case.fields.get("becomes") == now:
        return text
    return BECOMES.sub("", text) + textwrap.indent(written({"becomes": now}), "  ")


yaml.SafeDumper.add_representer(Line, yaml.SafeDumper.represent_dict)


class Dumper(yaml.SafeDumper):
    """Writes a value on one line if it fits or is a `Line`."""

    def represent_data(self, data: Any) -> yaml.Node:
        node = super().represent_data(data)
        if isinstance(node, yaml.CollectionNode):
            line = yaml.safe_dump(data, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
            fits = len(line) <= WIDTH and line.count("\n") == 1
            of_words = isinstance(data, list) and all(isinstance(item, str) and len(item) < 40 for item in data)
            node.flow_style = "becomes" not in data and (fits or of_words or isinstance(data, Line))
        return node

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


# Write a string of several lines as a block.
Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)
)


def written(content: Any) -> str:
    """Return content as YAML. If it has unusual characters, all non-ASCII characters are escaped."""
    expected = all(char.isascii() or char in "…·–" for char in json.dumps(content, ensure_ascii=False))
    text: str = yaml.dump(content, Dumper=Dumper, sort_keys=False, width=10**6, allow_unicode=expected)
    return text


def main() -> None:
    """Update all cases. Raises ValueError for text that is not a case."""
    for folder, becomes in ({golden.CASES: lambda case: case.becomes} | COMMANDS).items():
        for table in sorted(folder.glob("*.yaml")):
            sys.stdout.writelines(update(table, becomes))
    if reason := test_chart.why_unavailable():
        print(reason)  # noqa: T201
    else:
        sys.stdout.writelines(update(test_chart.CASES, test_chart.changes))


if __name__ == "__main__":
    main()
