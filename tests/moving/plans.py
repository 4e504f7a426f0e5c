"""The cases: small clusters, and what `adopt` plans for them, in a table whose objects are as tools/dumps.py has them.

`objects` stand, the oldest first; `settings` are the administrator's, if not all is allowed; `becomes` is what `adopt
--all --all-namespaces` says on standard error, but for where the settings are from, and then what it prints.
"""

import sys
from pathlib import Path

import yaml

from tests.moving.clusters import ALL_ALLOWED, Cluster
from tests.moving.moves import playing
from tools import dumps, golden
from tools.golden import Case

TABLE = Path(__file__).with_name("cases.yaml")


def cases() -> list[Case]:
    """Return the cases."""
    return [*golden.read(TABLE)]


def cluster_of(case: Case, *, host_first: bool = False) -> Cluster:
    """Return the cluster of a case."""
    settings = yaml.safe_load(case.settings) if case.settings else ALL_ALLOWED
    objects = dumps.objects(case.stated["objects"])
    return Cluster(0, case.name, settings, objects, host_first=host_first, address="203.0.113.10")


def plan_of(case: Case) -> str:
    """Return the plan for the cluster of a case."""
    with playing(cluster_of(case)) as player:
        ended = player.run("adopt", "--all", "--all-namespaces")
    return ended.err.partition("\n")[2] + ended.out


if __name__ == "__main__":
    sys.stdout.writelines(golden.update(TABLE, plan_of))
