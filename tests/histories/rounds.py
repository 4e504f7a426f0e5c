"""Rounds: many histories are played side by side, step by step, each in a namespace of its own, and judged."""

import itertools
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICES, ApiError, Object, Resource, wait_for
from devcluster.cluster import DevCluster
from ingress_manager.core.settings import parse
from tests.histories.faults import STORES, Fault, Keeper, made_up_fault
from tests.histories.judge import Writes, asked, still_to_do
from tests.histories.steps import SHARED, TEAM, TIER, TIMEOUT, Diverged, Place, Step, certainly, made_up_steps

CLIENTS = 12
SETTLING = 20.0
"""Seconds in which a step must have had its effect, where nothing is broken."""

STEADY = 0.3
"""Seconds for which nothing may change any more once all is as it should be."""

HEALING = 400.0
"""Seconds in which everything must have settled at the end: a name that was taken is tried again within six minutes,
and Metacontroller repeats no more than ten failed attempts a second."""

Settings = Object
"""What the administrator writes."""

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
    """What was not as it should be."""


def made_up_plan(seed: str, histories: int, steps: int, *, faults: bool) -> Plan:
    """Return a round: always the same one for a seed."""
    random = Random(seed)
    events: list[Event] = []
    for _ in range(steps):
        if random.random() < 0.2:
            events.append(made_up_settings(random, histories))
        else:
            events.append(made_up_fault(random) if faults and random.random() < 0.5 else None)
    made = [made_up_steps(f"{seed}-{number}", steps) for number in range(histories)]
    return Plan(seed, made, events, faults)


LIMITS: Mapping[str, Sequence[object]] = {
    "hosts": [["*.{namespace}.example.com"], ["*.{namespace}.example.com", SHARED, "*"]],
    "classes": [["nginx"], ["nginx", "other"]],
    "paths": ["plain", "any"],
    "copyAnnotations": [{}, {TIMEOUT: "any"}],
    "copyLabels": [{}, {TEAM: ["api", "web"], TIER: "any"}],
    "profiles": [["slow"], "any"],
}
DEFAULTS: Mapping[str, Sequence[object]] = {
    "profile": [None, None, "slow"],
    "annotations": [{}, {"example.com/added": "yes"}],
    "labels": [{}, {TIER: "general"}],
}
"""What the settings state, each in one of some ways."""

LOOSE: Settings = {
    "defaults": {"host": "{service}.{namespace}.example.com"},
    "limits": {
        "pathTypes": ["Prefix", "Exact", "ImplementationSpecific"],
        **{name: values[-1] for name, values in LIMITS.items()},
    },
    "profiles": {
        "fast": {"class": "nginx", "annotations": {"example.com/fast": "yes"}},
        "slow": {"tls": {"enabled": True}, "labels": {TIER: "slow"}},
    },
}
"""Those at the beginning and at the end."""


def made_up_settings(random: Random, namespaces: int) -> Settings:
    """Return settings in which some things are stated otherwise, in general and for every other namespace."""

    def some(of: Mapping[str, Sequence[object]]) -> Object:
        return {name: random.choice(values) for name, values in of.items() if random.random() < 0.3}

    general = {part: LOOSE[part] | some(of) for part, of in (("defaults", DEFAULTS), ("limits", LIMITS))}
    own = {"defaults": some(DEFAULTS), "limits": some(LIMITS), "paused": random.random() < 0.2}
    fast = LOOSE["profiles"]["fast"] | {"class": random.choice(["nginx", "other"])}
    return {
        **general,
        "profiles": LOOSE["profiles"] | {"fast": fast},
        "namespaces": {namespace_of(number): own for number in range(1, namespaces, 2)},
        "paused": random.random() < 0.1,
    }


class Rounds:
    """Plays plans on a cluster."""

    def __init__(self, cluster: DevCluster, seen: Seen) -> None:
        self.cluster, self.api, self.seen = cluster, cluster.api, seen
        self.writes = Writes(cluster)
        self._policy = parse(json.dumps(LOOSE))
        self._touches = itertools.count()

    def play(self, plan: Plan) -> dict[int, str]:
        """Play a plan until something diverges; return what has, by the number of the history."""
        places = [Place(self.api, namespace_of(number)) for number in range(len(plan.histories))]
        wrong: dict[int, str] = {}
        with Keeper(self.cluster) as keeper, ThreadPoolExecutor(CLIENTS) as clients:
            self._keeper = keeper
            list(clients.map(self._prepare, places))
            self.writes.check([])  # what was done until now is left out
            self._set(LOOSE, places, clients)
            for place in places:
                place.settle(self._policy, set())
            for number in range(len(plan.events)):
                self._play_step(plan, number, places, wrong, clients)
                if wrong:
                    break
            if plan.faults:
                self._heal(plan)
            self._set(LOOSE, places, clients)
            if not wrong:
                self._settle(places, wrong, "at the end", HEALING, end=True)
            if not wrong and not plan.faults:
                self._check_events(places, wrong)
            wrong |= self.writes.check(places)
            list(clients.map(self._clear, places))
            wait_for(lambda: not self._all(INGRESSES), HEALING, what="an empty cluster")
        self.seen.histories += len(plan.histories)
        self.seen.denied += sum(place.denied for place in places)
        self.seen.faults.update(f"{event.kind} {event.part}" for event in plan.events if isinstance(event, Fault))
        return wrong

    def _play_step(
        self, plan: Plan, number: int, places: Sequence[Place], wrong: dict[int, str], clients: ThreadPoolExecutor
    ) -> None:
        """Play one step of each history, and what happens beside it."""
        event = plan.events[number]
        if isinstance(event, dict):
            self._set(event, places, clients)
            if not plan.faults:
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
        text = json.dumps(settings)
        self._policy = parse(text)
        self._keeper.roll_out(json.loads(text))  # without what is the same twice: in YAML it would be an alias
        touched = {"metadata": {"labels": {"touched": str(next(self._touches))}}}

        def touch(place: Place) -> None:
            place.policy = None
            for name, service in place.services.items():
                if service and not place.gone:
                    certainly(lambda name=name: self.api.patch(SERVICES, name, touched, place.namespace))  # type: ignore[misc]

        list(clients.map(touch, places))

    def _all(self, resource: Resource) -> dict[str, list[Object]]:
        """Return all objects of a kind by their namespaces."""
        found: dict[str, list[Object]] = {}
        for each in certainly(lambda: self.api.list(resource)):
            whole = {"apiVersion": resource.api_version, "kind": resource.kind, **each}
            found.setdefault(each["metadata"]["namespace"], []).append(whole)
        return found

    def _to_do(self, places: Sequence[Place], *, end: bool) -> dict[int, list[str]]:
        """Return what is still to be done, by the number of the place.

        Before the end, nobody waits for a name that was taken: that can take a quarter of a Service's age.
        """
        services, ingresses = self._all(SERVICES), self._all(INGRESSES)
        found = {}
        for number, place in enumerate(places):
            here = place.namespace
            lines = still_to_do(services.get(here, []), ingresses.get(here, []), self._policy)
            found[number] = [line for line in lines if end or line.partition(" ")[2] not in place.taken]
        return {number: lines for number, lines in found.items() if lines}

    def _settle(self, places: Sequence[Place], wrong: dict[int, str], when: str, patience: float, end: bool) -> None:
        """Return once nothing is to be done any more. Where something is in the end, that is noted as wrong."""
        began = time.monotonic()
        pause, steady, last = 0.02, False, ""
        while (to_do := self._to_do(places, end=end)) or not steady:
            if time.monotonic() > began + patience:
                break
            last = next((f"{places[number].namespace}: {lines}" for number, lines in to_do.items()), last)
            # That nothing is to happen is right at once, and may be wrong a moment later.
            time.sleep(pause if to_do else STEADY)
            pause, steady = min(pause * 1.5, 0.5), not to_do
        self.seen.slowest = max(self.seen.slowest, (time.monotonic() - began, last))
        for number, lines in to_do.items():
            wrong.setdefault(number, f"{when}: still to be done in {places[number].namespace}: {', '.join(lines)}")
        for number, why in self.writes.check(places).items():
            wrong.setdefault(number, f"{when}: {why}")
        left = {} if end else self._to_do(places, end=True)
        for number, place in enumerate(places):
            place.settle(self._policy, {line.partition(" ")[2] for line in left.get(number, ())})

    def _check_events(self, places: Sequence[Place], wrong: dict[int, str]) -> None:
        """Note each refused Service that no Event tells why.

        Metacontroller reports 25 refusals of a Service at once, and then one in five seconds.
        """
        services, ingresses = self._all(SERVICES), self._all(INGRESSES)
        refused = {}
        for number, place in enumerate(places):
            for service in services.get(place.namespace, []):
                answered, _ = asked(service, ingresses.get(place.namespace, []), self._policy)
                if answered.status == 422:
                    refused[service["metadata"]["uid"]] = (number, answered.body.decode().strip())

        def missing() -> dict[int, str]:
            texts: dict[str, str] = {}
            for event in certainly(lambda: self.api.list(EVENTS)):
                uid = event["involvedObject"].get("uid", "")
                texts[uid] = texts.get(uid, "") + event["message"]
            return {
                number: f"no Event tells: {reason}"
                for uid, (number, reason) in refused.items()
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


def script(plan: Plan, history: int) -> str:
    """Return a history of a plan, in lines, with what else happened."""
    lines = []
    for number, (step, event) in enumerate(zip(plan.histories[history], plan.events, strict=True), start=1):
        if isinstance(event, dict):
            lines.append(f"   with the settings {json.dumps(event)}")
        elif event:
            lines.append(f"   while: {event}")
        lines.append(f"{number}. {step}")
    return "\n".join(lines)
