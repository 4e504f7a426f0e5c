"""Carries plans out, for `--apply`: runs their kubectl commands, one after the other."""

from collections.abc import Collection, Iterable
from time import monotonic, sleep

import click

from ingress_manager.commands.plans.plan import Plan, Seen, Step, going_back
from ingress_manager.commands.printing.console import note, show
from ingress_manager.commands.printing.words import comment, shown
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import Item

BETWEEN_LOOKS = 0.5
"""Seconds."""


PATIENCE = 300
"""Seconds in which something has to be seen. A load balancer takes minutes until it has an address."""

apply_option = click.option("--apply", is_flag=True, help="Carry the steps out instead of showing them.")


def perform(kubectl: Kubectl, plans: Iterable[Plan], *, apply: bool) -> int:
    """Show plans, or carry them out, and tell what is worth knowing; return how many reasons keep something out."""
    wrong = 0
    for plan in plans:
        wrong += show(plan.messages)
        for sentence in plan.notes:
            note(sentence)
        if apply and plan.steps:
            carry_out(kubectl, plan.title, plan.steps)
            click.echo(plan.done)
        else:
            for line in plan.lines(kubectl.options):
                click.echo(line)
    return wrong


def carry_out(kubectl: Kubectl, about: str, steps: Iterable[Step]) -> None:
    """Run the commands of a plan about something, and print each before.

    Raises KubectlFailed at the first that fails, or when Ctrl-C ends it.

    The message says what was begun, and how to go on or back. Nobody knows whether the last command was carried out:
    its answer can be lost. The way back is told for it, too; where nothing was done, it changes nothing.
    """
    begun: list[Step] = []
    try:
        for step in steps:
            known = [item for seen in step.until if seen.is_new for item in _look(kubectl, seen)]
            before = [item.metadata.get("resourceVersion") for item in known]
            begun.append(step)
            for each in step.notes:
                click.echo(comment(each))
            if step.command:
                click.echo(f"$ {shown(step.command, kubectl.options)}")
                kubectl.run(*step.command[1:], stdin=step.stdin)
            if step.pause:
                click.echo(comment(f"  waiting {step.pause} seconds"))
                sleep(step.pause)
            for seen in step.until:
                click.echo(comment(f"  waiting until {seen.what}"))
                _wait(kubectl, seen, before)
    except (KubectlFailed, KeyboardInterrupt) as stopped:
        why = stopped.message if isinstance(stopped, KubectlFailed) else "interrupted"
        commands = [f"  {shown(step.command, kubectl.options)}" for step in begun if step.command]
        told = ["Begun so far:", *commands, *going_back(begun, kubectl.options)] if commands else ["Nothing was done."]
        raise KubectlFailed("\n".join([f"{about}: {why}", *told])) from stopped


def _wait(kubectl: Kubectl, seen: Seen, before: Collection[object]) -> None:
    """Return once something was seen. Raises KubectlFailed when it isn't in time."""
    end = monotonic() + PATIENCE
    while not any(map(seen.holds, _look(kubectl, seen, before))):
        if monotonic() > end:
            raise KubectlFailed(f"After {PATIENCE} s it is not seen that {seen.what}: {seen.otherwise}")
        sleep(BETWEEN_LOOKS)


def _look(kubectl: Kubectl, seen: Seen, before: Collection[object] = ()) -> list[Item]:
    """Return what the command of `seen` gets, of what is to be new without these versions. Raises KubectlFailed."""
    end = seen.command.index("--")
    found = kubectl.get(" ".join(seen.command[end + 1 :]), *seen.command[2:end], IGNORE_NOT_FOUND)
    return [each for each in found if not (seen.is_new and each.metadata.get("resourceVersion") in before)]
