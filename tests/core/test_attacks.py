"""Every folder of tests/attacks is an attack, and what must come of it; README.md there says which files it has.

The attacks here are one Service. Those that are sequences of steps are in tests/e2e/test_attacks.py.
"""

import re
from pathlib import Path

import pytest
import yaml

from tests.core.forbidden import forbidden
from tests.core.test_cases import check_files
from tools import cases

ATTACKS = cases.cases_in(cases.ATTACKS)
README = (cases.ATTACKS / "README.md").read_text(encoding="utf-8")
REPOSITORY = cases.TESTS.parent

FINDINGS = {f"finding S{number}" for number in range(1, 28)}
CVES = {
    f"CVE-{number}"
    for number in (
        *("2021-25740", "2021-25742", "2021-25745", "2021-25746", "2021-25748", "2023-5043", "2023-5044", "2024-7646"),
        *("2025-1097", "2025-1098", "2025-15566", "2025-1974", "2025-24513", "2025-24514"),
        *("2026-1580", "2026-24512", "2026-3288", "2026-4342"),
    )
}
"""Those of ingress controllers that the text of a Service could reach, if it reached the Ingress."""

HELD = "what held"


def origins(attack: Path) -> list[str]:
    """Return what an attack comes from: the list in the last line of attack.txt. Raises AssertionError without one."""
    *sentences, origin = (attack / "attack.txt").read_text(encoding="utf-8").splitlines()
    assert " ".join(sentences).endswith("."), f"{attack.name}: nothing says who is attacked, and how"
    assert origin.startswith("From: "), attack.name
    return origin.removeprefix("From: ").split(", ")


def items() -> list[str]:
    """Return the items of the README's lists, each on one line."""
    return [" ".join(item.split()) for item in re.findall(r"^- (.*\n(?:  .*\n)*)", README, re.MULTILINE)]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.name)
def test_the_attack_comes_to_what_is_stated(attack: Path) -> None:
    assert cases.outcome(attack) == cases.stated(attack)


@pytest.mark.parametrize("attack", [each for each in ATTACKS if (each / cases.INGRESS).exists()], ids=lambda p: p.name)
def test_the_ingress_holds_nothing_that_the_settings_forbid(attack: Path) -> None:
    """`make cases` writes whatever the hook answers, so this judges it anew."""
    parent = yaml.safe_load((attack / "service.yaml").read_text("utf-8"))
    settings = attack / "settings.yaml"
    stated = yaml.safe_load(settings.read_text("utf-8")) if settings.exists() else {}
    for made in cases.stated(attack)[cases.INGRESS] or ():
        assert list(forbidden(made, stated, parent)) == []


def test_every_attack_is_complete_and_says_where_it_comes_from() -> None:
    for attack in ATTACKS:
        check_files(attack, {"attack.txt"})
    for attack in (path for path in cases.ATTACKS.iterdir() if path.is_dir()):
        assert set(origins(attack)) <= FINDINGS | CVES | {HELD}, attack.name


def test_every_finding_and_cve_is_accounted_for() -> None:
    named = {origin for path in cases.ATTACKS.glob("*/attack.txt") for origin in origins(path.parent)}
    named |= {f"finding {item.partition(':')[0]}" for item in items() if "`" in item}
    assert (FINDINGS | CVES | {HELD}) - named == set()


def test_the_tests_and_sentences_that_the_readme_names_are_there() -> None:
    """In the README, a file or a test stands in `…`, and what is in that file in "…" behind it."""
    found = [each for item in items() for each in re.findall(r"`([^`:]+)(?:::(\w+))?`([^`]*)", item)]
    assert len(found) > 15
    for path, test, said in found:
        source = " ".join((REPOSITORY / path).read_text(encoding="utf-8").split())
        assert f"def {test}(" in source or not test, test
        for sentence in re.findall(r'"([^"]+)"', said):
            assert (f'"{sentence}"' if test else sentence) in source, sentence
