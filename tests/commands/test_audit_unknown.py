"""Whoever can look at less is never told more: of any case of audit, any part is taken away; no finding appears."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET, SERVICE
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.view import surroundings
from ingress_manager.commands.view.known import SETTINGS, UNKNOWN, Known
from tests import dumps, golden
from tests import make_cases as cases
from tests.golden import Case

KINDS = (SERVICE, INGRESS, HTTPROUTE, LISTENERSET)
AROUND = surroundings.RESOURCES
OF_SEVERAL = {"refused", "claimed-twice", "upstream-collision", "detached"}
"""Kinds whose sentences tell less where less is known."""

AUDITS = golden.cases_in(cases.AUDITS)


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


def found_with(case: Case, less: Less) -> list[Finding]:
    """Return what is found in a case of which something is taken away."""
    whole = dumps.manifests(case)
    manifests = Manifests(
        [
            item
            for item in whole.items
            if item.object["kind"] not in less.kinds and item.namespace not in less.namespaces
        ]
    )
    around = dumps.around(manifests)
    around.read = dumps.around(whole).read - less.kinds
    unread = dict.fromkeys([*less.kinds & {*KINDS}, *([SETTINGS] if less.settings else [])], "no")
    known = Known(unread, optional={HTTPROUTE, LISTENERSET} & less.kinds)
    return audit(manifests.items, UNKNOWN if less.settings else case.policy, known, around).findings


def told(found: Finding) -> tuple[str, ...]:
    """Return what a person is told by a finding, as far as it is the same whoever looks."""
    return (found.kind, str(found.item), "" if found.kind in OF_SEVERAL else found.sentence)


def finds_no_more(case: Case, *lesses: Less) -> None:
    """Whoever sees less of the case is told no more, and is never told to delete more."""
    whole = found_with(case, Less())
    deleted = {str(each.item) for each in whole if "delete" in each.command}
    for less in lesses:
        part = found_with(case, less)
        assert {told(each) for each in part} <= {told(each) for each in whole}
        assert {str(each.item) for each in part if "delete" in each.command} <= deleted


@given(st.sampled_from(AUDITS), LESS)
def test_who_sees_less_of_a_case_is_told_no_more(case: Case, less: Less) -> None:
    finds_no_more(case, less)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_without_one_kind_or_the_settings_nobody_is_told_more(case: Case) -> None:
    finds_no_more(case, *(Less(frozenset({kind})) for kind in (*KINDS, *AROUND)), Less(settings=True))
