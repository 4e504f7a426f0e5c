"""Programs for the tests, such as Helm: `python -m tools.golang` builds them from their published Go modules.

What tools/golang/*/go.mod pins is built into .build/, and nothing is installed.
"""

from typing import NamedTuple

import click

from devcluster import build
from devcluster.console import Command, progress
from devcluster.errors import MissingProgram


class Tool(NamedTuple):
    """A program that tests use."""

    module: str
    """The Go module, whose version is the program's."""

    use: str
    """What can't be tested without it."""


TOOLS = {
    "actionlint": Tool("github.com/rhysd/actionlint", "the GitHub workflows"),
    "helm": Tool("helm.sh/helm/v4", "the chart"),
    "helm3": Tool("helm.sh/helm/v3", "what Helm 3 does after `adopt`"),
    "prometheus": Tool("github.com/prometheus/prometheus", "what Prometheus scrapes"),
    "promtool": Tool("github.com/prometheus/prometheus", "the alerts"),
}


def lacking(name: str) -> str | None:
    """Return why a program can't be used by a test, or None."""
    if build.built(name):
        return None
    return f"NOT CHECKED WITH {name.upper()}: {TOOLS[name].use}. `python -m tools.golang` builds it."


def version(name: str) -> str:
    """Return the version of a program's module, for example v4.3.1."""
    return build.pinned_version(TOOLS[name].module, build.SOURCES[name].module)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--if-possible", is_flag=True, help="Succeed, with a message, where there is no Go.")
def main(if_possible: bool) -> None:
    """Build the programs that tests use into .build/, such as Helm and Prometheus, and say which they are."""
    for name in TOOLS:
        try:
            with progress() as report:
                path = build.get(name, report)
        except MissingProgram as error:
            if not if_possible:
                raise
            click.echo(str(error), err=True)
        else:
            click.echo(f"{name} {version(name)} ({path})")


if __name__ == "__main__":
    main(prog_name="python -m tools.golang")
