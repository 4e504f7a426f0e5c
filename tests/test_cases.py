"""Every folder of tests/cases is a Service and what becomes of it; a new case needs no code.

service.yaml    the Service; its first line is a comment that says why the case exists
settings.yaml   the administrator's settings, if they aren't the defaults
ingress.yaml    the Ingress it gets, whole; `null`: none
refusal.txt     if it is refused: the status and the refusal, in place of ingress.yaml

`make cases` writes the last two.
"""

import shutil
from pathlib import Path

import pytest

from tools import cases

CASES = sorted(cases.FOLDER.iterdir())
FILES = {"service.yaml", "settings.yaml", cases.INGRESS, cases.REFUSAL}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_service_becomes_what_the_case_says(case: Path) -> None:
    assert cases.outcome(case) == cases.stated(case)


def test_every_case_is_complete_and_says_why_it_exists() -> None:
    assert len(CASES) > 150
    for case in CASES:
        files = {path.name for path in case.iterdir()}
        assert "service.yaml" in files, case.name
        assert len(files & {cases.INGRESS, cases.REFUSAL}) == 1, f"{case.name}: either an Ingress or a refusal"
        assert files <= FILES, case.name
        assert (case / "service.yaml").read_text(encoding="utf-8").startswith("# "), case.name


def test_make_cases_writes_what_is_missing_and_shows_what_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("http-true", "http-false", "http-yes-refused"):
        shutil.copytree(cases.FOLDER / name, tmp_path / name)
    cases.main(tmp_path)
    assert capsys.readouterr().out == "3 cases, 0 changed\n"

    (tmp_path / "http-yes-refused" / cases.REFUSAL).unlink()
    (tmp_path / "http-true" / cases.INGRESS).rename(tmp_path / "http-true" / cases.REFUSAL)
    (tmp_path / "http-false" / cases.INGRESS).write_text("# No Ingress.\nkind: Ingress\n")
    cases.main(tmp_path)
    shown = capsys.readouterr().out
    assert shown.endswith("3 cases, 3 changed\n")
    assert '+422 ingress/http: "yes" must be "true" or "false"\n' in shown
    assert f"removed http-true/{cases.REFUSAL}\n" in shown
    assert "-kind: Ingress\n+null\n" in shown
    for name in ("http-true", "http-false", "http-yes-refused"):
        assert cases.stated(tmp_path / name) == cases.stated(cases.FOLDER / name)
    assert (tmp_path / "http-false" / cases.INGRESS).read_text() == "# No Ingress.\nnull\n"
