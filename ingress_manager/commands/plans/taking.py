"""Takes the steps of `adopt --apply` and `release --apply`: runs their kubectl commands, one after the other."""

import time
from collections.abc import Iterable

import click

from ingress_manager.commands.plans.steps import Event, Step
from ingress_manager.commands.printing.console import waiting
from ingress_manager.commands.printing.words import shown
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.core.text import one_line

PAUSE = 10
"""Seconds that are waited in the place of an Event, with --without-event."""

PATIENCE = 60.0
"""Seconds after which no Event is expected any more."""

INTERVAL = 0.5
"""Seconds between two looks at the Events."""

apply_option = click.option("--apply", is_flag=True, help="Run the commands, one by one, instead of printing them.")
without_event_option = click.option(
    "--without-event",
    is_flag=True,
    help=f"Wait {PAUSE} seconds in the place of Metacontroller's Event: where the admission policy "
    "ingress-manager-name-taken is not installed.",
)


def take(kubectl: Kubectl, label: str, steps: Iterable[Step], *, without_event: bool) -> None:
    """Run the commands, and print each before. Raises KubectlFailed at the first that fails, or when Ctrl-C ends it.

    The message says what was done before, and how to take it back.
    """
    done: list[Step] = []
    for step in steps:
        event = None if without_event else step.until
        begun: list[Step] = []
        try:
            before = _lines(kubectl, event) if event else []
            click.echo(f"$ {shown(step.command, kubectl.options)}")
            begun = [step]
            kubectl.run(*step.command)
            done, begun = [*done, step], []
            if event:
                with waiting(f"waiting until Metacontroller has seen it: {event.text}"):
                    _wait(kubectl, event, before)
            elif step.until:
                with waiting(f"waiting {PAUSE} seconds, so that Metacontroller sees it"):
                    time.sleep(PAUSE)
        except KubectlFailed as failed:
            raise KubectlFailed(_told(label, failed.message, done, kubectl)) from failed
        except KeyboardInterrupt as stopped:
            # Nobody knows whether a command that has begun was carried out. Taking it back does no harm.
            raise KubectlFailed(_told(label, "interrupted", [*done, *begun], kubectl)) from stopped


def _lines(kubectl: Kubectl, event: Event) -> list[str]:
    return event.lines(kubectl.run(*event.command))


def _wait(kubectl: Kubectl, event: Event, before: list[str]) -> None:
    """Return once the Event was reported anew. Raises KubectlFailed when it isn't in time."""
    deadline = time.monotonic() + PATIENCE
    while True:
        printed = kubectl.run(*event.command)
        lines = event.lines(printed)
        if lines and lines != before:
            return
        if time.monotonic() > deadline:
            # A refusal ends with a line break.
            last = one_line(printed.rstrip().splitlines()[-1].partition(" ")[2]) if printed.strip() else "none"
            raise KubectlFailed(
                f"Metacontroller has not reported within {PATIENCE:g} s that {event.text}. The last Event of Service "
                f"{event.service.label}: {last}. Where the settings pause ingress-manager, or the policy "
                "ingress-manager-name-taken is not installed, --without-event does without"
            )
        time.sleep(INTERVAL)


def _told(label: str, message: str, done: list[Step], kubectl: Kubectl) -> str:
    lines = [f"{label}: {message}"]
    if not done:
        return f"{lines[0]}\nNothing of it was done."
    lines += ["Done so far:", *(f"  {shown(step.command, kubectl.options)}" for step in done)]
    undo = [shown(step.undo[1:], kubectl.options, step.undo[0]) for step in reversed(done) if step.undo]
    return "\n".join([*lines, "To go back:", *(f"  {command}" for command in undo)]) if undo else "\n".join(lines)
