"""`ingress-manager status`: each case in tests/commands/status is a cluster, and the rows that are listed of it."""

import os
from pathlib import Path

import click
import pytest

from ingress_manager.commands.findings.finding import REMEDIES
from ingress_manager.commands.findings.registry import REASONS
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES as AROUND
from ingress_manager.core.errors import Reason
from tests import dumps, golden
from tests import make_cases as cases
from tests.commands.commands import INGRESSES, Cluster, event, listing, put, run, stored
from tests.golden import Case

CASES = golden.cases_in(cases.STATUSES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_those_of_the_golden(case: Case) -> None:
    assert cases.status_of(case) == case.fields["becomes"]
    assert [*case.fields] == [field for field in cases.FIELDS if field in case.fields]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_sentence_is_longer_than_the_terminal_but_for_what_has_to_be_copied_whole(case: Case) -> None:
    for form in ("table", "service"):
        for line in click.unstyle(cases.printed_status(dumps.looked(case), form, width=80)).splitlines():
            is_sentence = line.startswith("    ") and not line.strip().startswith("$ ")
            assert len(line) <= 80 or "://" in line or not is_sentence, line


def test_every_reason_says_what_it_means_and_what_to_do() -> None:
    assert sorted(reason for reasons in REMEDIES.values() for reason in reasons) == [*Reason], "each is somebody's"
    assert all([*reasons] == sorted(reasons) for reasons in REMEDIES.values())
    assert all(text.endswith(".") for text in REASONS.values())
    assert all(reason.value == reason.name.lower().replace("_", "-") for reason in Reason)


# The shell.

NO_SETTINGS: tuple[str | Path, ...] = ("--settings", os.devnull)
SHOP, INGRESS, ROUTE, SLICE, GATEWAY = dumps.objects([
    {"Service": {"host": "a.example.com"}, "Ingress": {"address": "203.0.113.7"}, "HTTPRoute": {}, "EndpointSlice": {}},
    {"Gateway": {"listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}},
])  # fmt: skip
SLICES, GATEWAYS = AROUND["EndpointSlice"], AROUND["Gateway"]
ALL, WITHOUT_INGRESS = stored(SHOP, INGRESS, SLICE), stored(SHOP)


def test_what_a_cluster_exposes_is_printed_in_each_form(cluster: Cluster) -> None:
    cluster.says(ALL)
    ended = run("status", *NO_SETTINGS)
    assert (ended.status, ended.err, ended.out.split()[-1]) == (0, "", "serving")
    [row] = run("status", *NO_SETTINGS, "-o", "json").json["exposed"]
    assert row["state"] == "serving"
    assert "--namespace=team-a" not in cluster.calls[0]
    for options in (("--all-namespaces",), ("-n", "team-a"), ("team-a/shop",)):
        assert "serving" in run("status", *NO_SETTINGS, *options).out


@pytest.mark.parametrize(
    ("unread", "state", "sentence"),
    [
        ("--settings", "unknown", "the settings could not be looked at"),
        (SLICES, "accepted", "not all EndpointSlices could be looked at"),
        (INGRESSES, "unknown", "whether Ingress team-a/shop is there: not all Ingresses could be looked at"),
    ],
)
def test_what_may_not_be_read_is_said_and_makes_no_state_another(
    unread: str, state: str, sentence: str, cluster: Cluster
) -> None:
    answers = {resource: answer for resource, answer in ALL.items() if resource != unread}
    cluster.says(answers, "Error from server (Forbidden): no")
    options = () if unread == "--settings" else NO_SETTINGS
    ended = run("status", *options, "-o", "json")
    [row] = ended.json["exposed"]
    assert (ended.status, row["state"], row["sentence"]) == (2, state, sentence)
    [unseen] = ended.json["unseen"]
    assert "could not be looked at: Error from server (Forbidden): no" in unseen
    assert "could not be looked at: Error from server" in run("status", *options).out
    waited = run("status", *options, "shop", "--wait=serving")
    assert (waited.status, waited.err.splitlines()[-1].startswith("Not serving: team-a/shop ")) == (2, True)
    assert run("status", *options, "shop", "--wait=accepted").status == (0 if state == "accepted" else 2)


def test_a_url_is_not_served_without_its_certificate(cluster: Cluster) -> None:
    tls = {"ingress/tls": "true", "ingress/tls-secret": "absent"}
    ingress = {"tls": [{"absent": ["a.example.com"]}], "address": "203.0.113.7", "created": "2020-01-01T00:00:00Z"}
    items = [{"Service": {"host": "a.example.com", "annotations": tls}, "Ingress": ingress, "EndpointSlice": {}}]
    cluster.says(stored(*dumps.objects(items)) | {"secrets": ""})
    [row] = run("status", *NO_SETTINGS, "-o", "json").json["exposed"]
    assert (row["state"], row["sentence"]) == ("accepted", "spec.tls names Secret team-a/absent, which isn't there")


ROUTES = "defaults: {outputs: [httproute], gateway: {name: web, namespace: infrastructure}}\n"


def test_the_gateways_of_httproutes_are_read_where_they_are(tmp_path: Path, cluster: Cluster) -> None:
    (tmp_path / "settings.yaml").write_text(ROUTES)
    for options, scope in ((("-n", "team-a"), "--namespace=infrastructure"), (("-A",), "--all-namespaces")):
        cluster.says(stored(SHOP, ROUTE, GATEWAY))
        output = run("status", "--settings", tmp_path / "settings.yaml", "-o", "json", *options).json
        assert f"get --output=json {scope} -- {GATEWAYS}" in "\n".join(cluster.calls)
        assert [row["urls"] for row in output["exposed"]] == [["http://a.example.com/"]]


def test_one_service_is_told_with_its_events_or_that_they_may_not_be_read(cluster: Cluster) -> None:
    denied = event(SHOP, 'admission webhook "a.example.com" denied the request: no', count=11)
    cluster.says(stored(SHOP, denied))
    ended = run("status", "team-a/shop", *NO_SETTINGS, "--context", "here")
    assert ended.status == 0
    happened = '2026-01-01T04:00:00Z SyncError (11 times): Sync error: admission webhook "a.example.com" denied the'
    assert f"  happened\n    {happened} request: no\n" in ended.out
    assert "isn't there; Metacontroller said at 2026-01-01T04:00:00Z: admission webhook" in ended.out
    assert "      $ kubectl describe --namespace=team-a --context=here -- service shop\n" in ended.out
    cluster.says({key: value for key, value in WITHOUT_INGRESS.items() if key != "events"})
    out = run("status", "team-a/shop", *NO_SETTINGS).out
    assert out.endswith("  not looked at\n    Events could not be looked at: Error from server: no\n")


# Waiting.

WAIT: tuple[str | Path, ...] = ("status", "team-a/shop", *NO_SETTINGS, "--wait=serving", "--timeout=3")


def test_waiting_ends_when_all_is_served_or_in_time_with_what_it_waits_for(cluster: Cluster) -> None:
    later = {INGRESSES: [listing(), listing(), listing(INGRESS)], SLICES: [listing(), listing(SLICE)]}
    cluster.says(ALL | later)
    ended = run(*WAIT[:-1])
    assert (ended.status, ended.err, cluster.naps) == (0, "", [2.0, 2.0, 2.0])
    assert ended.out.splitlines()[1].endswith("  serving")
    cluster.says(stored(SHOP, INGRESS))
    ended = run(*WAIT)
    assert (ended.status, cluster.naps[3:]) == (1, [2.0, 1.0])
    assert "Not serving: team-a/shop Ingress shop http://a.example.com/ accepted: " in ended.err
    assert run(*WAIT, "--wait=accepted").status == 0


def test_waiting_ends_at_once_where_it_is_in_vain(cluster: Cluster) -> None:
    cluster.says(stored(put(SHOP, ("metadata", "annotations"), {"ingress/http": "no"})))
    assert (run(*WAIT).status, cluster.naps) == (1, [])
    cluster.says(stored(put(SHOP, ("metadata", "annotations"), {})))
    ended = run(*WAIT)
    assert (ended.status, 'nothing to wait for: no annotation ingress/http: "true"' in ended.err) == (2, True)
    assert "there is no Service nobody" in run(*WAIT[:1], "nobody", *WAIT[2:]).err
