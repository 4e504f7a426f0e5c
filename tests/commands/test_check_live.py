"""`check --live` on a cluster in memory, whose hook and gateway do what a test says. tests/e2e has a real one."""

import http.server
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ingress_manager.commands.check import command
from ingress_manager.commands.check import live as module
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.live import live
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.view.events import SYNC_ERROR
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Defaults, Limits, Policy
from tests.commands.commands import listing, run
from tests.moving.kubectl_words import parse

POLICY = Policy(Defaults(host="{service}.{namespace}.example.com"))
KUBECTL = Kubectl()
STRANGER: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "Ingress",
    "metadata": {"name": "shop", "namespace": "team-a"},
    "spec": {"rules": [{"host": "*.example.com"}]},
}


class Cluster:
    """A cluster with a Service, and an Ingress while it asks for one."""

    does = frozenset({"make", "repair", "remove"})
    address = ""
    fails: str = ""
    """What a command holds that fails."""

    raises: type[BaseException] = KubectlFailed
    message = "no"
    event = ""
    others: tuple[Object, ...] = ()
    routes: tuple[Object, ...] = ()
    """None: the cluster doesn't know HTTPRoutes."""

    def __init__(self) -> None:
        self.namespace = ""
        self.ingress: Object = {}
        self.deleted = ""

    def run(self, *arguments: str, stdin: str = "") -> str:
        """Return what kubectl prints."""
        words = parse(arguments)
        if self.fails and self.fails in " ".join(arguments):
            raise self.raises(self.message)
        answer: Callable[..., str] = getattr(self, f"_{words.verb}")
        return answer(words, stdin)

    def _create(self, _: Any, stdin: str) -> str:
        [space, service] = json.loads(stdin)["items"]
        assert "annotations" not in service["metadata"], "what follows is timed from the annotation on"
        self.namespace = space["metadata"]["name"]
        return ""

    def _annotate(self, words: Any, _: str) -> str:
        if words.names[2].endswith("-"):
            self.ingress = {} if "remove" in self.does else self.ingress
        elif "make" in self.does:
            spec = {"rules": [{"host": "a.example.com", "http": {"paths": [{"path": "/"}]}}]}
            about = {"name": "check", "namespace": self.namespace}
            self.ingress = {**STRANGER, "metadata": about, "spec": spec}
        return ""

    def _patch(self, words: Any, _: str) -> str:
        assert json.loads(words.options["patch"])[0]["path"] == "/spec/rules/0/http/paths/0/path"
        if "repair" not in self.does:
            self.ingress = {**self.ingress, "spec": {}}
        return ""

    def _delete(self, words: Any, _: str) -> str:
        self.deleted = words.names[1]
        return ""

    def _get(self, words: Any, _: str) -> str:
        if words.options.get("output", "").startswith("jsonpath"):
            return self.address
        if words.names == ["events"]:
            about = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": self.namespace}}
            said = {"reason": SYNC_ERROR, "message": self.event, "involvedObject": {"uid": "1"}}
            return json.dumps(listing(*([{**about, **said}] if self.event else [])))
        if "httproutes" in words.names[0]:
            if self.routes:
                return json.dumps(listing(*self.routes))
            raise KubectlFailed("error: the server doesn't have a resource type")
        found = self.others if "all-namespaces" in words.options else [self.ingress] if self.ingress else []
        return json.dumps(listing(*found))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(module, "sleep", float)
    monkeypatch.setattr(module, "monotonic", itertools.count().__next__)
    found = Cluster()
    monkeypatch.setattr(Kubectl, "run", lambda _, *words, stdin="": found.run(*words, stdin=stdin))
    return found


def states(found: list[Line]) -> list[State]:
    return [line.state for line in found]


def test_each_thing_that_follows_is_told_and_the_namespace_goes(cluster: Cluster) -> None:
    found = list(live(KUBECTL, POLICY, 5))
    assert [line.sentence.partition(" after ")[0] for line in found] == [
        "Service annotated: Ingress check made",
        "Ingress edited: repaired",
        "annotation taken off: Ingress check gone",
        f"the namespace {cluster.namespace} has been deleted, and all that was in it goes with it",
    ]
    assert states(found) == [State.OK] * 4
    assert cluster.deleted == cluster.namespace


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("make", "Ingress check not made for an annotated Service within 5 s: no Event of the Service says why"),
        ("repair", "an edited Ingress is not repaired within 5 s: "),
        ("remove", "Ingress check not removed for a Service without the annotation within 5 s: "),
    ],
)
def test_what_does_not_come_in_time_is_wrong(cluster: Cluster, missing: str, sentence: str) -> None:
    cluster.does -= {missing}
    found = list(live(KUBECTL, POLICY, 5))
    [wrong] = [line for line in found if line.state is State.WRONG]
    assert wrong.sentence.startswith(sentence)
    assert cluster.deleted == cluster.namespace


def test_the_event_says_why_nothing_is_made(cluster: Cluster) -> None:
    cluster.does, cluster.event = frozenset(), "the quota is used up\n"
    assert next(live(KUBECTL, POLICY, 5)).sentence.endswith(" s: Metacontroller reports: the quota is used up")


@pytest.mark.parametrize("fails", ["create", "--type=json", "annotate"])
def test_a_command_that_fails_ends_it_and_proves_nothing(cluster: Cluster, fails: str) -> None:
    cluster.fails = fails
    found = list(live(KUBECTL, POLICY, 5))
    assert states(found[-2:]) == [State.UNKNOWN, State.OK]
    assert found[-2].sentence == "it can't be tried to its end: no"
    assert cluster.deleted.startswith("ingress-manager-check-")


def test_a_namespace_that_is_left_is_told_with_its_command(cluster: Cluster) -> None:
    cluster.fails = "delete"
    line = list(live(KUBECTL, POLICY, 5))[-1]
    assert (line.state, line.command[-1]) == (State.WRONG, cluster.namespace)


def test_the_namespace_goes_after_ctrl_c(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.fails, cluster.raises = "--type=json", KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        list(live(KUBECTL, POLICY, 5))
    assert cluster.deleted == cluster.namespace
    assert f"the namespace {cluster.namespace} has been deleted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("policy", "host", "sentence"),
    [
        (Policy(limits=Limits(hosts=("a.example.org",))), "b.example.com", "the settings refuse the Service: "),
        (POLICY, "b.example.com", "Ingress team-a/shop may answer b.example.com; `--request HOST` names a host"),
        (POLICY, "*", "Ingress team-a/shop may answer ; `--request"),
    ],
)
def test_nothing_is_done_where_it_is_refused_or_in_the_way(
    cluster: Cluster, policy: Policy, host: str, sentence: str
) -> None:
    cluster.others = (STRANGER,)
    [line] = live(KUBECTL, policy, 5, host)
    assert (line.state, cluster.namespace, cluster.deleted) == (State.UNKNOWN, "", "")
    assert line.sentence.startswith(f"nothing was tried: {sentence}")


def test_an_httproute_may_be_in_the_way_too(cluster: Cluster) -> None:
    about = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": STRANGER["metadata"]}
    cluster.routes = ({**about, "spec": {"hostnames": ["a.example.com"]}},)
    [line] = live(KUBECTL, POLICY, 5, "a.example.com")
    assert "HTTPRoute team-a/shop may answer a.example.com" in line.sentence


def test_a_host_of_the_new_namespace_is_nobodys_whatever_wildcards_there_are(cluster: Cluster) -> None:
    cluster.others = (STRANGER, {**STRANGER, "spec": 7})
    assert set(states(list(live(KUBECTL, POLICY, 5)))) == {State.OK}


def test_nothing_is_done_where_it_is_not_known_whose_hosts_it_would_take(cluster: Cluster) -> None:
    cluster.fails = "--all-namespaces"
    [line] = live(KUBECTL, POLICY, 5)
    assert (line.state, line.sentence) == (
        State.UNKNOWN,
        "nothing was tried: nobody knows whose hosts it would take: no",
    )


# With a request.


class Gateway(http.server.BaseHTTPRequestHandler):
    """Answers 503 for one host, and 404 for others."""

    def do_GET(self) -> None:
        self.send_response(503 if self.headers["Host"] == "served.example.com" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def gateway() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Gateway) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_answer_is_taken_for_no_more_than_it_tells(cluster: Cluster, gateway: str) -> None:
    cluster.address = gateway
    line = list(live(KUBECTL, POLICY, 5, "served.example.com"))[1]
    sentence = "it answers 503, and 404 for a host that nobody has asked for: it has a rule for the host"
    assert (line.state, line.sentence.partition(": ")[2]) == (State.OK, sentence)
    line = list(live(KUBECTL, POLICY, 5, "other.example.com", gateway))[1]
    assert line.state is State.UNKNOWN
    assert ": it answers 404, as it does for a host that nobody has asked for: " in line.sentence


@pytest.mark.usefixtures("cluster")
def test_without_an_address_or_an_answer_nothing_is_known() -> None:
    line = list(live(KUBECTL, POLICY, 5, "a.example.org"))[1]
    assert line.state is State.UNKNOWN
    assert line.sentence.startswith("no request was sent: Ingress check states no address; --address says")
    line = list(live(KUBECTL, POLICY, 5, "a.example.org", "127.0.0.1:1"))[1]
    assert line.state is State.UNKNOWN
    assert line.sentence.startswith("the gateway at 127.0.0.1:1 can't be asked from here: ")


@pytest.mark.parametrize("output", ["table", "json"])
def test_what_was_tried_stands_below_the_rest_and_counts(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.setattr(Source, "stated_policy", lambda _: POLICY)
    monkeypatch.setattr(command, "lines", lambda _: [Line("Kubernetes", State.OK, "it is there")])
    cluster.does -= {"make"}
    ended = run("check", "--live", "--timeout", "5s", "--output", output)
    assert ended.status == 1
    assert ended.out.index("it is there") < ended.out.index("not made for an annotated Service")
    assert ("Something is wrong: 1 wrong, 2 ok." in ended.out) is (output == "table")


def test_nothing_is_tried_where_the_settings_may_not_be_read(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: Source) -> Policy:
        raise KubectlFailed("configmaps is forbidden")

    monkeypatch.setattr(Source, "stated_policy", forbidden)
    monkeypatch.setattr(command, "lines", lambda _: [Line("Kubernetes", State.OK, "it is there")])
    ended = run("check", "--live")
    assert (ended.status, cluster.namespace) == (2, "")
    assert "nothing was tried: the settings can't be read: configmaps is forbidden" in ended.out


def test_a_namespace_that_was_never_made_is_not_said_to_be_deleted(cluster: Cluster) -> None:
    cluster.fails, cluster.message = "--wait=false", "Error from server (NotFound): namespaces not found"
    assert list(live(KUBECTL, POLICY, 5))[-1].sentence.endswith(" isn't there: nothing is left of the trial")


def test_a_request_without_live_is_wrong_use() -> None:
    ended = run("check", "--request", "a.example.com")
    assert (ended.status, ended.out) == (2, "")
    assert "--request and --address have no effect without --live" in ended.err
