"""The cases: `make cases` writes what becomes of each, and shows the changes. Read the diff before you commit it.

tests/golden.py says what a case is; it is a Service in tests/cases, and what is on a cluster in the tables of commands
below tests/commands. In tests/chart.yaml, what the values of each case change is written.
"""

import difflib
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import yaml
from ingress_manager.commands.snapshot.items import SERVICE, of_kind

from ingress_manager.commands.audit.command import printed as printed_audit
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.plans.plan import listed
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.release import release_of
from ingress_manager.commands.snapshot.services import snapshot_of
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.commands.status.command import details, printed
from ingress_manager.commands.status.states import Judge
from ingress_manager.commands.uninstall import uninstall_steps
from ingress_manager.core.settings import parse
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
WIDTH, FLOW = 104, 86
"""Characters of a line that `make cases` writes, without its indentation; the latter if it holds several things."""

FIELDS = ["why", "services", "beside", "ingress", "settings", "accept", "new", "forms", "objects", "becomes"]
"""Those of a case of a command, whose objects are as tests/dumps.py says; `new` are the settings to look ahead to, and
`forms` those in which it is printed beside the table. Of `adopt`, tests/adoptions.py says the others."""


def released(case: Case) -> dict[str, str]:
    """Return how the Service of a case is released, or why it isn't, and the notes."""
    items = dumps.manifests(case)
    [service] = of_kind(items, SERVICE)
    plan = release_of(service, items)
    found = {"steps": listed(plan.steps), "told": map(str, (*plan.messages, *plan.notes))}
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in found.items()}
    return {name: text for name, text in texts.items() if text}


def uninstalled(case: Case) -> dict[str, str]:
    """Return what `uninstall` shows in a case: with --keep, and with --remove, if that differs."""
    keep, remove = (
        "".join(f"{line}\n" for line in listed(uninstall_steps(dumps.manifests(case), keep=keep)))
        for keep in (True, False)
    )
    return {"keep": keep, **({"remove": remove} if remove != keep else {})}


def audited(case: Case) -> dict[str, Any]:
    """Return what is found in a case of `audit`, or what its new settings would change."""
    seen, name, noun = dumps.looked(case), "audit", "finding"
    if "new" in case.stated:
        new = parse(as_yaml(case.stated["new"]))
        snapshot = snapshot_of(dumps.manifests(case), new.without_pause())
        changes = preview(Evidence(snapshot, new, Surroundings()))
        seen, name, noun = seen._replace(snapshot=snapshot, findings=changes), "changes", "change"
    found = {name: click.unstyle("".join(printed_audit(seen, "table", noun)))}
    if "json" in case.stated.get("forms", ()):
        found["json"] = json.loads("".join(printed_audit(seen, "json", noun)))
    return found


def status_of(case: Case, width: int = 0) -> dict[str, Any]:
    """Return what `status` prints in a case, in the form `service` of each by itself.

    Of JSON, what is null or empty is left out.
    """
    seen, forms = dumps.looked(case), case.stated.get("forms", ())
    services, judge = seen.snapshot.services.values(), Judge(seen)
    rows = list(judge.rows(services))
    found: dict[str, Any] = {"table": "".join(printed(rows, [], "table", width=width))}
    if "service" in forms:
        found["service"] = "\n".join(details(each, judge.rows([each]), seen, width=width) for each in services)
    found = {form: click.unstyle(text) for form, text in found.items()}
    if "json" in forms:
        found["json"] = json.loads("".join(printed(rows, [], "json")))
        found["json"]["exposed"] = [
            {key: value for key, value in row.items() if value} for row in found["json"]["exposed"]
        ]
    return found


COMMANDS: dict[Path, Callable[[Case], Any]] = {
    RELEASES: released,
    UNINSTALLS: uninstalled,
    AUDITS: audited,
    STATUSES: status_of,
    adoptions.FOLDER: adoptions.becomes,
}
"""The folders with tables of cases of commands, and what says what becomes of each case."""


def update(file: Path, becomes: Callable[[Case], Any]) -> Iterator[str]:
    """Write what each case in a table becomes; yield the lines of the diff, none if nothing changes.

    Raises ValueError, and writes nothing, if two cases have the same name.
    """
    before = file.read_text(encoding="utf-8")
    cases = {case.name: case for case in golden.read(file)}
    if len(CASE.findall(before)) != len(cases):
        raise ValueError(f"{file} has two cases of one name, or something that is no case")
    after = CASE.sub(lambda found: updated(found[0], cases[found[1]], becomes), before)
    if after != before:
        file.write_text(after, encoding="utf-8")
    yield from difflib.unified_diff(before.splitlines(True), after.splitlines(True), file.name, file.name)


def updated(text: str, case: Case, becomes: Callable[[Case], Any]) -> str:
    """Return the text of a case, with what it becomes. What else it says stays as it was written."""
    now = becomes(case)
    if case.stated.get("becomes") == now:
        return text
    return BECOMES.sub("", text) + textwrap.indent(written({"becomes": now}), "  ")


class Dumper(yaml.SafeDumper):
    """Writes what fits into a line in one."""

    def represent_data(self, data: Any) -> yaml.Node:
        """Return the node of `data`."""
        node = super().represent_data(data)
        if isinstance(node, yaml.CollectionNode):
            line = yaml.safe_dump(data, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
            fits = len(line) <= FLOW and line.count("\n") == 1
            of_words = isinstance(data, list) and all(isinstance(item, str) and len(item) < 40 for item in data)
            node.flow_style = "becomes" not in data and (fits or of_words)
        return node

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Return that what is the same is written again."""
        return True


# A text in several lines is a block, in which each has its own.
Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)
)


def written(content: Any) -> str:
    """Return content as YAML. Where it has a letter or sign that nobody expects in English, all are escaped."""
    expected = all(char.isascii() or char in "…·–" for char in json.dumps(content, ensure_ascii=False))
    text: str = yaml.dump(content, Dumper=Dumper, sort_keys=False, width=WIDTH, allow_unicode=expected)
    return text


def main() -> None:
    """Write all cases. Raises ValueError if something is no case."""
    for folder, becomes in ({golden.CASES: lambda case: case.becomes} | COMMANDS).items():
        for table in sorted(folder.glob("*.yaml")):
            sys.stdout.writelines(update(table, becomes))
    if reason := test_chart.lacking():
        print(reason)  # noqa: T201
    else:
        sys.stdout.writelines(update(test_chart.CASES, test_chart.changes))


if __name__ == "__main__":
    main()
