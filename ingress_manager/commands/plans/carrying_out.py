"""Carries plans out, for `--apply`: runs their kubectl commands, one after the other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from time import monotonic, sleep
from typing import Any, NamedTuple

import click

from ingress_manager.commands.plans.plan import PATIENCE, Pause, Plan, Seen, Step, going_back, late, without_events
from ingress_manager.commands.printing.console import note, show, waiting
from ingress_manager.commands.printing.words import Command, comment, shown
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.options import timeout_option
from ingress_manager.core.text import one_line

BETWEEN_LOOKS = 0.5
"""Seconds."""


class How(NamedTuple):
    """What a person has said about the carrying out of plans."""

    apply: bool
    """Whether they are carried out, or only shown."""

    without_event: bool
    seconds: int


def plan_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --apply, --without-event and --timeout, which it takes as `how`."""

    @wraps(command)
    def decorated(*, apply: bool, without_event: bool, seconds: int, **values: Any) -> None:
        command(how=How(apply, without_event, seconds), **values)

    without = (
        f"Wait {Pause().seconds} seconds instead of for Metacontroller's Event. Use it in a namespace that is paused."
    )
    apply = "Carry the steps out instead of showing them."
    decorated = timeout_option("2m", "How long to wait for each step")(decorated)
    decorated = click.option("--without-event", is_flag=True, help=without)(decorated)
    return click.option("--apply", is_flag=True, help=apply)(decorated)


def perform(kubectl: Kubectl, plans: Iterable[Plan], how: How) -> int:
    """Show plans, or carry them out, and tell what is worth knowing; return how many reasons keep something out."""
    wrong = 0
    for plan in plans:
        wrong += show(plan.messages)
        for sentence in plan.notes:
            note(sentence)
        if how.without_event:
            plan.steps = without_events(plan.steps)
        if how.apply and plan.steps:
            carry_out(kubectl, plan.item.full_name, plan.steps, how.seconds)
            click.echo(plan.done)
        else:
            for line in plan.lines(kubectl.options):
                click.echo(line)
    return wrong


def carry_out(kubectl: Kubectl, about: str, steps: Iterable[Step], seconds: int = PATIENCE) -> None:
    """Run the commands of a plan about something, and print each before.

    Raises KubectlFailed at the first that fails, or when Ctrl-C ends it.

    The message says what was done before, and how to go on or back. Each thing that has to be seen is waited for for so
    many seconds.
    """
    done: list[Step] = []
    try:
        for step in steps:
            new = [until for until in step.until if isinstance(until, Seen) and until.is_new]
            before = [line for until in new for line in _look(kubectl, until)]
            # It counts as done before it is: Ctrl-C can come while it runs, or is waited for.
            done.append(step)
            try:
                _run(kubectl, step)
            except KubectlFailed:
                # Where something may have gone although the answer was lost, nothing is to be taken back.
                done[-1:] = [replace(step, command=())] if step.takes_away else []
                raise
            for until in step.until:
                if isinstance(until, Pause):
                    with waiting(f"waiting {until.seconds} seconds, so that it is seen"):
                        sleep(until.seconds)
                else:
                    with waiting(f"so far: {until.missing}"):
                        _wait(kubectl, until, before, seconds)
    except KubectlFailed as failed:
        raise KubectlFailed(_told(about, failed.message, done, kubectl.options)) from failed
    except KeyboardInterrupt as stopped:
        # Nobody knows whether a command that has begun was carried out. The way back is told for it, too: where nothing
        # was done, it changes nothing.
        raise KubectlFailed(_told(about, "interrupted", done, kubectl.options)) from stopped


def _run(kubectl: Kubectl, step: Step) -> None:
    for each in step.notes:
        click.echo(comment(each))
    if step.command:
        click.echo(f"$ {shown(step.command, kubectl.options)}")
        kubectl.run(*step.command[1:], stdin=step.stdin)


def _wait(kubectl: Kubectl, seen: Seen, before: Sequence[str], seconds: int) -> None:
    """Return once something was seen. Raises KubectlFailed when it isn't in time."""
    end = monotonic() + (0 if seen.at_once else seconds)
    while not any(seen.text in line and not (seen.is_new and line in before) for line in _look(kubectl, seen)):
        if monotonic() > end:
            raise KubectlFailed(f"{late(seen, seconds)}; last seen: {_last(kubectl, seen.why or seen.command)}")
        sleep(BETWEEN_LOOKS)


def _look(kubectl: Kubectl, seen: Seen) -> list[str]:
    return kubectl.run(*seen.command[1:]).splitlines()


def _last(kubectl: Kubectl, command: Command) -> str:
    """Return the last line that a command prints. A refusal in an Event ends with a line break."""
    lines = [line for line in kubectl.run(*command[1:]).splitlines() if line.strip()]
    return one_line(lines[-1]) if lines else "nothing"


def _told(about: str, message: str, done: Sequence[Step], options: Sequence[str]) -> str:
    so_far = [f"  {shown(step.command, options)}" for step in done if step.command]
    ending = ["Done so far:", *so_far, *going_back(done, options)] if so_far else ["Nothing of it was done."]
    return "\n".join([f"{about}: {message}", *ending])
