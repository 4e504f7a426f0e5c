"""Whoever can look at less is never told more, nor another state: of any case, any part is taken away."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingress_manager.commands.audit.audit import Looked, audit_of
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.status.states import Judge, State
from ingress_manager.commands.view import surroundings
from ingress_manager.commands.view.look import SETTINGS, UNKNOWN, Known, look
from tests import dumps, golden
from tests import make_cases as cases
from tests.golden import Case

KINDS = (INGRESS, HTTPROUTE, LISTENERSET)
AROUND = surroundings.RESOURCES
OF_SEVERAL = {"refused", "claimed-twice"}
"""The kinds whose sentences tell less where less is known."""

AUDITS = golden.cases_in(cases.AUDITS)
STATUSES = golden.cases_in(cases.STATUSES)


class Less(NamedTuple):
    """What of a case is taken away."""

    kinds: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    settings: bool = False


LESS = st.builds(
    Less,
    st.frozensets(st.sampled_from([*KINDS, *AROUND]), max_size=2),
    st.frozensets(st.sampled_from(["team", "team-a", "team-b", "routes"]), max_size=2),
    st.booleans(),
)
ONE_LESS = [*(Less(frozenset({kind})) for kind in (*KINDS, *AROUND)), Less(settings=True)]


def looked(case: Case, less: Less) -> Looked:
    """Return what is seen of a case of which something is taken away."""
    whole = dumps.manifests(case)
    items = [
        item for item in whole.items if item.object["kind"] not in less.kinds and item.namespace not in less.namespaces
    ]
    around = dumps.around(Manifests(items))
    around.read = dumps.around(whole).read - less.kinds
    unread = dict.fromkeys([*less.kinds & {*KINDS}, *([SETTINGS] if less.settings else [])], "no")
    policy = UNKNOWN if less.settings else case.policy
    view = look(items, UNKNOWN if less.settings else case.policy.without_pause(), Known(unread))
    return Looked(view, around, audit_of(view, policy, around), (), [], is_blind=True)


def told(found: Finding) -> tuple[str, ...]:
    """Return what a person is told by a finding, as far as it is the same whoever looks."""
    return (found.kind, str(found.item), "" if found.kind in OF_SEVERAL else found.sentence)


def finds_no_more(case: Case, *lesses: Less) -> None:
    """Whoever sees less of the case is told no more, and is never told to delete more."""
    whole = looked(case, Less()).findings
    deleted = {str(each.item) for each in whole if "delete" in each.command}
    for less in lesses:
        part = looked(case, less).findings
        assert {told(each) for each in part} <= {told(each) for each in whole}
        assert {str(each.item) for each in part if "delete" in each.command} <= deleted


@given(st.sampled_from(AUDITS), LESS)
def test_who_sees_less_of_a_case_is_told_no_more(case: Case, less: Less) -> None:
    finds_no_more(case, less)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_without_one_kind_or_the_settings_nobody_is_told_more(case: Case) -> None:
    finds_no_more(case, *ONE_LESS)


def states(seen: Looked) -> dict[tuple[str, ...], State]:
    """Return the state of each row."""
    return {
        (row.namespace, row.service, *filter(None, (row.output, row.name))): row.state
        for row in Judge(seen).rows(seen.view.services.values())
    }


@pytest.mark.parametrize("case", STATUSES, ids=lambda case: case.name)
def test_who_sees_less_is_told_a_state_that_is_less_and_never_another_one(case: Case) -> None:
    before = states(looked(case, Less()))
    for less in ONE_LESS:
        for key, state in states(looked(case, less)).items():
            # Where no Ingress is known of, there is one row for all of an entrance.
            were = {was for other, was in before.items() if other[: len(key)] == key}
            assert state in {State.UNKNOWN, *were, *([State.ACCEPTED] if State.SERVING in were else [])}, key
