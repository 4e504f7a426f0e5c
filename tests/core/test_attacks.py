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


def items() -> list[str]:
    """Return the items of the README's lists, each on one line."""
    return [" ".join(item.split()) for item in re.findall(r"^- (.*\n(?:  .*\n)*)", README, re.MULTILINE)]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_attack_comes_to_what_is_stated(attack: golden.Case) -> None:
    assert attack.outcome() == attack.becomes


def test_every_attack_is_complete_and_says_where_it_comes_from() -> None:
    for attack in ATTACKS:
        check_fields(attack, ["why", "from", *FIELDS[1:]])
    for attack in (*ATTACKS, *SEQUENCES):
        assert attack.stated["from"], attack.name
        assert all(re.fullmatch(r"finding S\d+|CVE-20\d\d-\d+|what held", each) for each in attack.stated["from"])


def test_the_tests_and_sentences_that_the_readme_names_are_there() -> None:
    """In the README, a file or a test stands in `…`, and what is in that file in "…" behind it."""
    found = [each for item in items() for each in re.findall(r"`([^`:]+)(?:::(\w+))?`([^`]*)", item)]
    assert len(found) > 15
    for path, test, said in found:
        source = " ".join((REPOSITORY / path).read_text(encoding="utf-8").split())
        assert f"def {test}(" in source or not test, test
        for sentence in re.findall(r'"([^"]+)"', said):
            assert (f'"{sentence}"' if test else sentence) in source, sentence
