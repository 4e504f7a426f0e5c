"""Every case in tests/attacks is an attack, and what must come of it; README.md there says where they come from.

The attacks here are one Service. Those that are sequences of steps are in tests/e2e/attacks.yaml.
"""

import re

import pytest

from tests import golden
from tests.core.test_cases import FIELDS, check_fields

ATTACKS = golden.cases_in(golden.ATTACKS)
README = (golden.ATTACKS / "README.md").read_text(encoding="utf-8")
REPOSITORY = golden.TESTS.parent

SEQUENCES = list(golden.read(REPOSITORY / "tests/e2e/attacks.yaml"))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_attack_comes_to_what_is_stated(attack: golden.Case) -> None:
    assert attack.outcome() == attack.becomes


def test_every_attack_is_complete_and_says_where_it_comes_from() -> None:
    for attack in ATTACKS:
        check_fields(attack, ["why", "from", *FIELDS[1:]])
    for attack in (*ATTACKS, *SEQUENCES):
        assert attack.stated["from"], attack.name
        assert all(re.fullmatch(r"finding S\d+|CVE-20\d\d-\d+|what held", each) for each in attack.stated["from"])


def test_the_readme_names_every_finding() -> None:
    found = {each for attack in (*ATTACKS, *SEQUENCES) for each in attack.stated["from"] if each.startswith("finding")}
    assert found
    assert sorted(found - {f"finding {each}" for each in re.findall(r"S\d+", README)}) == []
