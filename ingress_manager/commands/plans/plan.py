"""Plans and their steps: how they are shown, and how they are carried out, for `--apply`.

Some steps have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches,
either of which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress.
An Event proves that it has seen a change: the hook tells which objects a Service asks for that Metacontroller doesn't
know as that Service's.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep

import click

from ingress_manager.commands.printing import show
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.snapshot.items import Item, Message
from ingress_manager.commands.terminal import note
from ingress_manager.commands.text import Command, comment, shown, word

PAUSE = 10
"""Seconds in which Metacontroller sees a change, where nothing can tell that it has."""

BETWEEN_LOOKS = 0.5
"""Seconds."""

PATIENCE = 300
"""Seconds in which something has to be seen. A load balancer takes minutes until it has an address."""

apply_option = click.option("--apply", is_flag=True, help="Carry the steps out instead of showing them.")


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that has to be seen on the cluster."""

    what: str
    """A sentence, such as: Ingress team-a/shop stands as planned."""

    command: Command
    """`kubectl get`, for the object or the objects, without a format."""

    holds: Callable[[Item], bool]
    """Whether one of them shows it."""

    otherwise: str
    """What may be the matter when none does."""

    is_new: bool = False
    """Whether an object doesn't count that is as it was before the step."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a plan. Every command here has its program, such as kubectl, as its first word."""

    command: Command = ()
    """Empty when there is nothing to do but to tell the notes, or to look."""

    undo: Command | None = ()
    """The command that takes it back; empty when nothing has to be. None: something goes, so that what was done before
    must stay."""

    until: Sequence[Seen] = ()
    pause: int = 0
    """Seconds to wait before that, where nothing can be seen."""

    notes: Sequence[str] = ()
    stdin: str = ""
    """What the command reads, in one line."""


@dataclass(slots=True)
class Plan:
    """What is to be done about one object."""

    item: Item
    title: str
    """What a person calls it."""

    steps: list[Step] = field(default_factory=list)
    """Empty when nothing can be done, or nothing has to be."""

    messages: Sequence[Message] = ()
    notes: Sequence[str] = ()
    done: str = ""
    """What is told once it was carried out."""


def listed(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield a plan as a person reads it: commands, and as comments what they are for and what has to be seen."""
    for step in steps:
        yield from map(comment, step.notes)
        if step.command:
            reading = f"printf '%s' {word(step.stdin)} | " if step.stdin else ""
            yield f"{reading}{shown(step.command, options)}"
        if step.pause:
            yield comment(f"  wait {step.pause} seconds")
        yield from (comment(f"  wait until {each.what}: {shown(each.command, options)}") for each in step.until)


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
        elif plan.steps:
            click.echo("\n".join([comment(plan.title), *listed(plan.steps, kubectl.options)]))
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


def going_back(begun: Sequence[Step], options: Sequence[str]) -> list[str]:
    """Return the lines that tell how to go on, or to take back what was begun."""
    if any(step.undo is None for step in begun):
        return ["What was done before has to stay. Plan it again to go on."]
    undo = dict.fromkeys(shown(step.undo, options) for step in reversed(begun) if step.undo)
    return ["Plan it again to go on.", *(["To go back:", *(f"  {each}" for each in undo)] if undo else [])]


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
