"""Carries plans out, for `adopt --apply` and `release --apply`: runs their kubectl commands, one after the other."""

from collections.abc import Callable, Sequence
from time import sleep

import click

from ingress_manager.commands.plans.plan import PATIENCE, Event, Pause, Plan, Step, Until, going_back
from ingress_manager.commands.printing.console import note, show, waiting
from ingress_manager.commands.printing.words import Command, shown
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.core.text import one_line

LOOKS_A_SECOND = 2
"""A script looks once a second: `sleep` of a POSIX shell takes no part of one."""


def plan_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --apply and --without-event."""
    without = (
        f"Wait {Pause().seconds} seconds in the place of Metacontroller's Event: where the admission policy "
        "ingress-manager-name-taken is not installed."
    )
    apply = "Run the commands, one by one, instead of printing them."
    command = click.option("--without-event", is_flag=True, help=without)(command)
    return click.option("--apply", is_flag=True, help=apply)(command)


def tell(plan: Plan) -> int:
    """Show what is worth knowing of a plan, and why nothing can be done; return how many reasons there are."""
    wrong = show(plan.messages)
    for sentence in plan.notes:
        note(sentence)
    return wrong


def carry_out(kubectl: Kubectl, plan: Plan) -> None:
    """Run the commands, and print each before. Raises KubectlFailed at the first that fails, or when Ctrl-C ends it.

    The message says what was done before, and how to take it back.
    """
    done: list[Step] = []
    try:
        for step in plan.steps:
            before = _look(kubectl, step.until) if isinstance(step.until, Event) else []
            # It counts as done before it is: Ctrl-C can come while it runs, or is waited for.
            done.append(step)
            try:
                _run(kubectl, step.command)
            except KubectlFailed:
                done.pop()
                raise
            _wait(kubectl, step.until, before)
    except KubectlFailed as failed:
        raise KubectlFailed(_told(plan, failed.message, done, kubectl.options)) from failed
    except KeyboardInterrupt as stopped:
        # Nobody knows whether a command that has begun was carried out. Taking it back does no harm.
        raise KubectlFailed(_told(plan, "interrupted", done, kubectl.options)) from stopped


def _run(kubectl: Kubectl, command: Command) -> None:
    click.echo(f"$ {shown(command, kubectl.options)}")
    kubectl.run(*command[1:])


def _wait(kubectl: Kubectl, until: Until | None, before: list[str]) -> None:
    """Return once a step was seen. Raises KubectlFailed when it isn't in time."""
    if isinstance(until, Event):
        with waiting(f"waiting until Metacontroller has seen it: {until.text}"):
            _wait_for_event(kubectl, until, before)
    elif isinstance(until, Pause):
        with waiting(f"waiting {until.seconds} seconds, so that Metacontroller sees it"):
            sleep(until.seconds)
    elif until:
        _run(kubectl, until)


def _wait_for_event(kubectl: Kubectl, event: Event, before: list[str]) -> None:
    lines = before
    for _ in range(PATIENCE * LOOKS_A_SECOND):
        lines = _look(kubectl, event)
        if any(event.text in line and line not in before for line in lines):
            return
        sleep(1 / LOOKS_A_SECOND)
    # A refusal ends with a line break.
    last = next((line for line in reversed(lines) if line.strip()), " none").partition(" ")[2]
    raise KubectlFailed(event.missing(f"The last Event of Service {event.service.label}: {one_line(last)}. "))


def _look(kubectl: Kubectl, event: Event) -> list[str]:
    """Return a line for each Event on the Service."""
    return kubectl.run(*event.command[1:]).splitlines()


def _told(plan: Plan, message: str, done: Sequence[Step], options: Sequence[str]) -> str:
    so_far = ["Done so far:", *(f"  {shown(step.command, options)}" for step in done), *going_back(done, options)]
    return "\n".join([f"{plan.item.label}: {message}", *(so_far if done else ["Nothing of it was done."])])
