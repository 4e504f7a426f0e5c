"""`ingress-manager explain`: every key of the tables, with an example that is true."""

import re

import msgspec
import pytest

from devcluster.sync_requests import service
from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.commands.explain import examples
from ingress_manager.commands.explain.entries import COPIED, OUR_ANNOTATIONS, SETTING, entries, find
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.core.annotations import KEYS
from ingress_manager.core.copying import KNOWN
from ingress_manager.core.decide import Desired, decide, refusal_of
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.commands.commands import run

WITHOUT_EXAMPLE = {Reason.INVALID_REQUEST, Reason.LISTENER_NOT_ALLOWED, Reason.NO_HTTPROUTES, Reason.TOO_LARGE}


def test_everything_in_the_tables_can_be_explained() -> None:
    known = {entry.key for entry in entries()}
    assert known >= {*KEYS, *KNOWN, *Reason, *FindingKind, *OUR_ANNOTATIONS}
    for field in msgspec.structs.fields(Policy):
        assert field.encode_name in known


@pytest.mark.parametrize("key", KEYS)
def test_every_annotation_has_an_example_that_is_accepted(key: str) -> None:
    annotations = examples.ANNOTATIONS[key]
    assert key in annotations
    parent = service(annotations, ports=[{"name": "http", "port": 80}])
    policy = parse(as_yaml(examples.NEEDED.get(key, {})))
    decision = decide(msgspec.convert(parent, Service), NOTHING, policy)
    assert isinstance(decision, Desired)
    assert decision.objects


@pytest.mark.parametrize("path", [entry.key for entry in entries() if entry.sort == SETTING])
def test_every_setting_has_an_example_that_is_accepted_and_states_it(path: str) -> None:
    stated = examples.SETTINGS[path]
    parse(as_yaml(stated))
    for step in path.split("."):
        stated = next(iter(stated.values())) if step == "*" else stated[step]


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_an_example_that_is_refused_for_it(reason: Reason) -> None:
    if reason in WITHOUT_EXAMPLE:
        assert reason not in examples.REFUSALS
        return
    example = examples.REFUSALS[reason]
    parent = service(example.annotations, **example.spec)
    parent["metadata"]["labels"] = example.labels
    refused = refusal_of(decide(msgspec.convert(parent, Service), NOTHING, parse(as_yaml(example.settings))))
    assert refused is not None
    assert [problem.reason for problem in refused.problems] == [reason]
    assert f"  {refused.line()}\n" in run("explain", reason).out


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("namespaces.team-a.paused", "namespaces.*.paused"),
        ("namespaces.team-a.limits.hosts", "limits.hosts"),
        ("namespaces.team-a.defaults.tls.secret", "defaults.tls.secret"),
        ("internal.ingress/host", "ingress/host"),
        ("profiles.internal.class", "defaults.class"),
        ("profiles.internal.timeouts", "profiles.*.timeouts"),
        ("profiles.internal.tls.secret", "defaults.tls.secret"),
    ],
)
def test_a_name_of_ones_own_stands_for_any(key: str, entry: str) -> None:
    assert [found.key for found in find(key)] == [entry]


def test_a_setting_is_told_with_its_default_if_there_is_one_and_with_where_else_it_can_be_stated() -> None:
    assert run("explain", "defaults.gateway.http").out.startswith(
        "defaults.gateway.http: setting\n\n"
        "  Its listener for hosts without TLS; null: it has none, and such a Service is refused.\n\n"
        '  default  "http"\n'
        "  also as  profiles.*.gateway.http, namespaces.*.defaults.gateway.http\n\n"
    )
    assert "default" not in run("explain", "namespaces.*.paused").out


def test_a_setting_and_a_reason_of_one_name_are_both_told() -> None:
    assert re.findall(r"^paused: (.*)$", run("explain", "paused").out, re.MULTILINE) == [
        "setting",
        "reason of a refusal",
    ]


def test_without_a_key_all_are_listed() -> None:
    out = run("explain").out
    for entry in entries():
        assert re.search(rf"^  {re.escape(entry.key)} +{re.escape(entry.meaning)}$", out, re.MULTILINE)
    assert f"\n{COPIED}:\n" in out


@pytest.mark.parametrize(
    ("key", "end"),
    [
        ("host-not-alowed", "; did you mean host-not-allowed?\n"),
        ("ingress/hots", "; did you mean ingress/host?\n"),
        ("xyzzy", "; without a key, `explain` lists all\n"),
    ],
)
def test_an_unknown_key_is_wrong_use_and_the_nearest_is_named(key: str, end: str) -> None:
    ended = run("explain", key)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.endswith(f'Error: "{key}" is no annotation, setting, reason or kind of finding{end}')
