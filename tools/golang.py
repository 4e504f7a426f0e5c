"""Helm, Prometheus and actionlint for the tests: `python -m tools.golang` builds them from their published Go modules.

What tools/golang/*/go.mod pins is built into .build/, and nothing is installed.
"""

import click

from devcluster import build
from devcluster.console import Command, progress
from devcluster.errors import MissingProgram
from devcluster.programs import Program, find_own

USES = {
    "actionlint": "the GitHub workflows",
    "helm": "the chart",
    "prometheus": "what Prometheus scrapes",
    "promtool": "the alerts",
}
"""What can't be tested without each program."""


def lacking(name: str) -> str | None:
    """Return why a program can't be used by a test, or None."""
    if build.built(name):
        return None
    return f"NOT CHECKED WITH {name.upper()}: {USES[name]}. `python -m tools.golang` builds it."


def get(name: str, report: build.Progress) -> Program:
    """Return a program; build it, which takes minutes once, where it isn't there.

    Raises MissingProgram where there is no Go that can build it, and BuildFailed.
    """
    return find_own(name, report)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--if-possible", is_flag=True, help="Succeed, with a message, where there is no Go.")
def main(if_possible: bool) -> None:
    """Build actionlint, Helm, Prometheus and promtool into .build/, and say which they are."""
    for name in USES:
        try:
            with progress() as report:
                program = get(name, report)
        except MissingProgram as error:
            if not if_possible:
                raise
            click.echo(str(error), err=True)
        else:
            click.echo(program)


if __name__ == "__main__":
    main(prog_name="python -m tools.golang")
