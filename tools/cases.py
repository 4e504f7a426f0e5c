"""The cases: `make cases` writes what each Service in tests/cases now becomes, and shows what that changes.

A new case needs a service.yaml, and a settings.yaml unless it uses the defaults; this writes the rest. Read the diff:
the tests compare every later answer with it.
"""

import difflib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from hooks.metacontroller import answer
from hooks.policy import Policy
from hooks.settings import load
from tests.metacontroller import body, sync_request

FOLDER = Path(__file__).parent.parent / "tests" / "cases"
INGRESS, REFUSAL = "ingress.yaml", "refusal.txt"


def outcome(case: Path) -> tuple[str, Any]:
    """Return the name of the file that holds what the Service of a case becomes, and what should be in it.

    That is ("ingress.yaml", the Ingress), ("ingress.yaml", None) for no Ingress, or ("refusal.txt", the status and the
    sentence).
    """
    settings = case / "settings.yaml"
    request = sync_request(yaml.safe_load((case / "service.yaml").read_text(encoding="utf-8")))
    answered = answer(body(request), load(settings).policy if settings.exists() else Policy())
    if answered.status != 200:
        return REFUSAL, f"{answered.status} {answered.body.decode()}"
    attachments = json.loads(answered.body)["attachments"]
    return INGRESS, attachments[0] if attachments else None


def stated(case: Path) -> tuple[str, Any]:
    """Return the same, as the files of the case have it; ("", None) when there is no such file."""
    if (case / REFUSAL).exists():
        return REFUSAL, (case / REFUSAL).read_text(encoding="utf-8")
    if (case / INGRESS).exists():
        return INGRESS, yaml.safe_load((case / INGRESS).read_text(encoding="utf-8"))
    return "", None


def update(case: Path) -> Iterator[str]:
    """Write what the Service of a case becomes; yield the lines of the diff, none when nothing has changed."""
    name, content = outcome(case)
    if (name, content) == stated(case):
        return
    for other in {INGRESS, REFUSAL} - {name}:
        if (case / other).exists():
            yield f"removed {case.name}/{other}\n"
            (case / other).unlink()
    path = case / name
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = content if name == REFUSAL else comments(before) + written(content)
    path.write_text(after, encoding="utf-8")
    label = f"{case.name}/{name}"
    yield from difflib.unified_diff(before.splitlines(True), after.splitlines(True), label, label)


def comments(text: str) -> str:
    """Return the comment lines that a file begins with."""
    lines = text.splitlines(True)
    count = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:count])


def written(ingress: Any) -> str:
    """Return an Ingress, or None, as YAML."""
    return yaml.safe_dump(ingress, sort_keys=False).removesuffix("...\n")


def main(folder: Path = FOLDER) -> None:
    """Update every case and print what changed."""
    changed = 0
    cases = sorted(folder.iterdir())
    for case in cases:
        lines = list(update(case))
        changed += bool(lines)
        sys.stdout.writelines(lines)
    print(f"{len(cases)} cases, {changed} changed")  # noqa: T201


if __name__ == "__main__":
    main()
