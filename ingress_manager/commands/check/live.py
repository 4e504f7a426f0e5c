"""`check --live`: a Service is exposed in a namespace of its own, which is removed in the end, whatever happens."""

import contextlib
import http.client
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from secrets import token_hex
from time import monotonic, sleep

from ingress_manager.commands.check import trial
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.printing.console import note, waiting
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, RESOURCES
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.render.rendering import render
from ingress_manager.commands.view.events import OF_SERVICES, reports
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Policy

PART = "Live"
BETWEEN_LOOKS = 0.2
ANSWER = 5.0
"""Seconds that the gateway has for an answer."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A Service in a namespace of its own."""

    kubectl: Kubectl
    namespace: str
    seconds: float

    def run(self, *words: str, stdin: object = None) -> str:
        """Return what kubectl prints in the namespace. Raises KubectlFailed."""
        return self.kubectl.run(*words, stdin=json.dumps(stdin) if stdin else "")

    def change(self, verb: str, kind: str, name: str, *changes: str, options: tuple[str, ...] = ()) -> None:
        """Change an object. Raises KubectlFailed."""
        self.run(verb, f"--namespace={self.namespace}", *options, "--", kind, name, *changes)

    def made(self, planned: list[Object]) -> dict[tuple[str, str], Object]:
        """Return what stands of the planned objects, by kind and name. Raises KubectlFailed."""
        kinds = dict.fromkeys(each["kind"] for each in planned)
        resources = ",".join(RESOURCES[kind] for kind in kinds)
        found = self.kubectl.get(resources, f"--namespace={self.namespace}").items
        stands = {(str(item.object.get("kind")), item.name): item.object for item in found}
        return {key: stands[key] for each in planned if (key := key_of(each)) in stands}

    def event(self) -> str:
        """Return Metacontroller's newest report of the Service, in a sentence. Raises KubectlFailed."""
        found = reports(self.kubectl.get("events", f"--namespace={self.namespace}", OF_SERVICES).items).values()
        return f"Metacontroller reports: {max(found).sentence}" if found else "no Event of the Service says why"

    def step(self, happened: str, missing: str, look: Callable[[], bool]) -> Line:
        """Return how long something took that has just been caused, or that it hasn't come. Raises KubectlFailed."""
        began = monotonic()
        with waiting(f"waiting: {missing}"):
            while not look():
                if monotonic() > began + self.seconds:
                    return Line(PART, State.WRONG, f"{missing} within {self.seconds:.0f} s: {self.event()}")
                sleep(BETWEEN_LOOKS)
        return Line(PART, State.OK, f"{happened} after {monotonic() - began:.1f} s")


def key_of(made: Object) -> tuple[str, str]:
    return made["kind"], made["metadata"]["name"]


def live(kubectl: Kubectl, policy: Policy, seconds: float, host: str = "", address: str = "") -> Iterator[Line]:
    """Expose a Service, and yield a line for each thing that follows, or doesn't.

    With `host`, the Service is given that host, and asked for it at `address`, else at the address of its Ingress. The
    settings `policy` say what would be made: nothing is done where that could get into the way of somebody.
    """
    made = Trial(kubectl, f"ingress-manager-check-{token_hex(4)}", seconds)
    service = trial.service(made.namespace, host)
    rendered = render([Item(service, Origin("", ""))], policy)
    if rendered.messages:
        yield untried(f"the settings refuse the Service: {rendered.messages[0].told}")
        return
    try:
        others = kubectl.get("ingresses", "--all-namespaces").items
        if routes := kubectl.get_if_known(RESOURCES[HTTPROUTE], "--all-namespaces"):
            others += routes.items
    except KubectlFailed as failed:
        yield untried(f"nobody knows whose hosts it would take: {failed.message}")
        return
    if taken := next(trial.in_the_way(rendered.objects, made.namespace, others), ""):
        hosts = ", ".join(sorted(trial.hosts_of(rendered.objects)))
        yield untried(f"{taken} may answer {hosts}; `--request HOST` names a host that nobody uses")
        return
    try:
        try:
            yield from tried(made, service, rendered.objects, host, address)
        except KubectlFailed as failed:
            yield Line(PART, State.UNKNOWN, f"it can't be tried to its end: {failed.message}")
    except BaseException:  # such as Ctrl-C
        note(removed(made).sentence)
        raise
    yield removed(made)


def untried(why: str) -> Line:
    return Line(PART, State.UNKNOWN, f"nothing was tried: {why}")


def tried(made: Trial, service: Object, planned: list[Object], host: str, address: str) -> Iterator[Line]:
    """Yield a line for each step. Those after one that has failed aren't taken. Raises KubectlFailed."""
    names = " and ".join(f"{kind} {name}" for kind, name in map(key_of, planned))
    asked = service["metadata"].pop("annotations")
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}}
    made.run("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "List", "items": [space, service]})
    made.change("annotate", "service", trial.SERVICE, *(f"{key}={value}" for key, value in asked.items()))
    yield (
        line := made.step(
            f"Service annotated: {names} made",
            f"{names} not made for an annotated Service",
            lambda: len(made.made(planned)) == len(planned),
        )
    )
    if line.state is not State.OK:
        return
    first = made.made(planned)[key_of(planned[0])]
    if host:
        yield requested(made, first, host, address)
    kind, name = key_of(first)
    made.change("patch", kind.lower(), name, options=("--type=json", f"--patch={json.dumps(trial.edit(first))}"))
    yield made.step(
        f"{kind} edited: repaired",
        f"an edited {kind} is not repaired",
        lambda: made.made(planned).get(key_of(first), {}).get("spec") == first["spec"],
    )
    made.change("annotate", "service", trial.SERVICE, "ingress/http-")
    yield made.step(
        f"annotation taken off: {names} gone",
        f"{names} not removed for a Service without the annotation",
        lambda: not made.made(planned),
    )


def requested(made: Trial, first: Object, host: str, address: str) -> Line:
    """Return what the gateway answers for the host. Raises KubectlFailed."""
    end = monotonic() + made.seconds
    look = (f"--namespace={made.namespace}", "--ignore-not-found")
    path = "--output=jsonpath={.status.loadBalancer.ingress[0].ip}{.status.loadBalancer.ingress[0].hostname}"
    while not address and first["kind"] == INGRESS and monotonic() < end:
        address = made.run("get", *look, path, "--", "ingress", first["metadata"]["name"])
        sleep(BETWEEN_LOOKS)
    if not address:
        why = f"{first['kind']} {first['metadata']['name']} states no address; --address says where the gateway is"
        return Line(PART, State.UNKNOWN, f"no request was sent: {why}")
    try:
        stranger = status_of(address, f"{token_hex(8)}.invalid")
        while (status := status_of(address, host)) == stranger and monotonic() < end:
            sleep(BETWEEN_LOOKS)
    except (OSError, http.client.HTTPException) as error:
        return Line(PART, State.UNKNOWN, f"the gateway at {address} can't be asked from here: {error}")
    known, sentence = trial.told(status, stranger)
    return Line(
        PART, State.OK if known else State.UNKNOWN, f"request for {host} to the gateway at {address}: {sentence}"
    )


def status_of(address: str, host: str) -> int:
    """Return the status with which a gateway answers. Raises OSError and http.client.HTTPException."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=ANSWER)) as connection:
        connection.request("GET", "/", headers={"Host": host})
        return connection.getresponse().status


def removed(made: Trial) -> Line:
    """Delete the namespace, and return what became of that."""
    command = ("kubectl", "delete", "--wait=false", "--", "namespace", made.namespace)
    try:
        made.run(*command[1:])
    except KubectlFailed as failed:
        if failed.is_not_found:
            return Line(PART, State.OK, f"the namespace {made.namespace} isn't there: nothing is left of the trial")
        sentence = f"the namespace {made.namespace} could not be deleted: {failed.message}"
        return Line(PART, State.WRONG, sentence, "Delete it:", command)
    return Line(PART, State.OK, f"the namespace {made.namespace} has been deleted, and all that was in it goes with it")
