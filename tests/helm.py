"""Helm, as the tests of the chart run it, and the cases of the chart: `make cases` writes what each of them changes."""

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY, built, folder
from devcluster.errors import CommandFailed
from tests.golden import Case, read
from tools.chart import CHART

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


@cache
def by_default() -> list[dict[str, Any]]:
    """Return the objects that the chart makes without any values: not to be changed."""
    return rendered({})


def cases() -> dict[str, Case]:
    """Return the cases by their names."""
    return {case.name: case for case in read(CASES)}


def changes(case: Case) -> str:
    """Return how the objects with the values of a case differ from those without any.

    What changes alike in objects that follow each other is said once, below their names.
    """
    before, after = by_name(by_default()), by_name(rendered(case.stated["values"]))
    lines: list[str] = []
    for changed, names in groupby(sorted(before | after), lambda name: difference(before.get(name), after.get(name))):
        if changed in ("+", "-"):
            lines += [f"{changed} {name}" for name in names]
        elif changed:
            lines += [*names, *changed]
    return "".join(f"{line}\n" for line in lines)


def by_name(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each object by its kind and name, as what stands at each place."""
    return {f"{item['kind']} {item['metadata']['name']}": dict(places(item)) for item in objects}


def places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each place in an object, and the text, the number or the list of these that stands there.

    The version is left out: a release changes no case.
    """
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        inside = enumerate(value)
    for key, each in inside:
        yield from places(each, f"{place}.{key}" if place else str(key))
    if not inside:
        yield place, value.replace(version(), "VERSION") if isinstance(value, str) else value


@cache
def version() -> str:
    """Return the version of the chart."""
    found: str = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["version"]
    return found


def difference(before: dict[str, Any] | None, after: dict[str, Any] | None) -> str | list[str]:
    """Return what differs of one object, line by line; of one that comes or goes, + or -."""
    if before is None or after is None:
        return "+" if after else "-"
    changed = {place: value for place, value in after.items() if before.get(place, "") != value}
    lines = [f"  {place}: {json.dumps(value)}" for place, value in changed.items()]
    return lines + [f"  {place} is gone" for place in before if place not in after]
