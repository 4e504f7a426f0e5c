"""The cases: `make cases` writes what each Service in tests/cases and tests/attacks now becomes, and shows the changes.

tools/golden.py says what a case is. Read the diff: the tests compare every later answer with it.
Below tests/commands, what the objects of each case of a command become, or what is found in them, is written beside
them; below tests/chart, what the values of each case change. Some cases are the examples of
`ingress-manager play`, and are written into the package.
"""

import sys
from pathlib import Path

from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.audit.reports import effects, findings
from ingress_manager.commands.audit.why import with_reasons
from ingress_manager.commands.plans.plan import script
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.release.releases import release
from ingress_manager.commands.status.printing import printed
from ingress_manager.commands.status.states import Judge
from ingress_manager.commands.uninstall_plan.plan import lines as lines_of_uninstall
from ingress_manager.commands.uninstall_plan.plan import uninstall_plan
from ingress_manager.commands.view.events import reports_in
from ingress_manager.commands.view.look import look
from ingress_manager.commands.view.surroundings import surroundings_in
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tools import adoptions, examples, golang, golden, helm

TESTS = golden.TESTS
RELEASES = TESTS / "commands/release"
UNINSTALLS = TESTS / "commands/uninstall_plan"
AUDITS = TESTS / "commands/audit"
STATUSES = TESTS / "commands/status"


def cases_in(folder: Path) -> list[Path]:
    """Return the cases of a command, sorted."""
    return sorted(path for path in folder.iterdir() if path.is_dir())


def released(case: Path) -> dict[str, str]:
    """Return the files of a case of `release`: how its Service is released, or why it isn't, and the notes."""
    manifests = read((case / "objects.yaml").read_text(encoding="utf-8"), "objects.yaml")
    [plan] = release(manifests, manifests.of_kind(SERVICES))
    steps = "".join(f"{line}\n" for line in script(plan.steps))
    told = "".join(f"{sentence}\n" for sentence in (*plan.messages, *plan.notes))
    return {name: text for name, text in {"steps.sh": steps, "told.txt": told}.items() if text}


def uninstalled(case: Path) -> dict[str, str]:
    """Return the files of a case of `uninstall-plan`: with --keep, and with --remove, if that differs."""
    manifests = read((case / "objects.yaml").read_text(encoding="utf-8"), "objects.yaml")
    keep, remove = (
        "".join(f"{line}\n" for line in lines_of_uninstall(uninstall_plan(manifests, keep=keep)))
        for keep in (True, False)
    )
    return {"keep.sh": keep, **({"remove.sh": remove} if remove != keep else {})}


def audited(case: Path) -> dict[str, str]:
    """Return the files that hold what is found in a case of `audit`, and what other settings would change."""
    manifests = read((case / "objects.yaml").read_text(encoding="utf-8"), "objects.yaml")
    audited = audit(manifests.items, settings_in(case / "settings.yaml"), around=surroundings_in(manifests))
    audited.findings = list(with_reasons(audited.findings, reports_in(manifests.items)))
    found = [*findings(audited, "table"), *(f"{finding}\n" for finding in audited.invalid)]
    if not (case / "new.yaml").exists():
        return {"audit.txt": "".join(found)}
    changed = preview(manifests.items, settings_in(case / "new.yaml"))
    return {"audit.txt": "".join(found), "changes.txt": "".join(effects(changed, "table"))}


def status_of(case: Path) -> dict[str, str]:
    """Return the files that hold what `status` prints in a case, as a table and as JSON."""
    manifests = read((case / "objects.yaml").read_text(encoding="utf-8"), "objects.yaml")
    policy, around = settings_in(case / "settings.yaml"), surroundings_in(manifests)
    view = look(manifests.items, policy.without_pause())
    found = list(Judge(view, policy, around, reports_in(manifests.items)).rows(view.services.values()))
    return {
        file: "".join(printed(found, {}, around.now, form))
        for file, form in (("status.txt", "table"), ("status.json", "json"))
    }


COMMANDS = {
    RELEASES: released,
    UNINSTALLS: uninstalled,
    AUDITS: audited,
    STATUSES: status_of,
}
"""The folders with cases of commands, and what says which files each of their cases has."""


def settings_in(file: Path) -> Policy:
    """Return the settings in a file, the defaults when there is none."""
    return parse(file.read_text(encoding="utf-8")) if file.exists() else Policy()


def main(*folders: Path) -> None:
    """Update every table in the folders, and print what changed."""
    for table in (table for folder in folders for table in sorted(folder.glob("*.yaml"))):
        sys.stdout.writelines(golden.update(table))


if __name__ == "__main__":
    main(golden.CASES, golden.ATTACKS)
    sys.stdout.writelines(golden.update(adoptions.TABLE, adoptions.becomes))
    for name in adoptions.SCRIPTS:
        adoptions.script_of(name).write_text(adoptions.printed(adoptions.cases()[name]), encoding="utf-8")
    for folder, becomes in COMMANDS.items():
        for each in cases_in(folder):
            for file, content in becomes(each).items():
                (each / file).write_text(content, encoding="utf-8")
    if reason := golang.lacking("helm"):
        print(reason)  # noqa: T201
    else:
        for each in helm.cases():
            (each / "changes.diff").write_text(helm.changes(each), encoding="utf-8")
    examples.FILE.write_text(examples.text(), encoding="utf-8")
