"""The cases: `make cases` writes what becomes of each, and shows the changes. Read the diff before you commit it.

tests/golden.py says what a case is; it is a Service in tests/cases and tests/attacks, and what is on a cluster in the
tables of commands below tests/commands. In tests/chart.yaml, what the values of each case change is written. Some cases
are the examples of `ingress-manager play`, and are written into the package.
"""

import argparse
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

from devcluster.build import REPOSITORY
from ingress_manager.commands.audit.audit import preview
from ingress_manager.commands.audit.command import printed as printed_audit
from ingress_manager.commands.plans.plan import listed
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import of_kind
from ingress_manager.commands.release import release_of
from ingress_manager.commands.status.command import printed, told
from ingress_manager.commands.status.states import Judge
from ingress_manager.commands.uninstall import steps
from ingress_manager.commands.view.look import look
from ingress_manager.core.settings import parse
from tests import adoptions, dumps, golden, helm
from tests.golden import Case

TESTS = golden.TESTS
RELEASES = TESTS / "commands/release"
UNINSTALLS = TESTS / "commands/uninstall"
AUDITS = TESTS / "commands/audit"
STATUSES = TESTS / "commands/status"
BECOMES = re.compile(r"^  becomes:.*\n(?:  [- ].*\n|\n(?=\n*  ))*", re.MULTILINE)
WIDTH = 104
"""Characters of a line that `make cases` writes, without its indentation."""

FIELDS = ["why", "settings", "new", "forms", "objects", "becomes"]
"""Those of a case of a command, whose objects are as tests/dumps.py says; `new` are the settings to look ahead to, and
`forms` those in which it is printed beside the table."""


def released(case: Case) -> dict[str, str]:
    """Return how the Service of a case is released, or why it isn't, and the notes."""
    items = dumps.manifests(case)
    [service] = of_kind(items, SERVICES)
    plan = release_of(service, items)
    found = {"steps": listed(plan.steps), "told": map(str, (*plan.messages, *plan.notes))}
    texts = {name: "".join(f"{line}\n" for line in lines) for name, lines in found.items()}
    return {name: text for name, text in texts.items() if text}


def uninstalled(case: Case) -> dict[str, str]:
    """Return what `uninstall` shows in a case: with --keep, and with --remove, if that differs."""
    keep, remove = (
        "".join(f"{line}\n" for line in listed(steps(dumps.manifests(case), keep=keep))) for keep in (True, False)
    )
    return {"keep": keep, **({"remove": remove} if remove != keep else {})}


def audited(case: Case) -> dict[str, Any]:
    """Return what is found in a case of `audit`, or what its new settings would change."""
    forms = ["table", *case.stated.get("forms", ())]
    seen = dumps.looked(case)
    if "new" in case.stated:
        new = parse(new_settings(case))
        view = look(dumps.manifests(case), new.without_pause())
        seen = seen._replace(view=view, findings=preview(view, new))
    name, noun = ("changes", "change") if "new" in case.stated else ("audit", "finding")
    return in_forms(name, {form: click.unstyle("".join(printed_audit(seen, form, noun))) for form in forms})


def in_forms(table: str, texts: dict[str, str]) -> dict[str, Any]:
    """Return what was printed in each form; a table has the name of what it tells."""
    return {
        table if form == "table" else form: json.loads(text) if form == "json" else text for form, text in texts.items()
    }


def new_settings(case: Case) -> str:
    """Return the settings that a case of `audit` looks ahead to."""
    new = case.stated["new"]
    return new if isinstance(new, str) else as_yaml(new)


def status_of(case: Case, width: int = 0) -> dict[str, Any]:
    """Return what `status` prints in a case, in the form `service` of each by itself.

    Of JSON, what is null or empty is left out.
    """
    seen = dumps.looked(case)
    judge = Judge(seen)
    found = list(judge.rows(seen.view.services.values()))
    forms = ["table", *case.stated.get("forms", ())]
    texts = {form: click.unstyle("".join(printed(found, [], form, width=width))) for form in forms if form != "service"}
    if "service" in forms:
        services = seen.view.services.values()
        texts["service"] = "\n".join(told(each, judge.rows([each]), seen, width=width) for each in services)
    if "json" in texts:
        whole = json.loads(texts["json"])
        exposed = [{key: value for key, value in row.items() if value} for row in whole["exposed"]]
        return texts | {"json": whole | {"exposed": exposed}}
    return texts


COMMANDS: dict[Path, Callable[[Case], Any]] = {
    RELEASES: released,
    UNINSTALLS: uninstalled,
    AUDITS: audited,
    STATUSES: status_of,
}
"""The folders with tables of cases of commands, and what says what becomes of each case."""


def answered(case: Case) -> Any:
    """Return what the Service of a case becomes by the hook's answer, as a case says it."""
    return golden.short(case.outcome(), case.service["metadata"])


def update(file: Path, becomes: Callable[[Case], Any]) -> Iterator[str]:
    """Write what each case in a table becomes; yield the lines of the diff, none if nothing changes.

    Raises ValueError, and writes nothing, if something in the table is no case.
    """
    before = file.read_text(encoding="utf-8")
    cases = iter([*golden.read(file)])
    after = golden.CASE.sub(lambda found: updated(found[0], next(cases), becomes), before)
    if after != before:
        file.write_text(after, encoding="utf-8")
    yield from difflib.unified_diff(before.splitlines(True), after.splitlines(True), file.name, file.name)


def updated(text: str, case: Case, becomes: Callable[[Case], Any]) -> str:
    """Return the text of a case, with what it becomes. What else it says stays as it was written."""
    now = becomes(case)
    if case.stated.get("becomes") == now:
        return text
    return BECOMES.sub("", text) + textwrap.indent(written({"becomes": now}), "  ")


EXAMPLES_FILE = REPOSITORY / "ingress_manager/commands/page/examples.json"
COMMENT_WIDTH = 60
"""Characters of a comment. On the page, there is room for that many."""


EXAMPLES = {
    "To begin with": {
        "A host and a certificate": "host-and-tls",
        "One annotation, and the defaults": "http-true",
        "No annotation, and no Ingress": "http-absent",
        "Every annotation": "every-annotation",
    },
    "Hosts, paths and ports": {
        "Several hosts": "host-several",
        "One exact path": "path-type-exact",
        "A port by its name": "port-by-name",
        "Several routes": "routes-take-the-rest-from-the-annotations",
    },
    "Mistakes": {
        "An annotation with a slip of the pen": "annotation-unknown-refused",
        "Which of the ports?": "port-ambiguous-refused",
        "Off, and a certificate": "tls-false-and-secret-refused",
        "One route, stated twice": "routes-trailing-slash-refused",
    },
    "What the settings decide": {
        "A host for every Service": "settings-host-template",
        "TLS for everyone by one issuer": "settings-tls-for-everyone-by-one-issuer",
        "Hosts of each namespace's own": "policy-namespace-in-a-pattern",
        "A host of another team": "policy-namespace-in-a-pattern-refused",
        "Settings with a mistake": "settings-outputs-unknown-refused",
    },
    "Gateway API": {"An HTTPRoute": "httproute", "An Ingress and HTTPRoutes": "both-routes"},
}
"""The examples of `ingress-manager play` are cases: of each group, what the page calls one."""


def examples() -> str:
    """Return the content of EXAMPLES_FILE: what somebody would type for each example."""
    cases = {case.name: case for case in golden.cases_in(golden.CASES)}
    typed_in = [
        {"group": group, "title": title, "service": typed(cases[name]), "settings": cases[name].settings}
        for group, cases_of in EXAMPLES.items()
        for title, name in cases_of.items()
    ]
    return json.dumps(typed_in, indent=1, ensure_ascii=False) + "\n"


def typed(case: Case) -> str:
    """Return the Service of a case as somebody would type it, below the reason for it."""
    service = case.service
    del service["metadata"]["uid"]
    why = textwrap.fill(case.stated["why"], COMMENT_WIDTH, initial_indent="# ", subsequent_indent="# ")
    return f"{why}\n{as_yaml(service)}"


class Dumper(yaml.SafeDumper):
    """Writes what fits into a line in one."""

    depth = 0

    def represent_data(self, data: Any) -> yaml.Node:
        """Return the node of `data`."""
        self.depth += 1
        node = super().represent_data(data)
        self.depth -= 1
        if isinstance(node, yaml.CollectionNode):
            line = yaml.safe_dump(data, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
            fits = len(line) <= WIDTH - 6 * self.depth and line.count("\n") == 1
            of_words = isinstance(data, list) and all(isinstance(item, str) and len(item) < 40 for item in data)
            node.flow_style = self.depth > 0 and (fits or of_words)
        return node

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Return that what is the same is written again."""
        return True


def represent_text(dumper: Dumper, text: str) -> yaml.ScalarNode:
    """Return a text in several lines as a block, in which each has its own."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, "|" if "\n" in text else None)


Dumper.add_representer(str, represent_text)


def written(content: Any) -> str:
    """Return content as YAML. Where it has a letter or sign that nobody expects in English, all are escaped."""

    def dumped(*, allow_unicode: bool) -> str:
        text: str = yaml.dump(content, Dumper=Dumper, sort_keys=False, width=WIDTH, allow_unicode=allow_unicode)
        return text

    text = dumped(allow_unicode=True)
    return text if all(char.isascii() or char in "…·–" for char in text) else dumped(allow_unicode=False)


def main() -> None:
    """Write all cases, and what is made of them. Raises ValueError if something is no case."""
    for folder, becomes in ({golden.CASES: answered, golden.ATTACKS: answered} | COMMANDS).items():
        for table in sorted(folder.glob("*.yaml")):
            sys.stdout.writelines(update(table, becomes))
    sys.stdout.writelines(update(adoptions.TABLE, adoptions.becomes))
    if reason := helm.lacking():
        print(reason)  # noqa: T201
    else:
        sys.stdout.writelines(update(helm.CASES, helm.changes))
    EXAMPLES_FILE.write_text(examples(), encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tests.make_cases", description=__doc__).parse_args()
    try:
        main()
    except ValueError as error:
        sys.exit(f"Error: {error}")
