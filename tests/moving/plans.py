"""The cases: small clusters, and what `adopt` plans for them. `make cases` writes each plan.txt, and shows the changes.

cluster.yaml    what stands, the oldest first; its first line says why the case exists
settings.yaml   the administrator's settings, if not all is allowed
plan.txt        what `adopt --all --all-namespaces` says on standard error, but for where the settings are from, and
                then what it prints
"""

import difflib
import sys
from pathlib import Path

import yaml

from tests.moving.clusters import ALL_ALLOWED, Cluster
from tests.moving.moves import playing

CASES = Path(__file__).parent / "cases"


def cases() -> list[Path]:
    """Return the folders of the cases."""
    return sorted(CASES.iterdir())


def cluster_of(case: Path, *, host_first: bool = False) -> Cluster:
    """Return the cluster of a case."""
    settings, objects = ALL_ALLOWED, list(yaml.safe_load_all((case / "cluster.yaml").read_text(encoding="utf-8")))
    if (case / "settings.yaml").exists():
        settings = yaml.safe_load((case / "settings.yaml").read_text(encoding="utf-8"))
    return Cluster(0, case.name, settings, objects, host_first=host_first, address="203.0.113.10")


def plan_of(case: Path) -> str:
    """Return the plan for the cluster of a case."""
    with playing(cluster_of(case)) as player:
        ended = player.run("adopt", "--all", "--all-namespaces")
    return ended.err.partition("\n")[2] + ended.out


if __name__ == "__main__":
    for each in cases():
        file, after = each / "plan.txt", plan_of(each)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(after, encoding="utf-8")
        label = f"{each.name}/plan.txt"
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), label, label))
