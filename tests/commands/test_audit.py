"""`ingress-manager audit`: each case in tests/commands/audit is a cluster and its findings."""

import copy
import importlib
import os
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pkgutil import iter_modules

import click
import pytest
import trustme
import yaml
from hypothesis import given
from hypothesis import strategies as st

from devcluster.standin.children import updated, with_annotation
from devcluster.sync_requests import Object, as_created
from ingress_manager.commands import findings
from ingress_manager.commands.audit.command import NOT_IN_FILES, printed
from ingress_manager.commands.audit.preview import CHANGED, CREATED, MOVED, REFUSED, preview
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Blocks, Finding, Kind, Severity
from ingress_manager.commands.findings.registry import KINDS, findings_of
from ingress_manager.commands.findings.services import detached, drifted, forbidden, missing, refused, unwanted
from ingress_manager.commands.inspection import Inspection
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.snapshot import certificates
from ingress_manager.commands.snapshot.drift import differences, merge
from ingress_manager.commands.snapshot.items import HTTPROUTE, INGRESS, LISTENERSET, Item
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.commands.snapshot.services import UNREAD_SETTINGS, snapshot_of
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES, Surroundings
from ingress_manager.commands.status.states import Judge, State
from ingress_manager.commands.terminal import INDENT
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import DECORATOR, Key
from ingress_manager.core.settings import Settings
from ingress_manager.core.vocabulary import protects
from tests import dumps, golden
from tests import make_cases as cases
from tests.commands.commands import (
    HTTPROUTES,
    INGRESSES,
    LISTENERSETS,
    UNKNOWN_KIND,
    Cluster,
    Ended,
    listing,
    put,
    run,
    settings_on_a_cluster,
    stored,
)
from tests.core import made_up
from tests.core.test_properties import desired_for
from tests.golden import Case

AUDITS = golden.cases_in(cases.AUDITS)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_the_findings_match_the_golden(case: Case) -> None:
    assert cases.audited(case) == case.fields["becomes"]
    assert [*case.fields] == [field for field in cases.FIELDS if field in case.fields]


def test_each_finding_is_registered_and_in_a_case_and_says_what_to_do() -> None:
    modules = [importlib.import_module(f"{findings.__name__}.{name}") for _, name, _ in iter_modules(findings.__path__)]
    declared = [value for module in modules for value in vars(module).values() if isinstance(value, Kind)]
    assert {*declared} == {*KINDS}
    assert len(KINDS) == len({kind.name for kind in KINDS}), "two findings have one name"
    reported = [finding for case in AUDITS for finding in dumps.looked(case).findings]
    assert {finding.kind for finding in reported} == {*KINDS}, "one has no case"
    for finding in reported:
        assert finding.kind.meaning.endswith(".")
        assert finding.kind.remedy.endswith(".") or (finding.kind.remedy == "" and finding.reasons)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_an_object_that_a_finding_blocks_says_why_and_no_advice_deletes_a_served_one(case: Case) -> None:
    snapshot, *_ = seen = dumps.looked(case)
    judge, blocking = Judge(seen), [finding for finding in seen.findings if finding.kind.blocks]
    for service in snapshot.services.values():
        rows = [] if service.refused or service.item.is_being_deleted else judge.rows([service])
        for row in rows:
            its = [finding for finding in blocking if finding.key == (row.output, f"{row.namespace}/{row.name}")]
            assert row.state is not State.SERVING or not its
            assert row.state is State.WAITING or Blocks.SYNC not in {finding.kind.blocks for finding in its}
            assert not its or any(finding.sentence in (row.sentence or "") for finding in its)
    for finding in seen.findings:
        if "delete" in finding.command and finding.kind not in {forbidden, unwanted}:
            assert finding.kind is detached
            obj = snapshot.objects[finding.key]
            assert obj.service, "a Service owned it"
            assert not snapshot.owner_of(obj), "which is gone"


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_a_narrow_terminal_breaks_lines_but_no_words(case: Case) -> None:
    seen = dumps.looked(case)
    whole = click.unstyle("".join(printed(seen, "table")))
    for width in (80, 110, 160):
        lines = click.unstyle("".join(printed(seen, "table", width=width))).splitlines()
        commands = {line for line in whole.splitlines() if line.startswith(INDENT)}
        assert commands <= {*lines}
        assert all(len(line) <= width or len(line.split()) == 1 for line in lines if line not in commands)
        assert " ".join(lines).split() == whole.split()


def evidence(objects: Iterable[Object], settings: Settings) -> Evidence:
    return Evidence(snapshot_of(map(Item, objects), settings.without_pause()), settings, Surroundings())


def found_in(objects: Iterable[Object], settings: Settings) -> list[Finding]:
    return findings_of(evidence(objects, settings))


@given(made_up.services(), made_up.settings())
def test_newly_created_objects_have_no_findings(parent: Object, settings: Settings) -> None:
    if made := [as_created(obj, parent) for obj in desired_for(parent, settings)]:
        assert Severity.ERROR not in {finding.kind.severity for finding in found_in([parent, *made], settings)}
        assert preview(evidence([parent, *made], settings), None) == []


@given(made_up.services(), made_up.settings())
def test_no_command_removes_protection(parent: Object, settings: Settings) -> None:
    for finding in found_in([parent], settings):
        assert not any(protects(word[:-1]) for word in finding.command if word.endswith("-"))


@given(made_up.valid_services(), made_up.settings(), made_up.settings())
def test_the_preview_matches_the_audit_afterwards(parent: Object, before: Settings, after: Settings) -> None:
    made = {obj["kind"] + obj["metadata"]["name"]: as_created(obj, parent) for obj in desired_for(parent, before)}
    if not made:
        return
    objects = [parent, *made.values()]
    changes = preview(evidence(objects, after), None)
    would, audited = ({finding.kind for finding in some} for some in (changes, found_in(objects, after)))
    assert (missing in audited) <= (CREATED in would) <= bool({missing, forbidden} & audited)
    assert (REFUSED in would) == (refused in audited)
    assert bool({CHANGED, MOVED} & would) <= bool({drifted, forbidden} & audited)
    for desired in desired_for(parent, after):
        if standing := made.get(desired["kind"] + desired["metadata"]["name"]):
            signed = with_annotation(desired, DECORATOR, CONTROLLER)
            assert differences(Item(updated(standing, signed)), desired) == []
    assert preview(evidence(objects, after), after) == [], "with the current settings as new ones, there is no change"


# The command.

GOOD, MADE, *BESIDE, BAD = dumps.objects([
    {"Service": {"host": "shop.example.com"}, "Ingress": {}, "EndpointSlice": {}},
    {"IngressClass": {}},
    {"Service": {"name": "bad", "annotations": {"ingress/http": "`a|b<c`"}}},
])  # fmt: skip
WriteSettings = Callable[[str], Path]


def audit_files(*objects: Object, options: tuple[str | Path, ...] = ("--current-settings", os.devnull)) -> Ended:
    return run("audit", "-f", "-", *options, stdin="---\n".join(map(as_yaml, objects)))


def test_a_dump_without_findings_gets_one_line_with_what_was_not_checked() -> None:
    assert audit_files(GOOD, MADE) == (
        0,
        f"0 findings. Services checked: 1, requesting exposure: 1.\n{NOT_IN_FILES}.\n",
        "",
    )


def test_moved_objects_are_reported_in_a_pause_too_and_set_exit_status_1(settings: WriteSettings) -> None:
    options = ("--settings", settings("defaults: {class: internal}\npaused: true\n"))
    ended = audit_files(GOOD, MADE, options=options)
    assert (ended.status, ended.out.split()[0]) == (1, "moved")
    assert ended.err == "The settings pause every namespace: nothing changes there until `paused` is false.\n"
    ended = audit_files(GOOD, options=options)
    assert (ended.status, ended.out.split()[0]) == (2, "0"), "whether it is created depends on Ingresses"
    settings("")
    [*_, new] = dumps.objects([{"Service": {}}, {"Service": {"name": "new", "host": "new.example.com"}}])
    ended = audit_files(GOOD, MADE, new, options=options)
    assert (ended.status, "created" in ended.out) == (0, True)


def test_new_settings_are_compared_with_the_current_ones_if_these_are_known(settings: WriteSettings) -> None:
    new = settings("defaults: {class: internal}\n")
    ended = audit_files(GOOD, MADE, options=("--settings", new, "--current-settings", new))
    assert ended[:2] == (0, f"0 changes. Services checked: 1, requesting exposure: 1.\n{NOT_IN_FILES}.\n")
    ended = audit_files(GOOD, MADE, options=("--settings", new))
    compared = "with --current-settings FILE. This run compares the new settings with the observed objects.\n"
    assert (ended.status, compared in ended.out) == (1, True)
    old = settings("defaults: {clazz: internal}\n")
    assert audit_files(GOOD, options=("--settings", os.devnull, "--current-settings", old)).status == 2


def test_a_dump_without_services_is_an_error_and_one_without_ingresses_a_note() -> None:
    where = "could not be read: the files contain none; add the output of `kubectl get {} -o yaml`"
    ended = audit_files(MADE)
    assert (ended.status, f"Services {where.format('services')}" in ended.err) == (2, True)
    ended = audit_files(GOOD)
    assert (ended.status, ended.err) == (0, "")
    assert f"Ingresses {where.format('ingresses')}" in ended.out
    assert "HTTPRoutes could" not in ended.out, "no Service asks for one"


def test_a_namespace_without_services_in_the_files_is_only_reported_as_not_checked() -> None:
    alone = put(MADE, ("metadata", "namespace"), "team-b")
    for owner in ({"kind": "Service", "apiVersion": "v1", "name": "shop", "uid": "2"}, {}):
        ended = audit_files(GOOD, MADE, put(alone, ("metadata", "ownerReferences"), [owner | {"controller": True}]))
        assert (ended.status, ended.out.splitlines()[0]) == (
            2,
            "0 findings. Services checked: 1, requesting exposure: 1.",
        )
        assert "No Service in team-b was read, so nothing there was checked.\n" in ended.out


def test_an_object_of_an_old_api_version_ends_the_audit() -> None:
    ended = audit_files(GOOD, {**MADE, "apiVersion": "networking.k8s.io/v1beta1"})
    message = 'team-a/shop: apiVersion: "networking.k8s.io/v1beta1" isn\'t supported; use networking.k8s.io/v1\n'
    assert (ended.status, ended.out, message in ended.err) == (1, "", True)


# From the cluster.

INSTALLED = settings_on_a_cluster("defaults: {class: nginx}\n")
WITH_SETTINGS = "Using the settings in ConfigMap ingress-manager/ingress-manager-settings-abc.\n"
NO = "Error from server (Forbidden): no"


def test_a_cluster_is_read_kind_by_kind(cluster: Cluster) -> None:
    cluster.says(INSTALLED | stored(GOOD, MADE, *BESIDE))
    ended = run("audit", "-A", "--context", "there")
    assert (ended.status, ended.err) == (0, WITH_SETTINGS)
    # Services come last: otherwise, a Service created meanwhile would seem missing for its Ingress.
    assert cluster.calls[3:7] == [
        f"get --output=json --all-namespaces --context=there -- {kind}"
        for kind in (INGRESSES, HTTPROUTES, LISTENERSETS, "services")
    ]


def test_a_cluster_that_does_not_know_httproutes_has_none(settings: WriteSettings, cluster: Cluster) -> None:
    cluster.says(INSTALLED | stored(GOOD, MADE, *BESIDE), f'{UNKNOWN_KIND} "httproutes"')
    del cluster.answers[HTTPROUTES]
    ended = run("audit")
    assert (ended.status, ended.err) == (0, WITH_SETTINGS)
    routes = settings("defaults: {outputs: [httproute], gateway: {name: web, namespace: infrastructure}}\n")
    for option in ("--current-settings", "--settings"):
        assert "Metacontroller doesn't manage HTTPRoutes" in run("audit", option, routes).out
    gateway = "gateway: {name: web, namespace: infrastructure, listenerSets: {port: 443}}"
    settings(f"defaults: {{outputs: [httproute], {gateway}, tls: {{enabled: true, secret: a}}}}")
    cluster.says(stored(GOOD))
    assert "Metacontroller doesn't manage ListenerSets" in run("audit", "--current-settings", routes).out


def test_missing_permissions_are_reported_with_exit_status_2(settings: WriteSettings, cluster: Cluster) -> None:
    cluster.says({"services": listing(BAD)}, NO)
    ended = run("audit")
    assert (ended.status, ended.out.splitlines()[0]) == (2, "0 findings. Services checked: 1, requesting exposure: 1.")
    assert [line.partition(f": {NO}")[0] for line in ended.out.splitlines()[1:]] == [
        "Only kubectl's current namespace was read.",
        *(f"{what} could not be read" for what in ("Ingresses", "HTTPRoutes", "The settings")),
    ]
    cluster.says({"services": listing(GOOD)}, NO)
    report = run("audit", "-o", "json").json
    assert (report["findings"], len(report["unseen"])) == ([], 4), "no Ingress is missing that nobody may look at"
    ended = run("audit", "--settings", settings("defaults: {class: internal}\n"))
    assert (ended.status, ended.out.splitlines()[0].startswith("0 changes. Services checked: 1,")) == (2, True)
    cluster.says({}, NO)
    ended = run("audit")
    assert (ended.status, ended.out, ended.err.endswith(f"Error: {NO}\n")) == (2, "", True)


def test_new_settings_are_compared_with_the_clusters(settings: WriteSettings, cluster: Cluster) -> None:
    cluster.says(INSTALLED | stored(GOOD, MADE, *BESIDE))
    same = ("audit", "-A", "--settings", settings("defaults: {class: nginx}\n"))
    assert run(*same)[:2] == (0, "0 changes. Services checked: 1, requesting exposure: 1.\n")
    cluster.answers |= settings_on_a_cluster("defaults: {clazz: nginx}\n")
    ended = run(*same)
    assert (ended.status, "This run compares the new settings with the observed objects.\n" in ended.out) == (0, True)
    ended = run(*same[:-1], settings("defaults: {class: internal}\n"))
    assert (ended.status, '; IngressClass "internal" doesn\'t exist\n' in ended.out) == (1, True)


def test_an_empty_namespace_is_reported(cluster: Cluster) -> None:
    cluster.says(INSTALLED | stored())
    ended = run("audit", "-n", "nope")
    assert ended.status == 2
    assert "There is nothing to check in the namespace nope, if it exists at all.\n" in ended.out


# The objects that traffic depends on: IngressClasses, EndpointSlices, Gateways and Secrets.

[ANSWERING] = (case for case in AUDITS if case.name == "why-nothing-answers")
OBJECTS = dumps.objects(ANSWERING.fields["objects"])
SECRETS = [
    f"team-a {obj['metadata']['name']} {obj['data']['tls.crt']} {','.join(obj['data'])}, {obj['type']}\n"
    for obj in OBJECTS
    if obj["kind"] == "Secret"
]
AROUND = stored(*OBJECTS) | {"secrets": "".join(SECRETS)}


def in_team_a(settings: WriteSettings, *options: str) -> Ended:
    return run("audit", "--current-settings", settings(ANSWERING.settings_text), "-n", "team-a", *options)


def test_surrounding_objects_are_read_but_no_private_key(settings: WriteSettings, cluster: Cluster) -> None:
    cluster.says(AROUND)
    ended = in_team_a(settings)
    table = "".join(printed(dumps.looked(ANSWERING), "table"))
    assert ended == (1, click.unstyle(table) + "Only the namespace team-a was read.\n", "")
    assert len(cluster.calls) == 7
    [call] = [call for call in cluster.calls if call.endswith(" secrets")]
    assert "go-template=" in call
    assert not re.search(r"index \. [^)]*tls\.key|json", call)


def test_certificates_need_library(settings: WriteSettings, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.says(AROUND)
    monkeypatch.setattr(certificates, "x509", None)
    [_, unseen] = in_team_a(settings, "-o", "json").json["unseen"]
    assert "pip install '.[certificates]'" in unseen


def test_the_days_before_the_end_of_a_certificate_can_be_chosen(settings: WriteSettings, cluster: Cluster) -> None:
    now = datetime.now(UTC)
    made = trustme.CA().issue_cert("a.b", not_before=now - timedelta(days=99), not_after=now + timedelta(days=20))
    crt = b64encode(made.cert_chain_pems[0].bytes()).decode()
    service = {"host": "a.b", "annotations": {"ingress/tls-secret": "others"}}
    objects = dumps.objects([{"Service": service, "Ingress": {"tls": [{"others": ["a.b"]}]}, "EndpointSlice": {}}])
    line = f"team-a others {crt} tls.crt,tls.key, kubernetes.io/tls\n"
    cluster.says(stored(*objects) | {"secrets": line})
    kinds = [in_team_a(settings, *days, "-o", "json").json["kinds"] for days in ([], ["--certificate-days=30"])]
    assert [found.get("certificate-ends") for found in kinds] == [None, 1]


# The merge with which `audit` predicts Metacontroller's changes.


@pytest.mark.parametrize(
    "case",
    yaml.safe_load(Path(__file__).with_name("merge.yaml").read_text(encoding="utf-8")),
    ids=lambda case: case["why"],
)
def test_a_merge(case: Object) -> None:
    given = copy.deepcopy(case)
    assert merge(case["observed"], case["last"], case["desired"]) == case["becomes"]
    assert case == given, "what was given is not changed"


# With fewer permissions, a user gets no more findings or other states: each case is read without some of its parts.

READ = [UNREAD_SETTINGS, INGRESS, HTTPROUTE, LISTENERSET, *SURROUNDING_RESOURCES]
NAMESPACES = ["team", "team-a", "team-b", "routes"]


def counted_by_object(findings: Iterable[Finding]) -> Counter[tuple[Kind, str, Key, Reason | None]]:
    """Count findings by kind, item, other object and reason. Fewer permissions must not yield additional findings."""
    return Counter((one.kind, str(one.item), one.key, reason) for one in findings for reason in (*one.reasons, None))


@given(
    st.sampled_from(AUDITS),
    st.frozensets(st.sampled_from(READ), max_size=3),
    st.frozensets(st.sampled_from(NAMESPACES), max_size=2),
)
def test_fewer_permissions_add_no_finding(case: Case, kinds: frozenset[str], namespaces: frozenset[str]) -> None:
    whole, part = dumps.looked(case).findings, dumps.looked(case, kinds, namespaces).findings
    assert counted_by_object(part) <= counted_by_object(whole)
    deleted = {str(finding.item) for finding in whole if "delete" in finding.command}
    assert {str(finding.item) for finding in part if "delete" in finding.command} <= deleted


def states_in(seen: Inspection) -> dict[tuple[str, ...], State]:
    rows = Judge(seen).rows(seen.snapshot.services.values())
    return {(row.namespace, row.service, *filter(None, (row.output, row.name))): row.state for row in rows}


@pytest.mark.parametrize("case", golden.cases_in(cases.STATUSES), ids=lambda case: case.name)
def test_fewer_permissions_yield_a_weaker_state_or_unknown_and_never_another_one(case: Case) -> None:
    before = states_in(dumps.looked(case))
    # Without the settings, Events determine the state: tests/commands/test_status.py.
    for kind in {*READ} - {UNREAD_SETTINGS}:
        for key, state in states_in(dumps.looked(case, {kind})).items():
            # If no Ingress is known, a Service may have a single row.
            were = {was for other, was in before.items() if other[: len(key)] == key}
            assert state in {State.UNKNOWN, *were, *([State.ACCEPTED] if State.SERVING in were else [])}, key
