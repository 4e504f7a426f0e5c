"""Commands shown by plans and audits: whatever a dump contains, a shell parses only the intended words."""

import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.adopt.adoption import adoptions_of
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.registry import findings_of
from ingress_manager.commands.plans.plan import Step, listed
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.release import release_of
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item, Unreadable, of_kind
from ingress_manager.commands.snapshot.services import snapshot_of
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.commands.text import Command, is_seen, shown, with_options
from ingress_manager.commands.uninstall import uninstall_steps
from ingress_manager.core.copying import ANY
from ingress_manager.core.settings import Limits, Settings

HOSTILE = st.text(st.sampled_from("ab'\"$`\\;&|<>(){}[]*?#!~=-%^, \n\t\r\0\x1b\x7f\x9b\u200b\u202eé日😀"), max_size=12)
NASTY = st.sampled_from(["'; touch PWNED #", "$(touch PWNED)", "`touch PWNED`", "\ntouch PWNED\n", "--all", "-"])
TEXT = HOSTILE | st.builds("{}{}{}".format, HOSTILE, NASTY, HOSTILE)
NAMES = st.sampled_from(["shop", "shop", "shop"]) | TEXT
COPIED = "external-dns.alpha.kubernetes.io/ttl"
LENIENT = Settings(limits=Limits(copy_annotations={COPIED: ANY}))


@st.composite
def objects(draw: st.DrawFn) -> list[Object]:
    """Draw a Service that may ask for an Ingress, and an Ingress, created for it or hand-written, with any texts."""
    asking = {"ingress/http": "true", "ingress/host": draw(TEXT), "ingress/hots": draw(TEXT)}
    others = draw(st.dictionaries(TEXT.map("ingress/{}".format) | TEXT, TEXT, max_size=1))
    port = draw(NAMES)
    shop = service({**draw(st.sampled_from([{}, asking])), **others}, ports=[{"name": port, "port": 80}])
    shop["metadata"] |= {"name": draw(NAMES), "namespace": draw(st.just("team-a") | NAMES)}
    shop["metadata"] |= draw(st.fixed_dictionaries({}, optional={"uid": TEXT}))
    metadata = {**shop["metadata"], "annotations": {}}
    desired: Object = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata}
    backend = {"service": {"name": shop["metadata"]["name"], "port": {"name": port}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    by_hand = {**desired, "metadata": {**metadata, "resourceVersion": "5", "annotations": {COPIED: draw(TEXT)}}}
    by_hand["spec"] = {"ingressClassName": "nginx", "rules": [{"host": "a.example.com", "http": {"paths": paths}}]}
    return [shop, draw(st.sampled_from([as_created(desired, shop), by_hand]))]


def plans(items: list[Item]) -> Iterator[Iterable[Step]]:
    yield from (release_of(service, items).steps for service in of_kind(items, SERVICE))
    with suppress(Unreadable):
        yield from (adoption.steps for adoption in adoptions_of(items, of_kind(items, INGRESS), LENIENT))
    yield from (uninstall_steps(items, keep=keep) for keep in (True, False))


def checked(command: Command, line: str, options: Sequence[str] = ()) -> None:
    """Check that a line is this command, and that every kubectl argument before `--` is an option."""
    assert tuple(shlex.split(line)) == with_options(command, options)
    if command[0] == "kubectl":
        words = command[3:] if command[1] == "rollout" else command[2:]
        assert all(word.startswith("--") for word in (words[: words.index("--")] if "--" in words else words)), command


@given(objects(), st.lists(TEXT.filter(str.isprintable).map("--context={}".format), max_size=1))
def test_whatever_a_dump_holds_a_shell_reads_only_what_is_meant(drawn: list[Object], options: list[str]) -> None:
    items = read(json.dumps({"kind": "List", "items": drawn}), "f").items
    for plan in plans(items):
        for step in plan:
            lines = [*listed([step], options)]
            assert all(line.isprintable() for line in lines)
            # A shell ignores the rest of a line after #.
            commands = [line for line in lines if not line.startswith("#")]
            assert len(commands) == bool(step.command)
            for line in commands:
                reading = f"printf '%s' {shlex.quote(step.stdin)} | " if step.stdin else ""
                assert line.startswith(reading)
                checked(step.command, line.removeprefix(reading), options)
    with suppress(Unreadable):  # no API server accepts it
        for finding in findings_of(Evidence(snapshot_of(items, LENIENT), LENIENT, Surroundings())):
            if finding.command:
                checked(finding.command, shown(finding.command))


def test_no_word_of_a_command_contains_invisible_characters() -> None:
    """Plans report annotations with invisible characters instead of showing a command that contains them."""
    with pytest.raises(ValueError, match=r"\\x1b\[31mred"):
        shown(("annotate", "a=\x1b[31mred"))


@pytest.mark.parametrize(("text", "seen"), [("a\tb\nü", True), ("a\rb", False), ("\u200b", False)])
def test_a_text_is_visible_unless_part_of_it_moves_the_cursor_or_has_no_glyph(text: str, seen: bool) -> None:
    assert is_seen(text) is seen
