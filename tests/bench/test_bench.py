"""The benchmark: what it makes of what it measured, and a short run of the parts that need no cluster."""

import contextlib
import itertools
import math
import os
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner
from rich.console import Console

import devcluster.api
from bench import __main__ as command
from bench.abuse import Asked, Worked, abuse_figures
from bench.catch_up import CatchUp, catch_up_figures
from bench.changes import Change, Changes, Load, missing, summary
from bench.client import ask, keep_busy, post
from bench.commands import commands_section
from bench.commands import run as commands_run
from bench.core import Cost, core_section, worst_figures
from bench.figures import Figure, Section, at_least, at_most, exactly, markdown, show
from bench.hook import hook_section
from bench.load import Size, bare, slowly
from bench.metrics import answers
from bench.throughput import LAST, Measured, Way, Ways, run_wrk, throughput_figures
from devcluster.api import ApiError, Object, Resource, wait_for
from devcluster.errors import CommandFailed, DevClusterError
from devcluster.worst import worst_requests
from hooks.metrics import Metrics
from tools import debian

linux_only = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="CPU is read from /proc, which only Linux has."
)


def caught(present: int, *, seconds: float = 5, calls: int = 300) -> CatchUp:
    """Return a catch-up of 100 Services that took `seconds`, with `present` Ingresses at the first look."""
    return CatchUp(100, present, 10, 10 + seconds, {"engine": 0.2, "hook": 0.12}, calls)


def silent(_line: str) -> None:
    """Report nothing."""


def test_the_rate_of_a_catch_up_counts_from_the_first_ingress_seen() -> None:
    assert caught(present=1).rate == 99 / 5
    assert caught(present=50).rate == 10


@pytest.mark.parametrize(("present", "seconds"), [(100, 5), (100, 0), (101, 5), (99, 0)])
def test_there_is_no_rate_when_all_ingresses_exist_at_the_first_look(present: int, seconds: float) -> None:
    measured = caught(present, seconds=seconds)
    assert measured.rate is None
    [figure] = catch_up_figures(measured, 1000, 0.42)
    assert "at the first look" in figure.value
    assert figure.reached is False, "a rate that was not measured is not reached"


def test_a_catch_up_is_compared_with_plain_creates_and_the_cpu_of_a_call_with_its_limit() -> None:
    figures = catch_up_figures(caught(present=50), 40, 0.3)
    assert [(figure.value, figure.reached) for figure in figures if figure.to_reach] == [
        ("0.25", False),
        ("0.40 ms", True),
    ]


def test_a_hook_that_was_not_called_has_no_cost_of_a_call() -> None:
    assert len(catch_up_figures(caught(present=50, calls=0), 40, 0.3)) == 4


def test_the_answers_are_the_sum_over_all_codes_of_what_the_hook_itself_shows() -> None:
    metrics = Metrics("1.0", "0" * 64, paused=False)
    for status in (200, 200, 422):
        metrics.count_answer(status)
    assert answers(metrics.text().decode()) == 3


def test_a_hook_that_was_never_called_shows_no_answers_yet() -> None:
    assert answers(Metrics("1.0", "0" * 64, paused=False).text().decode()) == 0


def test_metrics_without_a_count_of_answers_are_an_error() -> None:
    with pytest.raises(DevClusterError, match="ingress_manager_answers_total"):
        answers("# TYPE process_open_fds gauge\nprocess_open_fds 12.0\n")


@pytest.mark.parametrize(
    ("figure", "reached"),
    [
        (at_most("", 2, 2, "{}"), True),
        (at_most("", 2.1, 2, "{}"), False),
        (at_least("", 2, 2, "{}"), True),
        (at_least("", 1.9, 2, "{}"), False),
        (exactly("", "none", "none"), True),
        (exactly("", "1.00 update services", "none"), False),
        (Figure("", "2"), None),
    ],
)
def test_a_figure_knows_whether_it_is_reached(figure: Figure, reached: bool | None) -> None:
    assert figure.reached is reached


def test_a_table_marks_what_is_reached_and_what_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    figures = [at_most("fast", 1, 2, "{} s"), at_most("slow", 3, 2, "{} s"), Figure("plain", "7")]
    show([Section("Speed", figures)], Console(width=80))
    printed = capsys.readouterr().out
    lines = {name: line for name in ("fast", "slow", "plain") for line in printed.splitlines() if name in line}
    assert "Speed" in printed
    assert "1 s" in lines["fast"]
    assert "at most 2 s" in lines["fast"]
    assert [("✔" in line, "✘" in line) for line in lines.values()] == [(True, False), (False, True), (False, False)]


def test_the_worst_inputs_are_shown_and_every_one_that_misses_a_limit() -> None:
    costs = [Cost(f"small {number}", 1 + number / 100, 1) for number in range(20)]
    slow = [Cost(f"slow {number}", 51 + number, 1) for number in range(7)]
    figures = worst_figures([*costs, *slow, Cost("large", 0.5, 17)])
    missed = [figure.name for figure in figures if figure.reached is False]
    assert missed == [f"CPU: slow {number}" for number in (6, 5, 4, 3, 2, 1, 0)] + ["memory: large"]
    assert len([figure for figure in figures if figure.name.startswith("memory:")]) == 5


def test_services_are_spread_over_the_namespaces() -> None:
    size = Size(5, 2)
    assert [size.place(number) for number in range(5)] == [
        ("n0", "s0"),
        ("n1", "s1"),
        ("n0", "s2"),
        ("n1", "s3"),
        ("n0", "s4"),
    ]
    assert (str(size), str(Size(3000, 1))) == ("5 Services over 2 namespaces", "3,000 Services in one namespace")


def test_a_plain_create_sends_what_was_sent_for_the_ingress() -> None:
    metadata = {"name": "shop", "namespace": "a", "labels": {"l": "x"}, "uid": "1", "resourceVersion": "2"}
    assert bare({"metadata": metadata, "spec": {"rules": []}, "status": {}}) == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "shop", "namespace": "a", "labels": {"l": "x"}},
        "spec": {"rules": []},
    }


def test_of_progress_that_comes_too_often_most_is_not_reported() -> None:
    lines: list[str] = []
    report = slowly(lines.append, every=3600)
    for number in range(100):
        report(str(number))
    assert lines == ["0"]


class Api:
    """An API server that is away for the first request of each kind, and whose watch shows what is put into a queue."""

    def __init__(self) -> None:
        self.away = {"list", "patch"}
        self.listed: list[Object] = []
        self.shown: queue.Queue[Object | None] = queue.Queue()
        """None: the watch breaks."""
        self.patched: list[tuple[str | None, str, Object]] = []

    def answer(self, verb: str) -> None:
        if verb in self.away:
            self.away.remove(verb)
            raise ApiError(0, "", "away")

    def request(self, _method: str, _path: str) -> Object:
        self.answer("list")
        return {"items": self.listed, "metadata": {"resourceVersion": "1"}}

    def watch(self, _resource: Resource, _version: str) -> Iterator[tuple[str, Object]]:
        while (shown := self.shown.get()) is not None:
            yield "MODIFIED", shown
        raise ApiError(410, "Expired", "too old")

    def patch(self, _resource: Resource, name: str, patch: Object, namespace: str | None = None) -> Object:
        self.answer("patch")
        self.patched.append((namespace, name, patch))
        return {}


def ingress(host: str) -> Object:
    metadata = {"namespace": "n0", "name": "s0", "resourceVersion": "2"}
    return {"metadata": metadata, "spec": {"rules": [{"host": host}]}}


def test_a_change_arrives_with_its_ingress_or_with_that_of_a_later_change_also_after_the_watch_broke() -> None:
    api = Api()
    with Changes(cast(devcluster.api.Api, api)) as changes:
        one, two, three = (changes.make(("n0", "s0"), due=0) for _ in range(3))
        hosts = [patch["metadata"]["annotations"]["ingress/host"] for _, _, patch in api.patched]
        assert hosts == ["c1.example.com", "c2.example.com", "c3.example.com"]
        api.shown.put(ingress("example.com"))
        api.shown.put(ingress(hosts[1]))
        assert missing([one, two], 10) == 0
        assert (three.seen, three.latency, missing([three], 0)) == (None, math.inf, 1)
        api.listed.append(ingress(hosts[2]))
        api.shown.put(None)
        assert missing([three], 10) == 0
        assert 0 <= three.latency < three.wait
    api.shown.put(ingress("example.com"))  # it sees now that it is to end


def test_a_load_changes_every_service_each_in_the_order_of_its_numbers_and_ends_with_its_context() -> None:
    api, size = Api(), Size(21, 2)
    places = {size.place(number) for number in range(21)}
    with Changes(cast(devcluster.api.Api, api)) as changes:
        with Load(changes, size, 1000):
            wait_for(lambda: {(namespace, name) for namespace, name, _ in api.patched} == places)
        assert len(api.patched) == len(changes.made)
        for place in places:
            hosts = [
                patch["metadata"]["annotations"]["ingress/host"] for *its, patch in api.patched if (*its,) == place
            ]
            numbers = [int(host.removeprefix("c").removesuffix(".example.com")) for host in hosts]
            assert numbers == sorted(numbers)
    api.shown.put(ingress("example.com"))


def test_many_seconds_are_summed_up_by_three() -> None:
    assert summary([number / 1000 for number in range(200, 0, -1)]) == "100 ms, 198 ms, 200 ms"
    assert summary([1.5]) == "1,500 ms, 1,500 ms, 1,500 ms"


def test_the_figures_of_abuse_show_what_was_slow_or_failed_or_was_not_told() -> None:
    arrived, lost = Change(1, 0, 1, 1.5), Change(2, 0, 1)
    asked = [Asked([0.1, 0.2]), Asked([1.25], failed=1)]
    figures = abuse_figures(asked, [Worked([arrived], [0.5]), Worked([arrived, lost], [0.5], untold=1)])
    assert [(figure.value, figure.reached) for figure in figures] == [
        ("200 ms, 1,250 ms, 1,250 ms", None),
        ("1.25 s", False),
        ("1", False),
        ("500 ms, inf ms, inf ms", None),
        ("1", False),
        ("500 ms, 500 ms, 500 ms", None),
        ("1 of 3", False),
    ]


def test_the_figures_can_be_printed_for_a_page() -> None:
    sections = [
        Section("Speed", [at_most("fast", 1, 2, "{} s"), at_most("slow", 3, 2, "{} s"), Figure("plain", "7")]),
        Section("Size", [Figure("large", "8")]),
    ]
    assert (
        markdown(sections)
        == """**Speed**

|       | measured | to reach      |
|-------|----------|---------------|
| fast  | 1 s      | at most 2 s ✔ |
| slow  | 3 s      | at most 2 s ✘ |
| plain | 7        |               |

**Size**

|       | measured | to reach |
|-------|----------|----------|
| large | 8        |          |"""
    )


@contextlib.contextmanager
def server(answer: bytes, at_once: int) -> Iterator[int]:
    """Yield the port of a server that sends `answer` for each request, in pieces of `at_once` bytes."""
    request = post("/sync", b"{}")

    def serve(connection: socket.socket) -> None:
        with connection:
            while connection.recv(len(request), socket.MSG_WAITALL):
                for start in range(0, len(answer), at_once):
                    connection.sendall(answer[start : start + at_once])
                    time.sleep(0.001)

    def accept() -> None:
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],)).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        threading.Thread(target=accept).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def test_the_client_reads_an_answer_that_comes_in_pieces_to_its_end() -> None:
    with server(OK, at_once=10) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        assert ask(connection, post("/sync", b"{}")) == OK
        assert keep_busy([connection], post("/sync", b"{}"), 3) > 0
        assert ask(connection, post("/sync", b"{}")) == OK, "nothing is left unread"


def test_the_client_raises_an_error_for_an_answer_other_than_200() -> None:
    refusal = OK.replace(b"200 OK", b"422 No")
    with (
        server(refusal, at_once=99) as port,
        socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
        pytest.raises(ValueError, match="422"),
    ):
        ask(connection, post("/sync", b"{}"))


def test_a_short_run_of_the_core_gives_all_its_figures() -> None:
    section = core_section(silent, itertools.islice(worst_requests(), 3), turns=1)
    names = [figure.name for figure in section.figures]
    assert "its time / that of json.loads + json.dumps" in names
    assert len([name for name in names if name.startswith("CPU: ")]) == 3
    assert len([name for name in names if name.startswith("memory: ")]) == 3


@linux_only
@pytest.mark.thorough
def test_a_short_run_of_the_commands_gives_all_their_figures() -> None:
    section = commands_section(silent, services=20)
    assert [figure.name for figure in section.figures] == [
        "json.load of 20 Services and their Ingresses",
        *(
            f"{name}{figure}"
            for name in ("render", "audit")
            for figure in (
                " of one Service",
                " of them, beyond json.load",
                ": its memory",
                ": 20 / 2 Services, of time without the start",
            )
        ),
    ]


def test_a_command_that_fails_is_no_figure(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(subprocess.CalledProcessError):
        commands_run("render", tmp_path / "a.json")


@linux_only
@pytest.mark.thorough
def test_a_short_run_of_the_served_hook_gives_all_its_figures() -> None:
    section = hook_section(silent, requests=100, hanging=5, asked=3)
    assert [figure.name for figure in section.figures] == [
        "requests a second over 20 kept connections",
        "CPU of the hook for each",
        "an answer beside 5 half-sent requests and 5 idle connections: median",
        "worst of 3",
        "memory of the hook beside them",
    ]


def way(rate: float, milliseconds: float, cpu: float, *, failed: int = 0) -> Way:
    """Return what is measured in three rounds, of which the second is as given."""
    rounds = (0.5, 1, 2)
    busy = [Measured(rate * speed, 9 / speed, 90 / speed, 0) for speed in rounds]
    alone = [Measured(1_000, milliseconds / speed, 10 * milliseconds / speed, failed) for speed in rounds]
    return Way(busy, alone, [cpu / speed for speed in rounds])


def test_what_more_ingresses_change_is_compared_with_a_gateway_without_them() -> None:
    ways = Ways(way(20_000, 0.05, 0), way(6_000, 0.2, 0.1), way(5_400, 0.22, 0.11), way(4_000, 0.3, 0.2))
    assert [(figure.name, figure.value, figure.reached) for figure in throughput_figures(ways, 1000)] == [
        ("requests a second to the backend directly", "20,000", None),
        ("through the gateway", "6,000", None),
        ("a request to the backend directly: median, 99th percentile", "0.05 ms, 0.50 ms", None),
        ("through the gateway", "0.20 ms, 2.00 ms", None),
        ("CPU of Traefik for each", "0.100 ms", None),
        ("1,000 Ingresses more, the first route: throughput / without them", "0.90", True),
        ("a request: median time / without them", "1.10", True),
        ("a request: median, 99th percentile", "0.22 ms, 2.20 ms", None),
        ("CPU of Traefik for each", "0.110 ms", None),
        ("1,000 Ingresses more, the last route: throughput / without them", "0.67", False),
        ("a request: median time / without them", "1.50", False),
        ("a request: median, 99th percentile", "0.30 ms, 3.00 ms", None),
        ("CPU of Traefik for each", "0.200 ms", None),
        ("requests that failed", "0", True),
    ]


def test_a_request_that_fails_is_told() -> None:
    good, bad = way(3_000, 0.4, 0.2), way(3_000, 0.4, 0.2, failed=1)
    assert throughput_figures(Ways(good, good, good, bad), 1000)[-1] == Figure(
        "requests that failed", "3", "0", reached=False
    )


def test_wrk_is_read() -> None:
    wrk = debian.find(debian.WRK)
    if wrk is None:
        pytest.skip("NOT CHECKED WITH WRK: `python -m tools.debian` gets it")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - as its base calls it

    with HTTPServer(("127.0.0.1", 0), Handler) as listener:
        port = listener.server_port
        thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
        thread.start()
        seen = run_wrk(wrk, f"127.0.0.1:{port}", LAST, 1, 1)
        listener.shutdown()
        thread.join()
    assert seen.rate > 1
    assert 0 < seen.median <= seen.p99
    assert seen.failed == 0
    with pytest.raises(CommandFailed, match="unable to connect"):
        run_wrk(wrk, f"127.0.0.1:{port}", LAST, 1, 1)


def run(monkeypatch: pytest.MonkeyPatch, load: float, *arguments: str) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr of a run whose core has missed a figure, on a machine with that load."""
    missed = Section("The core alone", [at_most("slow", 3, 2, "{} s")])
    monkeypatch.setattr(command, "core_section", lambda *_: missed)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    result = CliRunner().invoke(command.main, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_a_missed_figure_is_shown_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = run(monkeypatch, 0.1, "core")
    assert (status, "✘" in out) == (0, True)
    assert "Load before: 0.10, after: 0.10." in out
    assert "WARNING" not in err


def test_a_busy_machine_is_reported_before_and_after_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = run(monkeypatch, 1.6, "core")
    assert (status, "THE MACHINE WAS BUSY" in out, "WARNING: THE MACHINE IS BUSY" in err) == (0, True, True)


def test_what_was_measured_is_shown_even_if_a_later_part_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Section:
        raise DevClusterError("no hook")

    monkeypatch.setattr(command, "hook_section", fail)
    status, out, err = run(monkeypatch, 0.1, "core", "hook")
    assert (status, "The core alone" in out, "Error: no hook" in err) == (1, True, True)
