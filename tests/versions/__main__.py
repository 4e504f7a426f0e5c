"""The command `python -m tests.versions`."""

import datetime
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml

from devcluster import gateway_api
from devcluster.build import BUILD, Progress, get, numbers
from devcluster.console import Command, end_on_signals, progress
from devcluster.errors import DevClusterError, MissingProgram
from devcluster.programs import find_metacontroller
from ingress_manager.commands.check.versions import GATEWAY_API, KUBERNETES, METACONTROLLER
from tests.versions.kubernetes import assets, download
from tests.versions.trials import ALONE, ANYWHERE, CHART, HTTPROUTES, Outcome, refused_crds, story, tests, without_later

RESULTS = Path(__file__).with_name("results.yaml")
CRDS = ("1.1.0", "1.2.1", "1.3.0", "1.4.1", "1.5.1", *GATEWAY_API.tested)
"""The versions of the Gateway API whose CRDs are tried. Go's module proxy has no 1.0."""

LOGS = BUILD / "versions"

Row = dict[str, Any]


def row(key: str, version: str, **seen: object) -> Row:
    """Return what is written of a version: each outcome as words, and what has failed."""
    failed = [part for each in seen.values() if isinstance(each, Outcome) for part in each.failed]
    words = {name: str(each) if isinstance(each, Outcome) else each for name, each in seen.items()}
    today = datetime.datetime.now(datetime.UTC).date()
    return {key: version, **words, "failed": failed, "tried": today}


def folder_of(crds: str) -> Path:
    """Return the folder with the CRDs of a version of the Gateway API, downloaded."""
    return Path(download(gateway_api.GO_MODULE, crds)["Dir"]) / "config/crd/standard"


def kubernetes(version: str, report: Progress) -> Row:
    """Try a version of Kubernetes, with those of the newest CRDs of the Gateway API that it takes."""
    chosen = {"KUBEBUILDER_ASSETS": str(assets(version, report))}
    logs = LOGS / f"kubernetes-{version}"
    report(f"Kubernetes {version}: which CRDs it takes")
    folders = {each: folder_of(each) for each in CRDS}
    refused = refused_crds(folders, chosen, report)
    *_, newest = folders
    with tempfile.TemporaryDirectory() as folder:
        for crd in folders[newest].glob("*.yaml"):
            if crd.stem.rpartition("_")[2] not in refused.get(newest, ()):
                (Path(folder) / crd.name).symlink_to(crd)
        report(f"Kubernetes {version}: the story")
        played = story(chosen, logs / "story.log")
        report(f"Kubernetes {version}: the tests")
        with_crds = {**chosen, "GATEWAY_API_CRDS": folder}
        tested = tests(ANYWHERE, with_crds, logs / "tests.log", *without_later(version))
    report(f"Kubernetes {version}: the chart")
    with_helm = {
        name: tests(CHART, {**chosen, "HELM": name}, logs / f"{name}.log", *ALONE) for name in ("helm", "helm3")
    }
    return row("kubernetes", played.kubernetes, story=played.outcome, tests=tested, **with_helm, refused=refused)


def metacontroller(program: Path, report: Progress) -> Row:
    """Try a version of Metacontroller, which its log states."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "metacontroller").symlink_to(program.resolve())
        path = {"PATH": os.pathsep.join((folder, os.environ["PATH"]))}
        logs = LOGS / f"metacontroller-{program.parent.name}-{program.name}"
        report(f"{program}: the story")
        played = story(path, logs / "story.log")
        report(f"Metacontroller {played.metacontroller}: the tests")
        tested = tests(ANYWHERE, path, logs / "tests.log")
    return row("metacontroller", played.metacontroller, story=played.outcome, tests=tested)


def crds(version: str, report: Progress) -> Row:
    """Try a version of the CRDs of the Gateway API."""
    report(f"the Gateway API {version}: the tests")
    log = LOGS / f"gateway-api-{version}" / "tests.log"
    return row("gateway_api", version, tests=tests(HTTPROUTES, {"GATEWAY_API_CRDS": str(folder_of(version))}, log))


def given(programs: str) -> list[Path]:
    """Return the Metacontrollers to try: those that somebody names, and the one on PATH. Raises MissingProgram."""
    found = [Path(program) for program in programs.split()]
    for program in found:
        if not os.access(program, os.X_OK) or program.is_dir():
            raise MissingProgram(f"METACONTROLLERS names {program}, which is no program")
    on_path = find_metacontroller()
    return [*found, *([on_path] if on_path else [])]


def trials(chosen: tuple[str, ...], programs: str, report: Progress) -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield each of the trials that are chosen, by its name."""
    for name in chosen or (
        *(f"kubernetes-{each}" for each in KUBERNETES.tested),
        "metacontroller",
        *(f"gateway-api-{each}" for each in CRDS),
    ):
        what, _, version = name.rpartition("-")
        if name == "metacontroller":
            for program in given(programs):
                yield f"Metacontroller {program}", partial(metacontroller, program, report)
        elif what == "kubernetes":
            yield f"Kubernetes {version}", partial(kubernetes, version, report)
        elif version in CRDS:
            yield f"the Gateway API {version}", partial(crds, version, report)
        else:
            raise MissingProgram(
                f"{name} is none of kubernetes-1.30.14, metacontroller, gateway-api-1.2.1 and the like"
            )


def merged(rows: list[Row], new: Row) -> list[Row]:
    """Return the results with a new one in the place of the older one of the same version."""
    key = next(iter(new))
    kept = [each for each in rows if each.get(key) != new[key] or next(iter(each)) != key]
    return sorted([*kept, new], key=lambda each: (next(iter(each)), numbers(str(each[next(iter(each))]))))


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--metacontrollers", default="", help="Programs of Metacontroller to try, beside the one on PATH.")
@click.argument("chosen", nargs=-1)
def main(chosen: tuple[str, ...], metacontrollers: str) -> None:
    """Try ingress-manager on other versions of Kubernetes, Metacontroller, Helm and the Gateway API's CRDs.

    CHOSEN are such as kubernetes-1.30.14, gateway-api-1.2.1 or metacontroller; without any, all are tried. What came of
    each is in tests/versions/results.yaml, from which `make docs` makes the page; the logs are in .build/versions/. The
    programs of a version of Kubernetes take some minutes to build, once.

    The exit status is 1 when something has failed.

    \b
    Examples:
      python -m tests.versions
      python -m tests.versions kubernetes-1.30.14
      python -m tests.versions --metacontrollers 'v4.15.1/metacontroller v4.16.7/metacontroller' metacontroller
    """  # noqa: D301 - \b keeps click from joining lines
    failed, known = False, set()
    with progress() as report:
        for name in ("helm", "helm3"):
            get(name, report)
        for name, trial in trials(chosen, metacontrollers, report):
            try:
                new = trial()
            except DevClusterError as error:
                failed = True
                click.echo(f"✘ {name}: {error}")
                continue
            rows = yaml.safe_load(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
            RESULTS.write_text(yaml.safe_dump(merged(rows, new), sort_keys=False), encoding="utf-8")
            known.add(new.get("metacontroller"))
            failed = failed or bool(new["failed"])
            click.echo(f"{'✘' if new['failed'] else '✔'} {name}: {new['tests']} tests")
            for each in new["failed"]:
                click.echo(f"    {each}")
    if (not chosen or "metacontroller" in chosen) and (lacking := set(METACONTROLLER.tested) - known):
        click.echo(
            f"Not tried, because METACONTROLLERS names no program of it: Metacontroller {', '.join(sorted(lacking))}"
        )
    raise SystemExit(failed)


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tests.versions")
