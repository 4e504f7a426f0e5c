"""The hook under abuse: 20 tenants have it answer the worst requests, while 20 others work and make mistakes.

The worst Services of the corpus are stored by the API server, and each that is refused has to have its Event. Then all
requests of the corpus are sent straight to the hook, again and again, by as many clients as Metacontroller has workers:
an API server needs far longer to store such a Service than the hook to answer.

Meanwhile the others change their Services through Metacontroller. Each change has to arrive, and each mistake has to
have an Event that names the wrong value.
"""

import contextlib
import http.client
import itertools
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bench.changes import Change, Changes, Place, Watch, missing, summary
from bench.client import TIMEOUT
from bench.figures import Figure, Section, at_most, exactly
from bench.load import Size, create_namespace, create_services, sleep_until, slowly
from bench.scale import MEGABYTE
from devcluster import usage
from devcluster.api import EVENTS, SERVICES, ApiError, Object, wait_for
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster
from devcluster.errors import NotReady
from devcluster.manifests import find
from devcluster.sync_requests import sync_request
from devcluster.worst import encoded, worst_requests
from hooks.settings_file import load
from hooks.sync import answer
from tools.containers import docker, runner, serving

TENANTS = 20
"""On each side. Metacontroller has as many workers."""

EACH = 20
"""Services of a tenant who works. They take turns: Metacontroller writes 25 Events of each, then one in 5 s."""

SIZE = Size(TENANTS * EACH, TENANTS)

BETWEEN = 2.0
"""Seconds from one mistake of a tenant to the next."""

SLOWEST = 1.0
"""Seconds that an answer may take."""

EVENT = 60.0
"""Seconds to wait for an Event."""

BEGIN = 200
"""Characters of a refusal by which its Event is known: Events hold 1,024 at most."""

MISTAKE = re.compile(r"mistake-\w+-\d+")
"""The wrong values, each another one."""


@dataclass
class Seen:
    """What the Events tell."""

    warnings: dict[Place, str] = field(default_factory=dict)
    """The last warning about each object."""
    mistakes: set[str] = field(default_factory=set)
    """The wrong values that were named."""

    def see(self, event: Object) -> None:
        """Take up an Event."""
        about = event["involvedObject"]
        if event["type"] == "Warning":
            # The API server's Events about its ServiceCIDR name nothing.
            self.warnings[about.get("namespace", ""), about.get("name", "")] = event["message"]
        self.mistakes.update(MISTAKE.findall(event.get("message") or ""))


@dataclass
class Stored:
    """What became of the worst Services."""

    accepted: int = 0
    denied: int = 0
    """By the API server: an admission policy can't be evaluated within its limits, or nothing is done in time."""
    refused: dict[Place, str] = field(default_factory=dict)
    """How the hook's refusal begins, for each accepted one that it has to refuse."""


@dataclass
class Asked:
    """What became of the requests that one client has sent to the hook."""

    seconds: list[float] = field(default_factory=list)
    """How long each answer took."""
    failed: int = 0
    """Requests that were not answered within TIMEOUT, or with an error of the hook."""


@dataclass
class Worked:
    """What became of what one tenant has done."""

    changes: list[Change] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    """Seconds from each mistake to its Event."""
    untold: int = 0
    """Mistakes without an Event."""


def abuse_section(
    engine: str, seconds: float, image: str, worst: Iterable[tuple[str, Object]], progress: Progress
) -> Section:
    """Return the figures of so many seconds of abuse, of a hook in a container of `image`, or as a process without one.

    `worst` are the names and the Services that the API server is to store. Raises MissingProgram when nothing here can
    run the image.
    """
    build(["loadgen"], progress)
    seen = Seen()
    with contextlib.ExitStack() as exits:
        container = exits.enter_context(named_container()) if image else ""
        cluster = exits.enter_context(DevCluster(engine, hook=hook_of(image, container), progress=progress))
        pid = int(docker("inspect", "--format={{.State.Pid}}", container).stdout) if image else cluster.hook.pid
        exits.enter_context(Watch(cluster.api, EVENTS, seen.see))
        changes = exits.enter_context(Changes(cluster.api))
        create_services(cluster, SIZE)
        stored = stored_figures(store_worst(cluster, worst, progress), seen, progress)
        requests, memory, report = [body for _, body in worst_requests()], [], slowly(progress, every=5)
        end = time.monotonic() + seconds
        with ThreadPoolExecutor(2 * TENANTS) as pool:
            asking = [pool.submit(ask, cluster, from_each(requests, tenant), end) for tenant in range(TENANTS)]
            working = [pool.submit(work, cluster, changes, own(tenant), seen, end) for tenant in range(TENANTS)]
            while (left := end - time.monotonic()) > 0:
                report(f"{TENANTS} tenants send the worst requests: {left:.0f} s")
                memory.append(usage.pss_bytes(pid) / MEGABYTE)
                time.sleep(min(left, 1))
        figures = abuse_figures([each.result() for each in asking], [each.result() for each in working])
        cluster.processes.check_alive()
    where = "in a container, as its manifest says" if image else "as a process, NOT in a container"
    title = f"{TENANTS} tenants send the worst requests for {seconds:g} s, {TENANTS} others work; the hook runs {where}"
    return Section(title, [*stored, *figures, memory_figure(memory)])


def abuse_figures(asked: Sequence[Asked], worked: Sequence[Worked]) -> list[Figure]:
    """Return what became of the worst requests, and of what the others have done."""
    answers = [seconds for one in asked for seconds in one.seconds]
    changes = [change for one in worked for change in one.changes]
    events = [seconds for one in worked for seconds in one.events]
    untold = sum(one.untold for one in worked)
    return [
        Figure(f"an answer: median, 99th percentile, slowest of {len(answers):,}", summary(answers)),
        at_most("the slowest of them", max(answers), SLOWEST, "{:.2f} s"),
        exactly(
            "requests without an answer, or answered with an error of the hook",
            f"{sum(one.failed for one in asked)}",
            "0",
        ),
        Figure(
            f"a change of the others: median, 99th percentile, slowest of {len(changes):,}",
            summary([change.latency for change in changes]),
        ),
        exactly("changes that never arrived", f"{sum(change.seen is None for change in changes)}", "0"),
        Figure(f"an Event of their mistakes: median, 99th percentile, slowest of {len(events):,}", summary(events)),
        exactly("mistakes without an Event", f"{untold} of {len(events) + untold:,}", f"0 of {len(events) + untold:,}"),
    ]


def memory_figure(megabytes: Sequence[float]) -> Figure:
    """Return the most that the hook took, beside the limit of its manifest."""
    [container] = find("manifests", "Deployment", "ingress-manager")["spec"]["template"]["spec"]["containers"]
    limit = int(container["resources"]["limits"]["memory"].removesuffix("Mi")) * 2**20 / MEGABYTE
    return at_most("memory of the hook, at most", max(megabytes), limit, "{:.0f} MB")


@contextlib.contextmanager
def named_container() -> Iterator[str]:
    """Yield the name of a container, which is removed at the end. Raises MissingProgram when none can be run here."""
    runner()
    name = f"ingress-manager-soak-{os.getpid()}"
    try:
        yield name
    finally:
        docker("rm", "--force", "--volumes", name, check=False)


def hook_of(image: str, container: str) -> Callable[[int, Path], Sequence[str]] | None:
    """Return what serves the hook: a container of that name, or None for a process when there is no image."""
    return (lambda port, settings: serving(container, image, port, settings)) if image else None


def store_worst(cluster: DevCluster, worst: Iterable[tuple[str, Object]], progress: Progress) -> Stored:
    """Let the abusing tenants create the worst Services."""
    report, policy, stored = slowly(progress), load(cluster.settings_file).policy, Stored()
    for tenant in range(TENANTS):
        create_namespace(cluster, f"worst{tenant}")
    for number, (_, service) in enumerate(worst):
        place = f"worst{number % TENANTS}", f"w{number}"
        report(f"creating the worst Services: {number}")
        service["metadata"] |= dict(zip(("namespace", "name"), place, strict=True))
        try:
            created = cluster.api.create(SERVICES, service)
        except ApiError as error:
            if not error.status:  # no answer at all
                raise
            stored.denied += 1
        else:
            stored.accepted += 1
            # As stored: of many mistakes an Event holds the first ones, and the API server has sorted the annotations.
            said = answer(encoded(sync_request(created, httproutes=False)), policy)
            if said.refused:
                stored.refused[place] = said.body.decode()[:BEGIN]
    return stored


def stored_figures(stored: Stored, seen: Seen, progress: Progress) -> list[Figure]:
    """Wait for the Events of refused Services; return how many don't have theirs."""

    def untold() -> int:
        return sum(begin not in seen.warnings.get(place, "") for place, begin in stored.refused.items())

    progress("waiting for the Events of the worst Services")
    with contextlib.suppress(NotReady):
        wait_for(lambda: not untold(), EVENT)
    of_all = f"of {len(stored.refused)}"
    return [
        Figure("worst Services: stored, denied by the API server", f"{stored.accepted}, {stored.denied}"),
        exactly("those that the hook refuses, and that have no Event", f"{untold()} {of_all}", f"0 {of_all}"),
    ]


def own(tenant: int) -> list[Place]:
    """Return the Services of a tenant who works."""
    return [SIZE.place(number) for number in range(tenant, SIZE.services, TENANTS)]


def from_each(requests: Sequence[bytes], tenant: int) -> Iterator[bytes]:
    """Yield the requests without end; each tenant begins elsewhere."""
    return itertools.islice(itertools.cycle(requests), tenant * len(requests) // TENANTS, None)


def ask(cluster: DevCluster, requests: Iterator[bytes], end: float) -> Asked:
    """Send one request after the other to the hook, over one connection, as a worker of Metacontroller does."""
    asked = Asked()
    hook = http.client.HTTPConnection(urlsplit(cluster.hook_url).netloc, timeout=TIMEOUT)
    with contextlib.closing(hook):
        while (began := time.monotonic()) < end:
            try:
                hook.request("POST", "/sync", next(requests), {"Content-Type": "application/json"})
                answered = hook.getresponse()
                answered.read()
            except (OSError, http.client.HTTPException):
                hook.close()
                asked.failed += 1
            else:
                asked.failed += answered.status >= 500
                asked.seconds.append(time.monotonic() - began)
    return asked


def work(cluster: DevCluster, changes: Changes, places: Sequence[Place], seen: Seen, end: float) -> Worked:
    """Change one Service after the other; make a mistake in each, wait for its Event, and mend it."""
    worked = Worked()
    for number, place in enumerate(itertools.cycle(places)):
        if (began := time.monotonic()) > end:
            break
        change = changes.make(place)
        worked.changes.append(change)
        missing([change], EVENT)
        wrong = f"mistake-{place[0]}-{number}"
        set_port(cluster, place, wrong)
        made = time.monotonic()
        try:
            wait_for(lambda wrong=wrong: wrong in seen.mistakes, EVENT)  # type: ignore[misc]
            worked.events.append(time.monotonic() - made)
        except NotReady:
            worked.untold += 1
        set_port(cluster, place, None)
        sleep_until(min(began + BETWEEN, end), "the next mistake", lambda _: None)
    return worked


def set_port(cluster: DevCluster, place: Place, value: str | None) -> None:
    """Set ingress/port of a Service; None removes it."""
    namespace, name = place
    cluster.api.patch(SERVICES, name, {"metadata": {"annotations": {"ingress/port": value}}}, namespace)
