"""Rounds: many histories are played side by side, step by step, each in a namespace of its own, and compared."""

import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICES, ApiError, Object, wait_for
from devcluster.cluster import DevCluster
from tests.histories.faults import STORES, Fault, Keeper, made_up_fault
from tests.histories.model import FIELDS, REFUSED, Model, Observed, Settings, desired, matches
from tests.histories.steps import NAMES, Diverged, Place, Step, certainly, made_up_steps, observed_of
from tests.histories.writes import Writes

CLIENTS = 12
SETTLING = 20.0
"""Seconds in which a step must have had its effect, where nothing is broken."""

STEADY = 0.3
"""Seconds for which nothing may change any more once all is as it should be."""

HEALING = 400.0
"""Seconds in which everything must have settled at the end: a name that was taken is tried again within six minutes,
and Metacontroller repeats no more than ten failed attempts a second."""

Event = Settings | Fault | None
"""What happens to all histories of a round beside a step."""


@dataclass(frozen=True)
class Plan:
    """What a round plays: the histories, and beside each step an event."""

    seed: str
    histories: Sequence[Sequence[Step]]
    events: Sequence[Event]
    """As many as each history has steps."""
    faults: bool
    first: int = 0
    """The number of the first history: its namespace, and so the settings that hold there, follow from it."""


@dataclass
class Seen:
    """What rounds have come to."""

    histories: int = 0
    denied: int = 0
    """Writes that the admission policies have denied, as they should."""
    faults: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0, "")
    """After how many seconds everything had settled at the latest, and what was last."""
    diverged: list[str] = field(default_factory=list)
    """What was not as the docs say."""


def made_up_plan(seed: str, histories: int, steps: int, *, faults: bool) -> Plan:
    """Return a round: always the same one for a seed."""
    random = Random(seed)
    events: list[Event] = []
    settings = Settings()
    for _ in range(steps):
        if random.random() < 0.2:
            settings = made_up_settings(random, settings)
            events.append(settings)
        else:
            events.append(made_up_fault(random) if faults and random.random() < 0.5 else None)
    made = [made_up_steps(f"{seed}-{number}", steps) for number in range(histories)]
    return Plan(seed, made, events, faults)


def made_up_settings(random: Random, before: Settings) -> Settings:
    """Return settings that differ from those before in one field, in general or for the namespaces with an entry.

    A pause ends with the next settings.
    """
    name = random.choice([*FIELDS, "shared", "fast", "paused", "rewritten"])
    if before != before.without_pause():
        name, before = random.choice([*FIELDS, "rewritten"]), before.without_pause()
    own = dict(before.own)
    if name == "rewritten" or random.random() < 0.5:
        changed: Any = {name: not getattr(before, name)}
        return replace(before, **changed)
    if name in own and random.random() < 0.5:
        del own[name]
    else:
        own[name] = not own.get(name, getattr(before, name))
    return replace(before, own=tuple(own.items()))


class Rounds:
    """Plays plans on a cluster."""

    def __init__(self, cluster: DevCluster, seen: Seen) -> None:
        self.cluster, self.api, self.seen = cluster, cluster.api, seen
        self.writes = Writes(cluster)
        self._settings = Settings()
        self._touches = itertools.count()

    def play(self, plan: Plan) -> dict[int, str]:
        """Play a plan until something diverges; return what has, by the number of the history."""
        places = [Place(self.api, namespace_of(plan.first + number)) for number in range(len(plan.histories))]
        wrong: dict[int, str] = {}
        with Keeper(self.cluster) as keeper, ThreadPoolExecutor(CLIENTS) as clients:
            self._keeper = keeper
            list(clients.map(self._prepare, places))
            self.writes.begin()
            self._set(Settings(), places, clients)
            for number in range(len(plan.events)):
                self._play_step(plan, number, places, wrong, clients)
                if wrong:
                    break
            if plan.faults:
                self._heal(plan)
            if self._settings != self._settings.without_pause():
                self._set(self._settings.without_pause(), places, clients)
            if not wrong:
                self._settle(places, wrong, "at the end", HEALING, end=True)
            if not wrong and not plan.faults:
                self._check_events(places, wrong)
            wrong |= self.writes.check(places)
            list(clients.map(self._clear, places))
            wait_for(lambda: not self._ingresses(), HEALING, what="an empty cluster")
        self.seen.histories += len(plan.histories)
        self.seen.denied += sum(place.denied for place in places)
        self.seen.faults.update(f"{event.kind} {event.part}" for event in plan.events if isinstance(event, Fault))
        return wrong

    def _play_step(
        self, plan: Plan, number: int, places: Sequence[Place], wrong: dict[int, str], clients: ThreadPoolExecutor
    ) -> None:
        """Play one step of each history, and what happens beside it."""
        event = plan.events[number]
        if isinstance(event, Settings):
            self._set(event, places, clients)
            if not plan.faults:
                # Which writes a step finds still to be done would be a matter of time.
                self._settle(places, wrong, f"with the settings of step {number + 1}", SETTLING, end=False)
        numbers = itertools.repeat(number)
        with self._keeper.breaking(event if isinstance(event, Fault) else None):
            answers = clients.map(play_step, plan.histories, places, numbers)
            wrong |= {index: why for index, why in enumerate(answers) if why}
        if plan.faults:
            wrong |= self.writes.check(places)
        else:
            self._settle(places, wrong, f"after step {number + 1}", SETTLING, end=False)

    def _heal(self, plan: Plan) -> None:
        """Return once every part runs."""
        if any(isinstance(event, Fault) and event.part in STORES for event in plan.events):
            # The garbage collector can lose an Ingress whose Service is gone: docs/outages.md.
            self._keeper.restart("controller manager")
        self._keeper.until_up()

    def _prepare(self, place: Place) -> None:
        """Make the namespace, unless it is there."""
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place.namespace}}

        def create() -> bool:
            try:
                certainly(lambda: self.api.create(NAMESPACES, made))
            except ApiError as error:
                found = certainly(lambda: self.api.get(NAMESPACES, place.namespace))
                return error.status == 409 and found is not None and "deletionTimestamp" not in found["metadata"]
            return True

        wait_for(create, HEALING, what=f"the namespace {place.namespace}")

    def _clear(self, place: Place) -> None:
        """Delete what a history has left."""
        if not place.gone:
            for resource in (SERVICES, INGRESSES):
                for found in certainly(lambda resource=resource: self.api.list(resource, place.namespace)):  # type: ignore[misc]
                    name = found["metadata"]["name"]
                    certainly(lambda resource=resource, name=name: self.api.delete(resource, name, place.namespace))  # type: ignore[misc]

    def _set(self, settings: Settings, places: Sequence[Place], clients: ThreadPoolExecutor) -> None:
        """Roll out settings, and have every Service synced again, as a restart of Metacontroller would."""
        self._settings = settings
        self._keeper.roll_out(settings.as_file([place.namespace for place in places]))
        touched = {"metadata": {"labels": {"touched": str(next(self._touches))}}}

        def touch(place: Place) -> None:
            for model in place.models.values():
                model.settings = settings.here(place.namespace)
            for name, model in place.models.items():
                model.changed()
                if name in NAMES and model.service and not place.gone:
                    certainly(lambda name=name: self.api.patch(SERVICES, name, touched, place.namespace))  # type: ignore[misc]

        list(clients.map(touch, places))

    def _ingresses(self) -> dict[tuple[str, str], Object]:
        found = certainly(lambda: self.api.list(INGRESSES))
        return {(made["metadata"]["namespace"], made["metadata"]["name"]): made for made in found}

    def _compare(
        self, places: Sequence[Place], wrong: Container[int]
    ) -> tuple[list[tuple[Model, set[Observed | None]]], list[tuple[int, Model, Observed | None]]]:
        """Return what is as it should be, with what may stand; and what is not, with the history's number before it."""
        ingresses = self._ingresses()
        same: list[tuple[Model, set[Observed | None]]] = []
        different: list[tuple[int, Model, Observed | None]] = []
        for index, place in enumerate(places):
            for name, model in place.models.items() if index not in wrong else ():
                observed = observed_of(ingresses.get((place.namespace, name)))
                right = {found for found in model.expected() if matches(observed, [found])}
                if right:
                    same.append((model, right))
                else:
                    different.append((index, model, observed))
        return same, different

    def _settle(self, places: Sequence[Place], wrong: dict[int, str], when: str, patience: float, end: bool) -> None:
        """Return once all is as it should be. What isn't in time is noted as wrong.

        Before the end, nobody waits for a name that was taken: that can take a quarter of a Service's age.
        """
        began = time.monotonic()
        pause, steady, last = 0.02, False, ""
        while True:
            same, different = self._compare(places, wrong)
            settled = all(model.waits and not end for _, model, _ in different)
            if (settled and steady) or time.monotonic() > began + patience:
                break
            if different:
                last = told(*different[0][1:])
            # That nothing is to happen is right at once, and may be wrong a moment later.
            time.sleep(STEADY if settled else pause)
            pause, steady = min(pause * 1.5, 0.5), settled
        self.seen.slowest = max(self.seen.slowest, (time.monotonic() - began, last))
        for index, model, observed in different:
            if end or not model.waits:
                wrong.setdefault(index, f"{when}: {told(model, observed)}")
        for index, why in self.writes.check(places).items():
            wrong.setdefault(index, f"{when}: {why}")
        for model, found in same:
            model.settle(found)

    def _check_events(self, places: Sequence[Place], wrong: dict[int, str]) -> None:
        """Note each refused Service that no Event tells why.

        Metacontroller reports 25 refusals of a Service at once, and then one in five seconds.
        """
        refused = {}
        for index, place in enumerate(places):
            for name, model in place.models.items():
                if model.service and index not in wrong:
                    kind, reason = desired(name, place.namespace, model.service, model.settings)
                    if kind == REFUSED:
                        refused[model.service.uid] = (index, name, reason)

        def missing() -> dict[int, str]:
            texts: dict[str, str] = {}
            for event in certainly(lambda: self.api.list(EVENTS)):
                uid = event["involvedObject"].get("uid", "")
                texts[uid] = texts.get(uid, "") + event["message"]
            return {
                index: f"no Event on Service {name} tells of {reason}"
                for uid, (index, name, reason) in refused.items()
                if reason not in texts.get(uid, "")
            }

        end = time.monotonic() + HEALING
        while (found := missing()) and time.monotonic() < end:
            time.sleep(0.3)
        wrong.update(found)


def namespace_of(number: int) -> str:
    """Return the namespace in which the history of that number is played."""
    return f"history-{number}"


def play_step(history: Sequence[Step], place: Place, number: int) -> str | None:
    """Play one step of a history; return what is wrong."""
    step = history[number]
    try:
        step.play(place)
    except (Diverged, ApiError) as error:
        return f"step {number + 1}, {step.kind} {step.name}: {error}"
    return None


def told(model: Model, observed: Observed | None) -> str:
    """Return what is wrong at one name, in lines."""
    expected = "\n    or ".join(sorted(map(described, model.expected())))
    state = model.service or "no Service"
    lines = (f"{model.namespace}/{model.name}: {described(observed)}", f"is not {expected}", f"for {state}")
    return "\n  ".join((*lines, f"with {model.settings}"))


def described(observed: Observed | None) -> str:
    """Return an object in words."""
    if observed is None:
        return "nothing"
    if not observed.owner:
        return f"a stranger's Ingress {observed.body}"
    return f"an Ingress{'' if observed.marked else ' without the mark'} of Service {observed.owner}: {observed.body}"


def script(plan: Plan) -> str:
    """Return the first history of a plan, in lines, with what else happened."""
    lines = []
    for number, (step, event) in enumerate(zip(plan.histories[0], plan.events, strict=True), start=1):
        if isinstance(event, Settings):
            lines.append(f"   with the settings {json.dumps(event.as_file([namespace_of(plan.first)]))}")
        elif event:
            lines.append(f"   while: {event}")
        lines.append(f"{number}. {step}")
    return "\n".join(lines)


def shortest(
    cluster: DevCluster, plan: Plan, index: int, tries: int, progress: Callable[[str], None]
) -> tuple[Plan, str]:
    """Return the shortest plan with one history that still fails, and how; the whole one, if it doesn't any more."""
    rounds = Rounds(cluster, Seen())  # what is played again is not counted

    def with_steps(steps: Sequence[tuple[Step, Event]]) -> Plan:
        return Plan(plan.seed, [[step for step, _ in steps]], [event for _, event in steps], plan.faults, index)

    def fails(steps: Sequence[tuple[Step, Event]]) -> str | None:
        nonlocal tries
        tries -= 1
        return next(iter(rounds.play(with_steps(steps)).values()), None)

    steps: list[tuple[Step, Event]] = list(zip(plan.histories[index], plan.events, strict=True))
    progress("playing it alone")
    why = fails(steps)
    if why is None:
        return with_steps(steps), "it did not happen again by itself"
    size = len(steps) // 2
    while size and tries > 0:
        for start in range(0, len(steps), size):
            part = steps[:start] + steps[start + size :]
            progress(f"trying with {len(part)} of its steps")
            if part and tries > 0 and (failed := fails(part)):
                steps, why = part, failed
                break
        else:
            size //= 2
        size = min(size, len(steps) - 1)
    without_events: list[tuple[Step, Event]] = [(step, None) for step, _ in steps]
    if tries > 0 and (failed := fails(without_events)):
        steps, why = without_events, failed
    return with_steps(steps), why
