"""Whoever can look at less is never told more, nor another state: of any case, any part is taken away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingress_manager.commands.audit.audit import Looked, audit_of
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET
from ingress_manager.commands.status.states import Judge, State
from ingress_manager.commands.view import surroundings
from ingress_manager.commands.view.look import SETTINGS, Known, look
from tests import dumps, golden
from tests import make_cases as cases
from tests.golden import Case

KINDS = [SETTINGS, INGRESS, HTTPROUTE, LISTENERSET, *surroundings.RESOURCES]
NAMESPACES = ["team", "team-a", "team-b", "routes"]
OF_SEVERAL = {"refused", "claimed-twice"}
"""The kinds whose sentences tell less where less is known."""

NOTHING: frozenset[str] = frozenset()


def looked(case: Case, kinds: frozenset[str], namespaces: frozenset[str] = NOTHING) -> Looked:
    """Return what is seen of a case of which something is taken away."""
    whole = dumps.manifests(case)
    items = [each for each in whole if each.object["kind"] not in kinds and each.namespace not in namespaces]
    around = dumps.around(items)
    around.read = dumps.around(whole).read - kinds
    known = Known(dict.fromkeys(kinds & {*KINDS[:4]}, "no"))
    policy = None if SETTINGS in kinds else case.policy
    view = look(items, None if SETTINGS in kinds else case.policy.without_pause(), known)
    return Looked(view, around, audit_of(view, policy, around), (), [], is_blind=True)


def told(found: Finding) -> tuple[str, ...]:
    """Return what a person is told by a finding, as far as it is the same whoever looks."""
    return (found.kind, str(found.item), "" if found.kind in OF_SEVERAL else found.sentence)


@given(
    st.sampled_from(golden.cases_in(cases.AUDITS)),
    st.frozensets(st.sampled_from(KINDS), max_size=3),
    st.frozensets(st.sampled_from(NAMESPACES), max_size=2),
)
def test_who_sees_less_of_a_case_is_told_no_more_and_never_to_delete_more(
    case: Case, kinds: frozenset[str], namespaces: frozenset[str]
) -> None:
    whole, part = looked(case, NOTHING).findings, looked(case, kinds, namespaces).findings
    assert {told(each) for each in part} <= {told(each) for each in whole}
    deleted = {str(each.item) for each in whole if "delete" in each.command}
    assert {str(each.item) for each in part if "delete" in each.command} <= deleted


def states(seen: Looked) -> dict[tuple[str, ...], State]:
    """Return the state of each row."""
    return {
        (row.namespace, row.service, *filter(None, (row.output, row.name))): row.state
        for row in Judge(seen).rows(seen.view.services.values())
    }


@pytest.mark.parametrize("case", golden.cases_in(cases.STATUSES), ids=lambda case: case.name)
def test_who_sees_less_is_told_a_state_that_is_less_and_never_another_one(case: Case) -> None:
    before = states(looked(case, NOTHING))
    for kind in KINDS:
        for key, state in states(looked(case, frozenset({kind}))).items():
            # Where no Ingress is known of, there may be one row for all of a Service.
            were = {was for other, was in before.items() if other[: len(key)] == key}
            assert state in {State.UNKNOWN, *were, *([State.ACCEPTED] if State.SERVING in were else [])}, key
