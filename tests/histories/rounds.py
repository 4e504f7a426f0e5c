"""Rounds: many histories are played side by side, step by step, each in a namespace of its own, and judged."""

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random

from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICES, ApiError, Object
from devcluster.cluster import DevCluster
from ingress_manager.core.settings import parse
from tests.histories.judge import Writes, asked, still_to_do
from tests.histories.steps import TIMEOUT, Diverged, Place, Step, made_up_steps

CLIENTS = 8
"""Histories that go on at a time."""

SETTLING, STEADY, HEALING = 30.0, 0.3, 400.0
"""Seconds in which a step must have had its effect where nothing is broken; for which nothing may change any more; and
in which everything must have settled at the end: a name that was taken is tried again within six minutes."""

SETTINGS: Object = {
    "defaults": {"host": "{service}.{namespace}.example.com"},
    "limits": {
        "hosts": ["*.{namespace}.example.com", "*.example.com", "*"],
        "pathTypes": ["Prefix", "Exact", "ImplementationSpecific"],
        "copyAnnotations": {TIMEOUT: "any"},
    },
    "profiles": {"fast": {"class": "nginx", "annotations": {"example.com/fast": "yes"}}},
}
POLICY = parse(json.dumps(SETTINGS))


class Plan:
    """What a round plays: always the same for a seed. Beside some steps, a part is killed, with `faults`."""

    def __init__(self, seed: str, histories: int, steps: int, *, faults: bool) -> None:
        random = Random(seed)
        self.seed, self.has_faults = seed, faults
        self.histories = [made_up_steps(f"{seed}-{number}", steps) for number in range(histories)]
        self.kills = [random.choice(("", "hook", "engine")) if faults else "" for _ in range(steps)]

    def script(self, history: int) -> str:
        """Return a history in lines, with what was killed meanwhile."""
        pairs = zip(self.histories[history], self.kills, strict=True)
        return "\n".join(f"{number}. {step}{kill and f' ({kill} killed)'}" for number, (step, kill) in enumerate(pairs))


def play(cluster: DevCluster, plan: Plan) -> dict[int, str]:
    """Play a plan until something diverges; return what has, by the number of the history; -1 is none of them."""
    places = [Place(cluster.api, f"history-{number}") for number in range(len(plan.histories))]
    cluster.restart_hook(SETTINGS)
    for place in places:
        metadata = {"name": place.namespace}
        cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    judged = Judged(cluster, places)
    with ThreadPoolExecutor(CLIENTS) as clients:
        for number, kill in enumerate(plan.kills):
            with killed(cluster, kill):
                told = clients.map(lambda steps, place, n=number: play_step(steps[n], place), plan.histories, places)
                wrong = {index: why for index, why in enumerate(told) if why}
            if not plan.has_faults:
                wrong |= judged.settled(SETTLING, at_the_end=False)
            if why := judged.writes.check():
                wrong[-1] = why
            if wrong:
                return wrong
    return judged.settled(HEALING, at_the_end=True) or judged.untold()


def play_step(step: Step, place: Place) -> str:
    """Play one step of a history; return what is wrong, "" for nothing."""
    try:
        step.play(place)
    except (Diverged, ApiError) as error:
        return f"{step}: {error}"
    return ""


@contextmanager
def killed(cluster: DevCluster, part: str) -> Iterator[None]:
    """Kill a part, and start it again at the end; "" for none."""
    if part:
        cluster.parts[part].kill()
    yield
    if part:
        cluster.parts[part].start()
        cluster.hook.wait_ready(cluster.hook_ready)


class Judged:
    """What stands on a cluster, and what the engine has written there."""

    def __init__(self, cluster: DevCluster, places: Sequence[Place]) -> None:
        self._api, self._places = cluster.api, places
        self.writes = Writes(cluster, places, POLICY)

    def _all(self) -> Iterator[tuple[list[Object], list[Object]]]:
        """Yield the Services and the Ingresses of each place."""
        found = {
            kind: [{"apiVersion": kind.api_version, "kind": kind.kind, **each} for each in self._api.list(kind)]
            for kind in (SERVICES, INGRESSES)
        }
        for place in self._places:
            here = {kind: [o for o in found[kind] if o["metadata"]["namespace"] == place.namespace] for kind in found}
            yield here[SERVICES], here[INGRESSES]

    def _to_do(self, *, at_the_end: bool) -> dict[int, str]:
        """Return what is still to be done, by the place's number; before the end, no taken name is waited for."""
        found = {}
        for number, (place, standing) in enumerate(zip(self._places, self._all(), strict=True)):
            lines = still_to_do(*standing, POLICY)
            found[number] = [line for line in lines if at_the_end or line.partition(" ")[2] not in place.taken]
        return {number: f"still to be done: {', '.join(lines)}" for number, lines in found.items() if lines}

    def settled(self, patience: float, *, at_the_end: bool) -> dict[int, str]:
        """Return once nothing is to be done any more, and what is all the same after so many seconds."""
        end, steady = time.monotonic() + patience, False
        while ((to_do := self._to_do(at_the_end=at_the_end)) or not steady) and time.monotonic() < end:
            # That nothing is to happen is right at once, and may be wrong a moment later.
            time.sleep(0.05 if to_do else STEADY)
            steady = not to_do
        if why := self.writes.check():
            to_do[-1] = why
        for place in self._places:
            place.settle()
        return to_do

    def untold(self) -> dict[int, str]:
        """Return each refused Service that no Event tells why, once all of those are gone or time is over."""
        refused = {}
        for number, (services, ingresses) in enumerate(self._all()):
            for service in services:
                answered, _ = asked(service, ingresses, POLICY)
                if answered.status == 422:
                    refused[service["metadata"]["uid"]] = (number, answered.body.decode().strip())

        def missing() -> dict[int, str]:
            told = [(each["involvedObject"].get("uid"), each["message"]) for each in self._api.list(EVENTS)]
            return {
                number: f"no Event tells: {reason}"
                for uid, (number, reason) in refused.items()
                if not any(uid == about and reason in message for about, message in told)
            }

        end = time.monotonic() + HEALING
        while (found := missing()) and time.monotonic() < end:
            time.sleep(0.3)
        return found
