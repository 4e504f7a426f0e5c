"""Plans and their steps: printing them, and carrying them out with `--apply`.

Some steps have to wait until Metacontroller has seen their change. It watches Services and Ingresses separately, and
either watch can lag. While it sees a managed Ingress and a Service that requests none, it deletes the Ingress. An Event
proves that it has seen a change: the hook reports the requested objects that Metacontroller doesn't observe.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import zip_longest
from threading import Event, Lock
from time import monotonic, sleep

import click

from ingress_manager.commands.printing import show
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.snapshot.items import Item, Message
from ingress_manager.commands.terminal import SILENCE, note, progress
from ingress_manager.commands.text import Command, comment, shown, word
from ingress_manager.core.decide import RECHECK_SECONDS

PAUSE = 10
"""Seconds in which Metacontroller sees a change, where nothing proves it."""

POLL_SECONDS, LONGEST_POLL_SECONDS = 0.5, 2
"""Each pause between two looks is twice as long as the one before: many plans run kubectl at the same time."""

AT_ONCE = 24
"""Plans that are carried out at the same time. Most of their time they wait."""

WAIT_LIMIT = 300
"""Seconds to wait for a condition. A load balancer takes minutes to get an address."""

apply_option = click.option("--apply", is_flag=True, help="Carry the steps out instead of showing them.")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the cluster, for which a step waits."""

    sentence: str
    """Such as: Ingress team-a/shop is as planned."""

    command: Command
    """`kubectl get` for one or more objects, without a format."""

    holds: Callable[[Item], bool]
    """Whether an object meets the condition. One is enough."""

    otherwise: str
    """What to know if none does."""

    is_new: bool = False
    """Whether only objects count that have changed since the step began."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. The first word of each command is its program, such as kubectl."""

    command: Command = ()
    """Empty: the step only prints its notes, or waits."""

    undo: Command | None = ()
    """The command that reverts it; empty: nothing has to be reverted. None: it can't be reverted, and then the steps
    before it mustn't be either."""

    until: Sequence[Condition] = ()
    pause: int = 0
    """Seconds to wait before that, where nothing proves anything."""

    notes: Sequence[str] = ()
    stdin: str = ""
    """The command's standard input, one line."""


@dataclass(slots=True)
class Plan:
    """The steps for one object."""

    item: Item
    title: str
    steps: list[Step] = field(default_factory=list)
    """Empty: nothing can be done, or needs to be."""

    messages: Sequence[Message] = ()
    notes: list[str] = field(default_factory=list)
    done: str = ""
    """A sentence to print afterwards."""

    services: Sequence[str] = ()
    """The Services that the steps change; empty: `item` alone. Another plan for one of them begins afterwards."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Lists of objects, shared by the plans that wait for one of them: each process of kubectl takes 0.15 s of CPU."""

    kubectl: Kubectl
    _locks: dict[Command, Lock] = field(default_factory=dict)
    _latest: dict[Command, tuple[float, list[Item]]] = field(default_factory=dict)
    """When each list was asked for, and what it held."""

    def get(self, condition: Condition, before: Collection[object] = ()) -> list[Item]:
        """Return the objects of a condition as they are now. If they have to be new, versions in `before` don't count.

        Raises KubectlFailed.
        """
        end, called = condition.command.index("--"), monotonic()
        kind, *names = condition.command[end + 1 :]
        command = (kind, *condition.command[2:end])
        with self._locks.setdefault(command, Lock()):
            # A list that another plan has asked for since then will do.
            if self._latest.get(command, (0, []))[0] <= called:
                self._latest[command] = monotonic(), self.kubectl.get(*command, IGNORE_NOT_FOUND)
            items = self._latest[command][1]
        named = [item for item in items if not names or item.name in names]
        return [item for item in named if not (condition.is_new and item.metadata.get("resourceVersion") in before)]


Echo = Callable[[str], None]
Run = tuple[Future[str | None], list[str]]
"""A plan that is carried out beside others, and the lines to print of it."""


def listed(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a shell script: the commands, with notes and conditions as comments."""
    for step in steps:
        yield from map(comment, step.notes)
        if step.command:
            reading = f"printf '%s' {word(step.stdin)} | " if step.stdin else ""
            yield f"{reading}{shown(step.command, options)}"
        if step.pause:
            yield comment(f"  wait {step.pause} seconds")
        for condition in step.until:
            yield comment(f"  wait until {condition.sentence}: {shown(condition.command, options)}")


def perform(kubectl: Kubectl, plans: Sequence[Plan], *, apply: bool) -> int:
    """Print plans, or carry them out. Return the number of errors among their messages."""
    errors, with_steps = 0, [plan for plan in plans if plan.steps]
    for plan in plans:
        errors += show(plan.messages)
        for sentence in plan.notes:
            note(f"{plan.title}: {sentence}")
        if plan.steps and not apply:
            click.echo("\n".join([comment(plan.title), *listed(plan.steps, kubectl.options)]))
    looks = Looks(kubectl)
    if apply and with_steps[1:]:
        carry_out_together(looks, with_steps)
    elif apply:
        for plan in with_steps:
            carry_out(looks, plan.title, plan.steps)
            click.echo(plan.done)
    return errors


def carry_out_together(looks: Looks, plans: Sequence[Plan]) -> None:
    """Run AT_ONCE plans at a time, of many namespaces, and print what each has done, in the order of their beginning.

    After a failure no other plan begins, and those under way end; on Ctrl-C, these stop, too. Raises KubectlFailed.
    """
    # The hook lets each namespace fail only so often, and a plan needs a report of a missing object.
    by_namespace: dict[str, list[Plan]] = {}
    for plan in plans:
        by_namespace.setdefault(plan.item.namespace, []).append(plan)
    plans = [plan for turn in zip_longest(*by_namespace.values()) for plan in turn if plan]
    stopped, interrupted = Event(), Event()
    runs, last_of = list[Run](), dict[str, Future[str | None]]()

    def run(plan: Plan, earlier: Collection[Future[str | None]], lines: list[str]) -> str | None:
        """Return why the plan failed, "" if it didn't, and None if it was not begun."""
        wait(earlier)
        if stopped.is_set():
            return None
        try:
            carry_out(looks, plan.title, plan.steps, lines.append, interrupted)
        except KubectlFailed as failed:
            stopped.set()
            return failed.message
        lines.append(plan.done)
        return ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for plan in plans:
            # A plan waits only for earlier ones, which the pool has begun before: they never wait for each other.
            services, lines = plan.services or [plan.item.full_name], list[str]()
            earlier = [last_of[name] for name in services if name in last_of]
            runs.append((pool.submit(run, plan, earlier, lines), lines))
            last_of |= dict.fromkeys(services, runs[-1][0])
        try:
            _print_in_order(runs)
        except KeyboardInterrupt:
            stopped.set()
            interrupted.set()
            _print_in_order(runs)
    results = [future.result() for future, _ in runs]
    if stopped.is_set():
        untouched = f"{results.count(None)} of {len(results)} were not begun."
        raise KubectlFailed("\n".join([*filter(None, results), untouched]))


def _print_in_order(runs: Sequence[Run]) -> None:
    for future, lines in runs:
        while wait([future], timeout=SILENCE).not_done:
            progress(f"{sum(other.done() for other, _ in runs)} of {len(runs)} are done")
        progress()
        click.echo("".join(f"{line}\n" for line in lines), nl=False)
        lines.clear()


def carry_out(
    looks: Looks, about: str, steps: Iterable[Step], echo: Echo = click.echo, interrupted: Event | None = None
) -> None:
    """Print and run the steps of a plan for `about`.

    Raises KubectlFailed if one fails, on Ctrl-C, or once `interrupted` is set. The message lists the commands that were
    begun, and how to go on or back. The last one may have been carried out or not, because its answer can be lost:
    undoing it is harmless.
    """
    begun, kubectl = list[Step](), looks.kubectl
    try:
        for step in steps:
            known = [item for condition in step.until if condition.is_new for item in looks.get(condition)]
            before = [item.metadata.get("resourceVersion") for item in known]
            begun.append(step)
            for sentence in step.notes:
                echo(comment(sentence))
            if step.command:
                echo(f"$ {shown(step.command, kubectl.options)}")
                kubectl.run(*step.command[1:], stdin=step.stdin)
            if step.pause:
                echo(comment(f"  waiting {step.pause} seconds"))
                sleep(step.pause)
            for condition in step.until:
                echo(comment(f"  waiting until {condition.sentence}"))
                _wait(looks, condition, before, interrupted)
    except (KubectlFailed, KeyboardInterrupt) as stopped:
        reason = stopped.message if isinstance(stopped, KubectlFailed) else "interrupted"
        commands = [f"  {shown(step.command, kubectl.options)}" for step in begun if step.command]
        lines = ["Begun so far:", *commands, *going_back(begun, kubectl.options)] if commands else ["Nothing was done."]
        raise KubectlFailed("\n".join([f"{about}: {reason}", *lines])) from stopped


def going_back(begun: Sequence[Step], options: Sequence[str]) -> list[str]:
    if any(step.undo is None for step in begun):
        return ["What was done before has to stay. Plan it again to go on."]
    undo = dict.fromkeys(shown(step.undo, options) for step in reversed(begun) if step.undo)
    return ["Plan it again to go on.", *(["To go back:", *(f"  {command}" for command in undo)] if undo else [])]


def _wait(looks: Looks, condition: Condition, before: Collection[object], interrupted: Event | None) -> None:
    """Wait for a condition. Raises KubectlFailed after WAIT_LIMIT, and KeyboardInterrupt once `interrupted`."""
    end, seconds = monotonic() + WAIT_LIMIT, POLL_SECONDS
    if condition.is_new:
        sleep(RECHECK_SECONDS.start)  # the hook reports no sooner
    while not any(map(condition.holds, looks.get(condition, before))):
        if interrupted and interrupted.is_set():
            raise KeyboardInterrupt
        if monotonic() > end:
            raise KubectlFailed(
                f"After {WAIT_LIMIT} s, still waiting until {condition.sentence}: {condition.otherwise}"
            )
        sleep(seconds)
        seconds = min(seconds * 2, LONGEST_POLL_SECONDS)
