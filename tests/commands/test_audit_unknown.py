"""Whoever can look at less is never told more: of any dump, any part is taken away, and no finding appears.

A dump is one of the cases of tests/commands/audit, or made up: Services, what other settings have made for them, in
part edited, detached or somebody else's.
"""

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.standin.objects import with_annotation
from devcluster.sync_requests import Object, as_created
from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.audit.finders import Finding
from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, SERVICE
from ingress_manager.commands.reading.manifests import Manifests, read
from ingress_manager.commands.view import surroundings
from ingress_manager.commands.view.look import SETTINGS, UNKNOWN, Known, Unknown, refused_by_all
from ingress_manager.commands.view.surroundings import surroundings_in
from ingress_manager.core.decide import decide, refusal_of
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.policy import Policy
from tests import make_cases as cases
from tests.core import made_up
from tests.core.test_properties import desired_for
from tests.dumps import manifests
from tools import golden
from tools.golden import Case

KINDS = (SERVICE, INGRESS, HTTPROUTE)
AROUND = surroundings.RESOURCES
OF_SEVERAL = {FindingKind.REFUSED, FindingKind.CLAIMED_TWICE, FindingKind.UPSTREAM_COLLISION, FindingKind.DETACHED}
"""Kinds whose sentences tell less where less is known."""

AUDITS = golden.cases_in(cases.AUDITS)


class Dump(NamedTuple):
    """What is on a cluster."""

    objects: list[Object]
    policy: Policy
    has_httproutes: bool = True


def dump_of(case: Case) -> Dump:
    """Return what is on the cluster of a case."""
    return Dump([item.object for item in manifests(case).items], case.policy)


@st.composite
def dumps(draw: st.DrawFn) -> Dump:
    """Draw some Services that get into each other's way, and what some settings have made for them."""
    policy, before = draw(made_up.policy()), draw(made_up.policy())
    has_httproutes = draw(st.sampled_from([True, True, False]))
    kinds = st.one_of(made_up.services(), made_up.valid_services(), made_up.services_with_entrances())
    objects: list[Object] = []
    for number, service in enumerate(draw(st.lists(kinds, min_size=1, max_size=4))):
        metadata = service["metadata"]
        metadata |= {
            "name": draw(st.sampled_from(["shop", "a-shop", "shop-a"])),
            "namespace": draw(st.sampled_from(["team", "team-a"])),
            "uid": f"{number:08}",
            "creationTimestamp": f"2026-01-0{draw(st.integers(1, 9))}T00:00:00Z",
        }
        metadata |= draw(st.sampled_from([{}, {}, {}, HELD]))
        objects.append(service)
        for made in desired_for(service, draw(st.sampled_from([policy, before]))):
            objects += draw(st.sampled_from(STATES))(as_created(made, service), service)
    for each in objects:
        each["metadata"].setdefault("creationTimestamp", f"2026-02-0{draw(st.integers(1, 9))}T00:00:00Z")
    if not has_httproutes:
        objects = [each for each in objects if each["kind"] != HTTPROUTE]
    unique = {(each["kind"], each["metadata"]["namespace"], each["metadata"]["name"]): each for each in objects}
    return Dump(list(unique.values()), policy, has_httproutes)


HELD = {"deletionTimestamp": "2026-03-01T00:00:00Z", "finalizers": ["example.com/hold"]}


def changed(made: Object, **metadata: Any) -> Object:
    """Return an object with other metadata; None takes a field off."""
    now = {**made["metadata"], **metadata}
    return {**made, "metadata": {key: value for key, value in now.items() if value is not None}}


STATES: Sequence[Any] = (
    *(lambda made, _: [made],) * 3,
    lambda _made, _: [],
    lambda made, _: [changed(made, **HELD)],
    lambda made, _: [changed(made, ownerReferences=None)],
    lambda made, _: [changed(made, annotations=None)],
    lambda made, _: [changed(made, annotations=None, labels=None, ownerReferences=None)],
    lambda made, _: [with_annotation(made, "metacontroller.k8s.io/last-applied-configuration", "{")],
    lambda made, _: [changed(made, name=f"{made['metadata']['name']}.internal")],
    lambda made, _: [made, changed(made, name="theirs", annotations=None, labels=None, ownerReferences=None)],
    lambda made, _: [changed(made, ownerReferences=[{**made["metadata"]["ownerReferences"][0], "uid": "gone"}])],
)
"""What may have become of an object that was made."""


def unreadable(each: Object, way: str) -> Object | str:
    """Return an object that can't be read, in one of some ways; as text, the document isn't YAML."""
    spoiled = deepcopy(each)
    if way == "is no YAML":
        return "a: ["
    if way == "has a wrong key":
        spoiled["metadata"]["annotations"] = {"a\nb": ""}
    elif way == "has a wrong name":
        spoiled["metadata"]["name"] = "--all"
    elif way == "has a wrong namespace":
        spoiled["metadata"]["namespace"] = 5
    elif way == "is invalid":
        spoiled["spec"] = 5
    elif each["kind"] == SERVICE:
        spoiled["metadata"]["annotations"] = 5
    else:
        spoiled["apiVersion"] = f"{each['apiVersion'].rpartition('/')[0]}/v1beta1"
    return spoiled


WAYS = ("is no YAML", "has a wrong key", "has a wrong name", "has a wrong namespace", "is invalid", "is of old")


class Less(NamedTuple):
    """What of a dump is taken away."""

    kinds: frozenset[str]
    namespaces: frozenset[str]
    settings: bool
    objects: dict[int, str]
    """The numbers of those that can't be read, and why."""


LESS = st.builds(
    Less,
    st.frozensets(st.sampled_from([*KINDS, *AROUND]), max_size=2),
    st.frozensets(st.sampled_from(["team", "team-a", "team-b", "routes", "infrastructure"]), max_size=2),
    st.booleans(),
    st.dictionaries(st.integers(0, 20), st.sampled_from(WAYS), max_size=2),
)


def read_again(dump: Dump, less: Less) -> tuple[Manifests, Known, Policy | Unknown]:
    """Return what can be read of a dump of which something is taken away."""
    kept = [
        each
        for each in dump.objects
        if each["kind"] not in less.kinds and each["metadata"].get("namespace") not in less.namespaces
    ]
    documents = [unreadable(each, less.objects[n]) if n in less.objects else each for n, each in enumerate(kept)]
    if any(isinstance(each, str) for each in documents):
        texts = (each if isinstance(each, str) else json.dumps(each) for each in documents)
        manifests = read("".join(f"---\n{text}\n" for text in texts), "f")
    else:
        manifests = read(json.dumps({"kind": "List", "items": documents}))  # which takes a tenth of the time
    known = Known(misread=manifests.misread, is_whole=manifests.is_whole)
    known.unread = dict.fromkeys([*less.kinds & {*KINDS}, *([SETTINGS] if less.settings else [])], "no")
    known.httproutes = UNKNOWN if HTTPROUTE in less.kinds else dump.has_httproutes
    return manifests, known, UNKNOWN if less.settings else dump.policy


def told(found: Finding) -> tuple[str, ...]:
    """Return what a person is told by a finding, as far as it is the same whoever looks."""
    return (found.kind, str(found.item), "" if found.kind in OF_SEVERAL else found.sentence)


def finds_no_more(dump: Dump, *lesses: Less) -> None:
    """Whoever sees less of the dump is told no more, and is never told to delete more."""
    whole, *parts = (
        audit(manifests.items, policy, known, surroundings_in(manifests)).findings
        for manifests, known, policy in (read_again(dump, less) for less in (NOTHING_LESS, *lesses))
    )
    deleted = {str(each.item) for each in whole if "delete" in each.command}
    for part in parts:
        assert {told(each) for each in part} <= {told(each) for each in whole}
        assert {str(each.item) for each in part if "delete" in each.command} <= deleted


NOTHING_LESS = Less(frozenset(), frozenset(), settings=False, objects={})


@given(dumps(), LESS)
def test_who_sees_less_of_a_dump_is_told_no_more(dump: Dump, less: Less) -> None:
    finds_no_more(dump, less)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_without_one_kind_the_settings_or_any_one_object_of_a_case_nobody_is_told_more(
    case: Case, pytestconfig: pytest.Config
) -> None:
    dump = dump_of(case)
    ways = ("is invalid", *(["is no YAML"] if pytestconfig.getoption("--thorough") else []))
    objects = [{n: way} for n in range(len(dump.objects)) for way in ways]
    finds_no_more(
        dump,
        *(NOTHING_LESS._replace(kinds=frozenset({kind})) for kind in (*KINDS, *AROUND)),
        NOTHING_LESS._replace(settings=True),
        *(NOTHING_LESS._replace(objects=each) for each in objects),
    )


@given(st.one_of(made_up.services(), made_up.services_with_entrances()), made_up.policy())
def test_a_service_that_all_settings_refuse_is_refused_by_any(parent: Object, policy: Policy) -> None:
    service = msgspec.convert(parent, Service)
    if refused_by_all(service):
        assert refusal_of(decide(service, NOTHING, policy.without_pause()))
