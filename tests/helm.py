"""Helm, as the tests of the chart run it, and the cases of the chart: `make cases` writes what each of them changes."""

import difflib
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY, built, folder
from devcluster.errors import CommandFailed
from tools.chart import CHART
from tools.golden import Case, read

CASES = REPOSITORY / "tests/chart.yaml"
RELEASE = "ingress-manager"
"""The name of the release, and of its namespace."""


def lacking() -> str | None:
    """Return why the chart can't be tried, or None."""
    return None if built("helm") else "NOT CHECKED WITH HELM: `python -m devcluster build --helm` builds it."


def helm(*arguments: str | Path, input: str | None = None) -> subprocess.CompletedProcess[str]:  # noqa: A002 - as subprocess.run calls it
    """Run Helm, whatever becomes of it."""
    return subprocess.run(
        [folder("helm") / "helm", *arguments], input=input, capture_output=True, text=True, check=False
    )


def template(values: Any, release: str = RELEASE) -> subprocess.CompletedProcess[str]:
    """Render the chart with values, whatever becomes of it."""
    return helm(*("template", release, CHART, "--namespace", RELEASE, "--values", "-"), input=yaml.safe_dump(values))


def rendered(values: Any, release: str = RELEASE) -> list[dict[str, Any]]:
    """Return the objects that the chart makes with values."""
    done = template(values, release)
    if done.returncode:
        raise CommandFailed(done.stderr)
    return list(yaml.safe_load_all(done.stdout))


def of_helm_test(item: dict[str, Any]) -> bool:
    """Return whether an object exists only while `helm test` runs."""
    return bool(item["metadata"].get("annotations", {}).get("helm.sh/hook") == "test")


@cache
def by_default() -> list[dict[str, Any]]:
    """Return the objects that the chart makes without any values: not to be changed."""
    return rendered({})


def cases() -> dict[str, Case]:
    """Return the cases by their names."""
    return {case.name: case for case in read(CASES)}


def changes(case: Case) -> str:
    """Return how the objects with the values of a case differ from those without any, one after the other."""
    before, after = by_name(by_default()), by_name(rendered(case.stated["values"]))
    return "".join(line for name in sorted(before | after) for line in difference(name, before, after))


def by_name(objects: list[dict[str, Any]]) -> dict[str, str]:
    """Return each object as YAML, by its kind and name. The version is left out: a release changes no case."""
    version = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["version"]
    return {
        f"{item['kind']} {item['metadata']['name']}": yaml.safe_dump(item).replace(version, "VERSION")
        for item in objects
    }


def difference(name: str, before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the diff of one object, none when it is the same."""
    one, other = (found.get(name, "").splitlines(keepends=True) for found in (before, after))
    # Of an object that comes or goes, the name is enough.
    if not one or not other:
        yield f"{'+' if other else '-'} {name}\n"
    else:
        lines = difflib.unified_diff(one, other, name, name, n=2)
        yield from (line if not line.startswith("@@") else "@@\n" for line in lines)
