"""Rounds: many histories are played side by side, step by step, each in a namespace of its own, and judged.

When all has settled, the hook is asked again about each Service, in this process, as Metacontroller would ask it. What
Metacontroller would do then must be nothing.
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random

from devcluster import engines
from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICES, Object
from devcluster.cluster import DevCluster
from devcluster.standin.objects import controller_of, updated, with_annotation
from devcluster.sync_requests import as_created, sync_request
from hooks.sync import answer
from ingress_manager.commands.view.merge import same
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.e2e.audit import READS
from tests.e2e.objects import create
from tests.histories.steps import TIMEOUT, Place, Step, is_strangers, made_up_steps

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

    def told(self, number: int, why: str) -> str:
        """Return what is wrong with a history, and the history in lines, with what was killed meanwhile."""
        pairs = zip(self.histories[number], self.kills, strict=True)
        lines = (f"{step}{kill and f' ({kill} killed)'}" for step, kill in pairs)
        return "\n".join((f"round {self.seed}, history {number}: {why}", *lines))


def play(cluster: DevCluster, plan: Plan) -> list[str]:
    """Play a plan until something diverges; return what has."""
    cluster.restart_hook(SETTINGS)
    places = [Place(cluster.api, f"history-{number}") for number in range(len(plan.histories))]
    for place in places:
        create(cluster.api, NAMESPACES, place.namespace)
    judge, wrong = Judge(cluster, places), dict[int, str]()
    with ThreadPoolExecutor(8) as clients:  # histories that go on at a time
        for steps, kill in zip(zip(*plan.histories, strict=True), plan.kills, strict=True):
            if kill:
                cluster.parts[kill].kill()
            wrong |= {number: why for number, why in enumerate(clients.map(Step.play, steps, places)) if why}
            if kill:
                cluster.parts[kill].start()
                cluster.hook.wait_ready(cluster.hook_ready)
            wrong |= judge.misdeeds() if plan.has_faults else judge.settled(SETTLING)
            if wrong:
                break
    wrong = wrong or judge.settled(HEALING, at_the_end=True) or judge.untold(touch=plan.has_faults)
    return [plan.told(number, why) for number, why in wrong.items()]


def asked(
    service: Object, standing: Iterable[Object], policy: Policy = POLICY
) -> tuple[str, dict[str, Object], dict[str, Object]]:
    """Return why the hook refuses a Service, "" if it doesn't; what is made for it; and what is to be, then."""
    there = [
        each
        for each in standing
        if (controller_of(each) or {}).get("uid") == service["metadata"]["uid"]
        and (each["metadata"].get("annotations") or {}).get(DECORATOR) == "ingress-manager"
    ]
    answered = answer(json.dumps(sync_request(service, attached=there, httproutes=False)).encode(), policy)
    if answered.status != 200:
        return answered.body.decode().strip(), by_name(there), by_name(there)
    wanted = json.loads(answered.body)["attachments"]
    return "", by_name(there), by_name(with_annotation(each, DECORATOR, "ingress-manager") for each in wanted)


def by_name(objects: Iterable[Object]) -> dict[str, Object]:
    """Return objects by their names."""
    return {each["metadata"]["name"]: each for each in objects}


def still_to_do(services: Sequence[Object], ingresses: Sequence[Object]) -> Iterator[tuple[str, str]]:
    """Yield what is still to be done in a namespace: an action, and the name of what it is done to."""
    uids = {each["metadata"]["uid"] for each in services}
    for name, each in by_name(ingresses).items():
        if not is_strangers(each) and (controller_of(each) or {}).get("uid") not in uids:
            yield "collect", name
    for service in services:
        refused, before, after = asked(service, ingresses)
        if "deletionTimestamp" in service["metadata"]:
            yield "end", service["metadata"]["name"]
        yield from (("delete", name) for name in before.keys() - after.keys())
        # A name that another object has stays taken.
        yield from (("create", name) for name in after.keys() - by_name(ingresses).keys())
        for name in before.keys() & after.keys() if not refused else ():
            if not same(updated(before[name], after[name]), before[name]):
                yield "update", name


class Judge:
    """Judges what stands on a cluster, and, by the audit log, what the engine has written there."""

    def __init__(self, cluster: DevCluster, places: Sequence[Place]) -> None:
        self._api, self._places, self._log = cluster.api, places, cluster.control_plane.audit_log
        self._read = self._log.stat().st_size

    def _all(self) -> Iterator[tuple[int, list[Object], list[Object]]]:
        """Yield the number, the Services and the Ingresses of each place."""
        found = [
            [{"apiVersion": kind.api_version, "kind": kind.kind, **each} for each in self._api.list(kind)]
            for kind in (SERVICES, INGRESSES)
        ]
        for number, place in enumerate(self._places):
            services, ingresses = ([o for o in each if o["metadata"]["namespace"] == place.namespace] for each in found)
            yield number, services, ingresses

    def settled(self, patience: float, *, at_the_end: bool = False) -> dict[int, str]:
        """Return once nothing is to be done any more, and what is all the same after so many seconds.

        Before the end, no name that was taken is waited for.
        """

        def to_do() -> dict[int, str]:
            found = {}
            for number, *here in self._all():
                late = () if at_the_end else self._places[number].strangers.values()
                if actions := [(verb, name) for verb, name in still_to_do(*here) if name not in late]:
                    found[number] = f"still to be done: {actions}"
            return found

        end, steady = time.monotonic() + patience, False
        while ((found := to_do()) or not steady) and time.monotonic() < end:
            # That nothing is to happen is right at once, and may be wrong a moment later.
            time.sleep(0.05 if found else STEADY)
            steady = not found
        found |= self.misdeeds()
        for place in self._places:
            place.settle()
        return found

    def untold(self, *, touch: bool) -> dict[int, str]:
        """Return each refused Service that no Event tells why, once all of those are gone or time is over.

        With `touch`, each is changed first: what was told while Metacontroller was killed is told again within the
        hour, and what is fresh at once.
        """
        waiting = {}
        for number, services, ingresses in self._all():
            for service in services:
                if refused := asked(service, ingresses)[0]:
                    waiting[service["metadata"]["uid"]] = (number, refused)
                    if touch:
                        patch = {"metadata": {"annotations": {"example.com/touched": "yes"}}}
                        self._api.patch(SERVICES, service["metadata"]["name"], patch, self._places[number].namespace)
        end = time.monotonic() + HEALING
        while waiting and time.monotonic() < end:
            time.sleep(0.3)
            told = [(each["involvedObject"].get("uid"), each["message"]) for each in self._api.list(EVENTS)]
            waiting = {
                uid: (number, why)
                for uid, (number, why) in waiting.items()
                if not any(uid == about and why in message for about, message in told)
            }
        return {number: f"no Event tells: {why}" for number, why in waiting.values()}

    def misdeeds(self) -> dict[int, str]:
        """Return what is wrong with the writes of the engine since the last time."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            lines = [line for line in log if line.endswith(b"\n")]  # one without an end is still being written
        self._read += sum(map(len, lines))
        numbers = {place.namespace: number for number, place in enumerate(self._places)}
        found = {}
        for event in map(json.loads, lines):
            about = event.get("objectRef", {})
            if event["user"]["username"] != engines.USER or event["verb"] in READS:
                continue
            number = numbers.get(about.get("namespace"), 0)
            if about.get("resource") not in {"ingresses", "events", "leases"}:
                found[number] = f"the engine has tried to write: {event}"
            elif why := misdeed(event, self._places[number]):
                found[number] = f"the engine has done a {event['verb']} to Ingress {about}: {why}"
        return found


def misdeed(event: Object, place: Place) -> str:
    """Return why the engine should not have written to an Ingress; "" when it is right, or wasn't an Ingress."""
    if event["objectRef"]["resource"] != "ingresses" or event["responseStatus"]["code"] >= 400:
        return ""
    body, name = {"metadata": {}, **event.get("requestObject", {})}, event["objectRef"].get("name", "")
    if event["verb"] != "delete":
        return "it is a stranger's" if is_strangers(body) else ""
    uid = body.get("preconditions", {}).get("uid")
    if uid is None or uid in place.strangers:
        return f"it may be a stranger's, as its uid is {uid}"
    # Nothing has asked for the end of an Ingress since all had settled if nobody has edited it, and its Service has
    # asked for it all the time. A mistake asks for nothing.
    states = place.services[name.partition(".")[0]]
    if name in place.edited or None in states:
        return ""
    services = [each for each in states if each]
    made = [as_created(each, service) for service in services for each in asked(service, ())[2].values()]
    return "" if any(name not in asked(service, made)[2] for service in services) else "nothing asked for that"
