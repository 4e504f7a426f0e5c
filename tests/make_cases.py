"""The cases: `make cases` writes what becomes of each, and shows the changes. Read the diff before you commit it.

tools/golden.py says what a case is; it is a Service in tests/cases and tests/attacks, and what is on a cluster in the
tables of commands below tests/commands. In tests/chart.yaml, what the values of each case change is written. Some cases
are the examples of `ingress-manager play`, and are written into the package.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingress_manager.commands.audit.audit import audit, audit_of
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.audit.reports import effects, findings
from ingress_manager.commands.audit.why import with_reasons
from ingress_manager.commands.plans.plan import listed
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.release.releases import release
from ingress_manager.commands.status.printing import printed
from ingress_manager.commands.status.service import told
from ingress_manager.commands.status.states import Judge
from ingress_manager.commands.uninstall.plan import lines as lines_of_uninstall
from ingress_manager.commands.uninstall.plan import uninstall
from ingress_manager.commands.view.events import reports_in
from ingress_manager.commands.view.look import look
from ingress_manager.commands.view.surroundings import surroundings_in
from ingress_manager.core.settings import parse
from tests import adoptions, dumps, examples, helm
from tools import golden
from tools.golden import Case

TESTS = golden.TESTS
RELEASES = TESTS / "commands/release"
UNINSTALLS = TESTS / "commands/uninstall"
AUDITS = TESTS / "commands/audit"
STATUSES = TESTS / "commands/status"
FIELDS = ["why", "settings", "new", "forms", "objects", "becomes"]
"""Those of a case of a command, whose objects are as tests/dumps.py says; `new` are the settings to look ahead to, and
`forms` those in which it is printed beside the table."""


def released(case: Case) -> dict[str, str]:
    """Return how the Service of a case is released, or why it isn't, and the notes."""
    manifests = dumps.manifests(case)
    [plan] = release(manifests, manifests.of_kind(SERVICES))
    steps = "".join(f"{line}\n" for line in listed(plan.steps))
    told = "".join(f"{sentence}\n" for sentence in (*plan.messages, *plan.notes))
    return {name: text for name, text in {"steps": steps, "told": told}.items() if text}


def uninstalled(case: Case) -> dict[str, str]:
    """Return what `uninstall` shows in a case: with --keep, and with --remove, if that differs."""
    keep, remove = (
        "".join(f"{line}\n" for line in lines_of_uninstall(uninstall(dumps.manifests(case), keep=keep)))
        for keep in (True, False)
    )
    return {"keep": keep, **({"remove": remove} if remove != keep else {})}


def audited(case: Case) -> dict[str, Any]:
    """Return what is found in a case of `audit`, and what other settings would change."""
    manifests = dumps.manifests(case)
    audited = audit(manifests.items, case.policy, around=surroundings_in(manifests))
    audited.findings = with_reasons(audited.findings, reports_in(manifests.items))
    invalid = [f"{finding}\n" for finding in audited.invalid]
    forms = ["table", *case.stated.get("forms", ())]
    becomes = {form: "".join([*findings(audited, form), *invalid]) for form in forms}
    if "new" in case.stated:
        changed = preview(manifests.items, parse(new_settings(case)))
        becomes |= {f"changes {form}": "".join(effects(changed, form)) for form in forms}
    # What most cases have needs no name of a form.
    names = {"table": "audit", "changes table": "changes"}
    return {
        names.get(name, name): json.loads(text) if name.endswith("json") else text for name, text in becomes.items()
    }


def new_settings(case: Case) -> str:
    """Return the settings that a case of `audit` looks ahead to."""
    new = case.stated["new"]
    return new if isinstance(new, str) else as_yaml(new)


def status_of(case: Case) -> dict[str, Any]:
    """Return what `status` prints in a case, in the form `service` of each by itself.

    Of JSON, what is null or empty is left out.
    """
    manifests = dumps.manifests(case)
    around = surroundings_in(manifests)
    view = look(manifests.items, case.policy.without_pause())
    reports = reports_in(manifests.items)
    judge = Judge(view, case.policy, around, reports)
    found = list(judge.rows(view.services.values()))
    forms = ["table", *case.stated.get("forms", ())]
    texts = {form: "".join(printed(found, {}, around.now, form)) for form in forms if form != "service"}
    if "service" in forms:
        wrong = with_reasons(audit_of(view, case.policy, around).findings, reports)
        texts["service"] = "\n".join(
            told(each, judge.rows([each]), view, wrong, manifests.items, []) for each in view.services.values()
        )
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


def update(folder: Path, becomes: Callable[[Case], Any]) -> None:
    """Update every table in a folder, and print what changed. Raises ValueError if something in it is no case."""
    for table in sorted(folder.glob("*.yaml")):
        sys.stdout.writelines(golden.update(table, becomes))


def main() -> None:
    """Write all cases, and what is made of them. Raises ValueError if something is no case."""
    for each, outcome in ({golden.CASES: golden.answered, golden.ATTACKS: golden.answered} | COMMANDS).items():
        update(each, outcome)
    sys.stdout.writelines(golden.update(adoptions.TABLE, adoptions.becomes))
    if reason := helm.lacking():
        print(reason)  # noqa: T201
    else:
        sys.stdout.writelines(golden.update(helm.CASES, helm.changes))
    examples.FILE.write_text(examples.text(), encoding="utf-8")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tests.make_cases", description=__doc__).parse_args()
    try:
        main()
    except ValueError as error:
        sys.exit(f"Error: {error}")
