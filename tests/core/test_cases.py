"""Every folder of tests/cases is a Service and what becomes of it; a new case needs no code.

service.yaml           the Service; its first line is a comment that says why the case exists
settings.yaml          the administrator's settings, if they aren't the defaults
ingress.yaml           the Ingress it gets, whole, and those of its other entrances; `null`: nothing
httproute.yaml         the HTTPRoutes it gets, whole, if the settings ask for them: beside the Ingress, or in its place
refusal.txt            if it is refused: the status and the refusal, in place of both
settings-refused.txt   if the hook doesn't start with the settings: the sentence that says why, in place of all three

`make cases` writes the last four.

A value that is refused whatever else the Service is has a row in refused.yaml instead.
"""

import shutil
from pathlib import Path

import pytest
import yaml

from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.policy import Policy
from tests.words import ours
from tools import cases

CASES = cases.cases_in(cases.CASES)
ONE_OF_EACH = [
    cases.CASES / name for name in ("every-annotation", "both-routes", "http-false", "every-problem-of-a-route-refused")
]
"""For what shows the hook's answer elsewhere: an Ingress, HTTPRoutes beside one, nothing, and several problems."""
REFUSED: list[Object] = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text(encoding="utf-8"))


def check_files(case: Path, more: set[str]) -> None:
    """Raise AssertionError unless the folder has a Service, one outcome, perhaps settings, `more`, and nothing else."""
    files = {path.name for path in case.iterdir()} - {"settings.yaml"}
    outcomes = files & set(cases.OUTCOMES)
    assert outcomes == {cases.INGRESS, cases.HTTPROUTE} or len(outcomes) == 1, f"{case.name}: one outcome"
    assert files - set(cases.OUTCOMES) == {"service.yaml"} | more, case.name


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_service_becomes_what_the_case_says(case: Path) -> None:
    assert cases.outcome(case) == cases.stated(case)


def test_every_case_is_complete_and_says_why_it_exists() -> None:
    assert len(CASES) > 100
    for case in CASES:
        check_files(case, set())
        assert (case / "service.yaml").read_text(encoding="utf-8").startswith("# "), case.name


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row["why"])
def test_the_value_is_refused_as_the_table_says(row: Object) -> None:
    answered = answer(body(sync_request(service({"ingress/http": "true"} | row["annotations"]))), Policy())
    sentences = zip(row["says"].split(" · "), row["reasons"], strict=True)
    said = " · ".join(f"{sentence} [{reason}]" for sentence, reason in sentences)
    assert (answered.status, ours(answered.body.decode())) == (422, f"{said}\n")


def test_make_cases_writes_what_is_missing_and_shows_what_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("http-true", "http-false", "http-yes-refused"):
        shutil.copytree(cases.CASES / name, tmp_path / name)
    cases.main(tmp_path)
    assert capsys.readouterr().out == "3 cases, 0 changed\n"

    (tmp_path / "http-yes-refused" / cases.REFUSAL).unlink()
    (tmp_path / "http-true" / cases.INGRESS).rename(tmp_path / "http-true" / cases.REFUSAL)
    (tmp_path / "http-false" / cases.INGRESS).write_text("# No Ingress.\nkind: Ingress\n")
    cases.main(tmp_path)
    shown = capsys.readouterr().out
    assert shown.endswith("3 cases, 3 changed\n")
    assert '+422 ingress/http: "yes" must be "true" or "false" [invalid-value]\n' in shown
    assert f"removed http-true/{cases.REFUSAL}\n" in shown
    assert "-kind: Ingress\n+null\n" in shown
    for name in ("http-true", "http-false", "http-yes-refused"):
        assert cases.stated(tmp_path / name) == cases.stated(cases.CASES / name)
    assert (tmp_path / "http-false" / cases.INGRESS).read_text() == "# No Ingress.\nnull\n"
