"""Plans and their steps, and the functions that print them or (with `--apply`) carry them out.

Some steps wait until Metacontroller has seen their change. It watches Services and Ingresses separately, and either
watch can lag. If it sees that a Service no longer requests an Ingress before it sees the Ingress as unmanaged, it
deletes the Ingress. A new Event that reports an object as missing proves that Metacontroller sees it as unmanaged.
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

PAUSE = 10  # seconds until Metacontroller has seen a change, if nothing can prove that it has
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.5, 2  # doubled after each read, because many plans run kubectl
MOST_CONCURRENT = 24  # plans, which mostly wait
WAIT_LIMIT = 300  # seconds: a load balancer takes minutes to get an address

apply_option = click.option("--apply", is_flag=True, help="Carry out the steps instead of showing them.")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that a step waits for, such as "Ingress team-a/shop has the planned spec"."""

    sentence: str
    command: Command
    """The `kubectl get` command, without --output, that reads one or more objects."""

    holds: Callable[[Item], bool]
    """Whether an object meets the condition. The step waits until at least one object does."""

    otherwise: str
    """The likely cause or the next step, printed if the condition isn't met in time."""

    is_new: bool = False
    """Whether only objects that have changed since the step began can meet the condition."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. The first word of each command is the program, such as kubectl."""

    command: Command = ()
    undo: Command | None = ()
    """The command that undoes the step: () if none is needed, or None if the plan can't be undone after this step."""

    until: Sequence[Condition] = ()
    pause: int = 0  # seconds to wait before `until` is checked
    notes: Sequence[str] = ()
    stdin: str = ""  # one line


@dataclass(slots=True)
class Plan:
    """The steps for one object. If there are none, `messages` or `notes` say why. `done` is printed after the steps."""

    item: Item
    title: str
    steps: list[Step] = field(default_factory=list)
    messages: Sequence[Message] = ()
    notes: list[str] = field(default_factory=list)
    done: str = ""
    services: Sequence[str] = ()
    """The Services that the steps change; if empty, only `item`. Plans that share a Service run one after another."""


@dataclass(frozen=True, slots=True)
class SharedLists:
    """Lists of objects that waiting plans share, because each kubectl process takes 0.15 s of CPU time."""

    kubectl: Kubectl
    _locks: dict[Command, Lock] = field(default_factory=dict)
    _latest: dict[Command, tuple[float, list[Item]]] = field(default_factory=dict)  # with the time of each list

    def get(self, condition: Condition, seen: Collection[object] = ()) -> list[Item]:
        """Return the objects a condition reads; if `condition.is_new`, omit those with a resourceVersion in `seen`."""
        end, called = condition.command.index("--"), monotonic()
        kind, *names = condition.command[end + 1 :]
        command = (kind, *condition.command[2:end])
        with self._locks.setdefault(command, Lock()):
            # Another plan may have read the list after this call began.
            if self._latest.get(command, (0, []))[0] <= called:
                self._latest[command] = monotonic(), self.kubectl.get(*command, IGNORE_NOT_FOUND)
            items = self._latest[command][1]
        named = [item for item in items if not names or item.name in names]
        return [item for item in named if not (condition.is_new and item.metadata.get("resourceVersion") in seen)]


Echo = Callable[[str], None]
Run = tuple[Future[str | None], list[str]]
"""The future result of a plan that runs concurrently, and the lines to print for it."""


def listed(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a shell script: the commands, with `options`, and the notes and conditions as comments."""
    for step in steps:
        yield from map(comment, step.notes)
        if step.command:
            reading = f"printf '%s' {word(step.stdin)} | " if step.stdin else ""
            yield f"{reading}{shown(step.command, options)}"
        if step.pause:
            yield comment(f"  wait {step.pause} seconds")
        for condition in step.until:
            reading = shown(condition.command, [*options, *([] if condition.is_new else ["--output=yaml"])])
            yield comment(f"  wait until {condition.sentence}; check with: {reading}")


def perform(kubectl: Kubectl, plans: Sequence[Plan], *, apply: bool) -> int:
    """Print the plans or, if `apply` is set, carry them out. Return the number of errors among the plans' messages."""
    errors, with_steps = 0, [plan for plan in plans if plan.steps]
    for plan in plans:
        errors += show(plan.messages)
        for sentence in plan.notes:
            note(f"{plan.title}: {sentence}")
        if plan.steps and not apply:
            click.echo("\n".join([comment(plan.title), *listed(plan.steps, kubectl.options)]))
    lists = SharedLists(kubectl)
    if apply and with_steps[1:]:
        carry_out_together(lists, with_steps)
    elif apply:
        for plan in with_steps:
            carry_out(lists, plan.title, plan.steps)
            click.echo(plan.done)
    return errors


def carry_out_together(lists: SharedLists, plans: Sequence[Plan]) -> None:
    """Carry out up to MOST_CONCURRENT plans at a time, and print their output in the order in which they start.

    After a failure, no more plans start, but running plans finish. On Ctrl-C, running plans stop, too. In both cases,
    raises KubectlFailed.
    """
    # Namespaces take turns: the hook limits failures per namespace, and plans wait for its reports of missing objects.
    by_namespace: dict[str, list[Plan]] = {}
    for plan in plans:
        by_namespace.setdefault(plan.item.namespace, []).append(plan)
    plans = [plan for turn in zip_longest(*by_namespace.values()) for plan in turn if plan]
    stopped, interrupted = Event(), Event()
    runs, last_of = list[Run](), dict[str, Future[str | None]]()

    def run(plan: Plan, earlier: Collection[Future[str | None]], lines: list[str]) -> str | None:
        """Run `plan` after the `earlier` ones. Return its error, "" if it succeeded, or None if it wasn't started."""
        wait(earlier)
        if stopped.is_set():
            return None
        try:
            carry_out(lists, plan.title, plan.steps, lines.append, interrupted)
        except KubectlFailed as failed:
            stopped.set()
            return failed.message
        lines.append(plan.done)
        return ""

    with ThreadPoolExecutor(MOST_CONCURRENT) as pool:
        for plan in plans:
            # A plan waits only for earlier ones, which the pool starts first, so there is no deadlock.
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
        untouched = f"{results.count(None)} of {len(results)} plans were not started."
        raise KubectlFailed("\n".join([*filter(None, results), untouched]))


def _print_in_order(runs: Sequence[Run]) -> None:
    for future, lines in runs:
        while wait([future], timeout=SILENCE).not_done:
            progress(f"{sum(other.done() for other, _ in runs)} of {len(runs)} plans are done")
        progress()
        click.echo("".join(f"{line}\n" for line in lines), nl=False)
        lines.clear()


def carry_out(
    lists: SharedLists, title: str, steps: Iterable[Step], echo: Echo = click.echo, interrupted: Event | None = None
) -> None:
    """Print and run the steps of the plan called `title`.

    Raises KubectlFailed if a step fails, on Ctrl-C, or once `interrupted` is set. Its message lists the commands run.
    The last may have taken effect even if it failed, as its response can be lost; undoing it is harmless anyway.
    """
    begun, kubectl = list[Step](), lists.kubectl
    try:
        for step in steps:
            known = [item for condition in step.until if condition.is_new for item in lists.get(condition)]
            seen = [item.metadata.get("resourceVersion") for item in known]
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
                _wait(lists, condition, seen, interrupted)
    except (KubectlFailed, KeyboardInterrupt) as stopped:
        reason = stopped.message if isinstance(stopped, KubectlFailed) else "interrupted"
        commands = [f"  {shown(step.command, kubectl.options)}" for step in begun if step.command]
        lines = ["Run so far:", *commands, *undo_lines(begun, kubectl.options)] if commands else ["Nothing was done."]
        raise KubectlFailed("\n".join([f"{title}: {reason}", *lines])) from stopped


def undo_lines(begun: Sequence[Step], options: Sequence[str]) -> list[str]:
    if any(step.undo is None for step in begun):
        return ["These steps can't be undone. To continue, run the same command again."]
    undo = dict.fromkeys(shown(step.undo, options) for step in reversed(begun) if step.undo)
    continuing = "To continue, run the same command again."
    return [continuing, *(["To undo the steps, run:", *(f"  {command}" for command in undo)] if undo else [])]


def _wait(lists: SharedLists, condition: Condition, seen: Collection[object], interrupted: Event | None) -> None:
    """Wait for a condition. Raises KubectlFailed after WAIT_LIMIT, KeyboardInterrupt once `interrupted` is set."""
    end, seconds = monotonic() + WAIT_LIMIT, POLL_SECONDS
    if condition.is_new:
        sleep(RECHECK_SECONDS.start)  # the hook reports no sooner
    while not any(map(condition.holds, lists.get(condition, seen))):
        if interrupted and interrupted.is_set():
            raise KeyboardInterrupt
        if monotonic() > end:
            unmet = f"{condition.sentence}: {condition.otherwise}"
            raise KubectlFailed(f"After {WAIT_LIMIT} s, still waiting until {unmet}")
        sleep(seconds)
        seconds = min(seconds * 2, LONGEST_POLL_SECONDS)
