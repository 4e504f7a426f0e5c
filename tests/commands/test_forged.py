"""kubectl's output and a folder's files may be forged: a command reports this in single lines, and never crashes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object, service
from ingress_manager.commands.text import is_seen
from tests import dumps
from tests.commands.commands import Cluster, event, listing, put, run, settings_on_a_cluster

EVIL = "\x1b[31m\x9b\u202eevil\nline\r\x07"
SHOP, OURS, ROUTE, BY_HAND = dumps.objects([
    {"Service": {"host": "a.example.com"}, "Ingress": {"version": "5", "address": "::1"}, "HTTPRoute": {}},
    {"Ingress": {"host": "a.example.com", "uid": "5", "version": "5"}},
])  # fmt: skip
ANSWERS: dict[str, list[Object]] = {
    "events": [event(SHOP, "Ingress team-a/shop doesn't exist yet [not-made]")],
    "services": [SHOP],
    "services,ingresses": [SHOP, OURS],
    "ingresses": [BY_HAND],
    "ingresses.networking.k8s.io": [OURS],
    "httproutes.gateway.networking.k8s.io": [ROUTE],
    **{name: answer["items"] for name, answer in settings_on_a_cluster("defaults: {class: nginx}\n").items()},
    "compositecontrollers.metacontroller.k8s.io": [],
}
COMMANDS = (
    ["render"],
    *([command, "-o", form] for command in ("audit", "status") for form in ("table", "json")),
    ["status", "team-a/shop"],
    *(["adopt", "team-a/shop"], ["release", "team-a/shop"], ["release", "team-a/shop", "--apply"]),
    *(["uninstall", "--keep"], ["uninstall", "--remove", "--apply"]),
)


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


NUMBERS = [0, -1, True, 1e400, 10**400]
ODD = [None, *NUMBERS, "", "--all", EVIL, "\0", [], [None], [EVIL], {}, {EVIL: EVIL}, nested(150), nested(900)]


class Forged(Cluster):
    """Returns any text where a test sets no answer."""

    def answer(self, words: Sequence[str], stdin: str) -> str:
        name = words[words.index("--") + 1]
        answer = self.answers.get(name, f"7 {EVIL}") if words[0] == "get" else ""
        assert stdin == ""
        return answer if isinstance(answer, str) else json.dumps(listing() | {"items": answer})


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


@given(st.data())
def test_whatever_kubectl_prints_is_reported_in_lines_without_terminal_codes(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([key for key, objects in ANSWERS.items() if objects]))
    place = data.draw(st.sampled_from(list(places(ANSWERS[name]))))
    forged = put(ANSWERS[name], place, data.draw(st.sampled_from(ODD)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        Forged(monkeypatch, {**ANSWERS, name: forged})
        for command in COMMANDS:
            ended = run(*command)
            assert ended.status in {0, 1, 2}
            assert is_seen(ended.out + ended.err), command


def test_the_name_of_a_file_is_shown_on_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    bad = json.dumps(service({"ingress/http": "maybe"}))
    (folder / "\x1b[31m\udcff.json").write_text(bad)
    (tmp_path / "settings.yaml").touch()
    ended = run("audit", "-o", "json", "-f", folder, "--current-settings", tmp_path / "settings.yaml")
    assert json.loads(ended.out)["findings"][0]["file"] == f"{folder}/\\x1b[31m\\udcff.json"
    (folder / "\x1b[31m.yaml").symlink_to("nowhere")
    ended = run("audit", "-f", folder)
    assert (ended.status, is_seen(ended.err)) == (2, True)
