"""`ingress-manager status`: each case in tests/commands/status is a cluster and its rows."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest

from ingress_manager.commands.findings.finding import REMEDIES
from ingress_manager.commands.findings.registry import REASONS
from ingress_manager.commands.reading.settings import DECORATORS
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES as AROUND
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Object
from tests import dumps, golden
from tests import make_cases as cases
from tests.commands.commands import INGRESSES, Cluster, event, listing, put, run, settings_on_a_cluster, stored
from tests.golden import Case

CASES = golden.cases_in(cases.STATUSES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_match_the_golden(case: Case) -> None:
    assert cases.status_of(case) == case.fields["becomes"]
    assert [*case.fields] == [field for field in cases.FIELDS if field in case.fields]
    # No sentence is wider than the terminal, except for commands and URLs, which are copied whole.
    for form in ("table", "service"):
        for line in click.unstyle(cases.printed_status(dumps.looked(case), form, width=80)).splitlines():
            is_sentence = line.startswith("    ") and not line.strip().startswith("$ ")
            assert len(line) <= 80 or "://" in line or not is_sentence, line


def test_every_reason_says_what_it_means_and_what_to_do() -> None:
    assert sorted(reason for reasons in REMEDIES.values() for reason in reasons) == [*Reason], "each is somebody's"
    assert all([*reasons] == sorted(reasons) for reasons in REMEDIES.values())
    assert all(text.endswith(".") for text in REASONS.values())
    assert all(reason.value == reason.name.lower().replace("_", "-") for reason in Reason)


# The command.

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
    assert (ended.status, ended.err, ended.out.splitlines()[1].split()[0]) == (0, "", "serving")
    [row] = run("status", *NO_SETTINGS, "-o", "json").json["exposed"]
    assert row["state"] == "serving"
    assert "--namespace=team-a" not in cluster.calls[0]
    for options in (("--all-namespaces",), ("-n", "team-a"), ("team-a/shop",)):
        assert "serving" in run("status", *NO_SETTINGS, *options).out


@pytest.mark.parametrize(
    ("unread", "state", "sentence"),
    [
        (SLICES, "accepted", "not all EndpointSlices could be read"),
        (INGRESSES, "unknown", "Ingress team-a/shop may be missing: not all Ingresses could be read"),
    ],
)
def test_a_missing_permission_changes_no_state(unread: str, state: str, sentence: str, cluster: Cluster) -> None:
    answers = {resource: answer for resource, answer in ALL.items() if resource != unread}
    cluster.says(answers, "Error from server (Forbidden): no")
    ended = run("status", *NO_SETTINGS, "-o", "json")
    [row] = ended.json["exposed"]
    assert (ended.status, row["state"], row["sentence"]) == (2, state, sentence)
    [unseen] = ended.json["unseen"]
    assert "could not be read: Error from server (Forbidden): no" in unseen
    assert "could not be read: Error from server" in run("status", *NO_SETTINGS).out
    waited = run("status", *NO_SETTINGS, "shop", "--wait=serving")
    assert (waited.status, waited.err.splitlines()[-1].startswith("Not serving: team-a/shop ")) == (2, True)
    assert run("status", *NO_SETTINGS, "shop", "--wait=accepted").status == (0 if state == "accepted" else 2)


# Without the settings: a team with the ClusterRole `edit`.

FORBIDDEN = "you don't have permission to get deployments.apps in the namespace ingress-manager"
HOOK_SAID = "sync hook failed (version=v2): unsupported status code: 422 body: "


def with_annotations(service: Object, annotations: dict[str, str]) -> Any:
    return put(service, ("metadata", "annotations"), annotations)


def at(obj: Object, time: datetime, *, subresource: str | None = None, **fields: str) -> Object:
    managed = {"managedFields": [{"time": time.isoformat(), "subresource": subresource}]}
    return obj | {"metadata": obj["metadata"] | managed | fields}


NOW = datetime.now(UTC).replace(microsecond=0)
EARLIER, LATER = NOW - timedelta(hours=2), NOW - timedelta(minutes=1)
OLD_SHOP, OLD_INGRESS = at(SHOP, EARLIER), at(INGRESS, EARLIER)
DELETED_INGRESS = at(INGRESS, EARLIER, deletionTimestamp="2026")
MISTAKE = event(SHOP, f"{HOOK_SAID}no such port [unknown-port] · and 2 more", lastTimestamp=LATER.isoformat())
DENIED = event(SHOP, "can't reconcile children: exceeded quota", lastTimestamp=LATER.isoformat())
NOT_MADE = event(SHOP, f"{HOOK_SAID}it doesn't exist yet [not-made]", lastTimestamp=LATER.isoformat())


def reported(first: str, last: str) -> list[Object]:
    """Return a Service, its Ingress, and an Event that names the version `first` and has the version `last`."""
    versions = {"involvedObject": {"resourceVersion": first}, "metadata": {"resourceVersion": last}}
    service = dumps.patched(OLD_SHOP, {"metadata": {"resourceVersion": "102"}})
    return [service, OLD_INGRESS, dumps.patched(MISTAKE, versions)]


@pytest.mark.parametrize(
    ("objects", "state", "sentence"),
    [
        ([OLD_SHOP, OLD_INGRESS], "serving", ""),
        ([OLD_SHOP, OLD_INGRESS, MISTAKE], "refused", "no such port [unknown-port] · and 2 more"),
        ([OLD_SHOP, OLD_INGRESS, DENIED], "waiting", "can't reconcile children: exceeded quota"),
        ([OLD_SHOP, MISTAKE], "refused", "no such port [unknown-port] · and 2 more"),
        ([OLD_SHOP, NOT_MADE], "waiting", "it doesn't exist yet [not-made]"),
        ([OLD_SHOP], "waiting", "nothing has been created yet, and no Event on the Service explains why"),
        # The Event is older than the change that corrected the mistake.
        ([at(SHOP, NOW - timedelta(seconds=30)), OLD_INGRESS, MISTAKE], "serving", ""),
        ([OLD_SHOP, at(INGRESS, NOW), MISTAKE], "serving", ""),
        ([OLD_SHOP, at(INGRESS, NOW, subresource="status"), MISTAKE], "refused", "no such port"),
        # Removing an annotation leaves no timestamp, but a new version.
        (reported("99", "101"), "serving", ""),
        (reported("99", "103"), "refused", "no such port"),
        # Events are in another etcd, so versions can't be compared.
        (reported("99", "7"), "refused", "no such port"),
        ([at(SHOP, NOW + timedelta(hours=1)), OLD_INGRESS], "waiting", "the Service has just changed, and Meta"),
        (
            [with_annotations(OLD_SHOP, {"ingress/http": "false"}), OLD_INGRESS],
            "waiting",
            "the Service doesn't request it",
        ),
        ([OLD_SHOP, DELETED_INGRESS], "waiting", "Ingress team-a/shop has been terminating since"),
    ],
)
def test_events_and_objects_set_the_state(objects: list[Object], state: str, sentence: str, cluster: Cluster) -> None:
    cluster.says(stored(*objects, SLICE), FORBIDDEN)
    ended = run("status", "-o", "json")
    [row], [unseen] = ended.json["exposed"], ended.json["unseen"]
    reasons = ["unknown-port"] if state == "refused" else []
    assert (ended.status, row["state"], row["reasons"]) == (0, state, reasons)
    assert sentence in (row["sentence"] or "")
    assert unseen == f"The settings could not be read: {FORBIDDEN}; name a file with --settings FILE"
    waited = run("status", "shop", "--wait=serving", "--timeout=1")
    assert waited.status == int(state != "serving")
    if reasons:
        assert REASONS[Reason.UNKNOWN_PORT] in " ".join(run("status", "shop").out.split())


def test_without_the_settings_each_entrance_is_listed_and_events_or_objects_may_be_lacking(cluster: Cluster) -> None:
    both = with_annotations(OLD_SHOP, {"ingress/http": "true", "internal.ingress/http": "true"})
    cluster.says(stored(both, OLD_INGRESS, SLICE), FORBIDDEN)
    rows = run("status", "-o", "json").json["exposed"]
    assert [(row["entrance"], row["state"]) for row in rows] == [(None, "serving"), ("internal", "waiting")]
    for unread, sentence in (
        ("events", "neither the settings nor Events could be read"),
        (INGRESSES, "Ingresses could not be read"),
    ):
        cluster.says({key: value for key, value in stored(OLD_SHOP).items() if key != unread}, FORBIDDEN)
        ended = run("status", "-o", "json")
        [row] = ended.json["exposed"]
        assert (ended.status, row["state"], row["sentence"]) == (2, "unknown", sentence)


def test_the_default_names_find_the_settings_where_no_decoratorcontroller_may_be_listed(cluster: Cluster) -> None:
    installed = settings_on_a_cluster("limits: {hosts: [b.example.com]}\n")
    del installed[DECORATORS]
    cluster.says(installed | stored(OLD_SHOP), "you don't have permission to list decoratorcontrollers in the cluster")
    ended = run("status", "-o", "json")
    [row] = ended.json["exposed"]
    assert (ended.status, row["reasons"], ended.json["unseen"]) == (0, ["host-not-allowed"], [])


def test_a_url_whose_certificate_may_not_be_read_may_be_served(cluster: Cluster) -> None:
    tls = {"ingress/tls": "true", "ingress/tls-secret": "unread"}
    ingress = {"tls": [{"unread": ["a.example.com"]}], "address": "203.0.113.7"}
    items = [{"Service": {"host": "a.example.com", "annotations": tls}, "Ingress": ingress, "EndpointSlice": {}}]
    cluster.says(stored(*dumps.objects(items)))
    [row] = run("status", *NO_SETTINGS, "-o", "json").json["exposed"]
    unread = "the certificate in Secret team-a/unread could not be read"
    assert (row["state"], row["sentence"], row["unsure"], run(*WAIT).status) == ("accepted", unread, True, 2)


@pytest.mark.parametrize(("width", "last"), [(0, "ADDRESS"), (80, "CLASS/GATEWAY"), (60, "URL")])
def test_the_table_leaves_out_columns_that_do_not_fit(width: int, last: str) -> None:
    [case] = (case for case in CASES if case.name == "paused")
    lines = click.unstyle(cases.printed_status(dumps.looked(case), "table", width)).splitlines()
    assert (lines[0].split()[0], lines[0].split()[-1]) == ("STATE", last)
    assert all(len(line) <= (width or 120) for line in lines)


ROUTES = "defaults: {outputs: [httproute], gateway: {name: web, namespace: infrastructure}}\n"


def test_the_gateways_of_httproutes_are_read_where_they_are(tmp_path: Path, cluster: Cluster) -> None:
    (tmp_path / "settings.yaml").write_text(ROUTES)
    for options, scope in ((("-n", "team-a"), "--namespace=infrastructure"), (("-A",), "--all-namespaces")):
        cluster.says(stored(SHOP, ROUTE, GATEWAY))
        output = run("status", "--settings", tmp_path / "settings.yaml", "-o", "json", *options).json
        assert f"get --output=json {scope} -- {GATEWAYS}" in "\n".join(cluster.calls)
        assert [row["urls"] for row in output["exposed"]] == [["http://a.example.com/"]]


def test_one_service_is_shown_with_its_events_or_that_they_are_unreadable(cluster: Cluster) -> None:
    denied = event(SHOP, 'admission webhook "a.example.com" denied the request: no', count=11)
    cluster.says(stored(SHOP, denied))
    ended = run("status", "team-a/shop", *NO_SETTINGS, "--context", "here")
    assert ended.status == 0
    happened = '2026-01-01T04:00:00Z SyncError (11 times): Sync error: admission webhook "a.example.com" denied the'
    assert f"  events\n    {happened} request: no\n" in ended.out
    assert "doesn't exist; at 2026-01-01T04:00:00Z, Metacontroller reported: admission webhook" in ended.out
    assert "      $ kubectl describe --namespace=team-a --context=here -- service shop\n" in ended.out
    cluster.says({key: value for key, value in WITHOUT_INGRESS.items() if key != "events"})
    out = run("status", "team-a/shop", *NO_SETTINGS).out
    assert out.endswith("  not read\n    Events could not be read: Error from server: no\n")


# Waiting.

WAIT: tuple[str | Path, ...] = ("status", "team-a/shop", *NO_SETTINGS, "--wait=serving", "--timeout=3")


def test_waiting_ends_when_all_is_served_or_times_out_with_what_is_missing(cluster: Cluster) -> None:
    later = {INGRESSES: [listing(), listing(), listing(INGRESS)], SLICES: [listing(), listing(SLICE)]}
    cluster.says(ALL | later)
    ended = run(*WAIT[:-1])
    assert (ended.status, ended.err, cluster.naps) == (0, "", [2.0, 2.0, 2.0])
    assert ended.out.splitlines()[1].startswith("serving  ")
    cluster.says(stored(SHOP, INGRESS))
    ended = run(*WAIT)
    assert (ended.status, cluster.naps[3:]) == (1, [2.0, 1.0])
    assert "Not serving: team-a/shop Ingress shop http://a.example.com/ accepted: " in ended.err
    assert run(*WAIT, "--wait=accepted").status == 0


def test_waiting_ends_at_once_if_it_is_futile(cluster: Cluster) -> None:
    cluster.says(stored(with_annotations(SHOP, {"ingress/http": "no"})))
    assert (run(*WAIT).status, cluster.naps) == (1, [])
    cluster.says(stored(with_annotations(SHOP, {})))
    ended = run(*WAIT)
    assert (ended.status, 'nothing to wait for: no annotation ingress/http: "true"' in ended.err) == (2, True)
    assert "there is no Service nobody" in run(*WAIT[:1], "nobody", *WAIT[2:]).err
