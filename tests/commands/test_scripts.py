"""Every script that a command prints, run by the shells that people have.

On PATH are a kubectl and an ingress-manager that write down their arguments, a `sleep` that does the same, grep and
tail: just the words that are meant arrive, in their order, and nothing else runs.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object, as_created, service
from ingress_manager.commands.adopt.adoption import adopt
from ingress_manager.commands.adopt.adoption import lines as lines_of
from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.plans.plan import Pause, Seen, Step, going_back, late, script, without_events
from ingress_manager.commands.printing.words import Command, shown, with_options
from ingress_manager.commands.reading.kinds import INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests, read
from ingress_manager.commands.release.releases import release
from ingress_manager.commands.uninstall_plan.plan import lines as lines_of_uninstalling
from ingress_manager.commands.uninstall_plan.plan import uninstall_plan
from ingress_manager.core.copying import ANY
from ingress_manager.core.policy import Limits, Policy
from tools import adoptions, cases, debian, dumps, golden

WRITES_DOWN = r"""#!/bin/sh
printf '%s\0' "$#" "${0##*/}" "$@" >> "$CALLS"
"""
KUBECTL = f"""{WRITES_DOWN}
for last; do :; done
[ "$1 $last" != "$FAILS" ] || exit 1
[ "$1" = get ] || exit 0
read -r count < "$COUNT"
echo $((count + 1)) > "$COUNT"
while IFS= read -r event; do echo "$count $event"; done < "$EVENTS"
"""
"""At each look it has all Events anew, as if Metacontroller had seen everything. It FAILS by its verb and last word."""


FEW = 3
"""Seconds: for how many looks something is waited for in vain."""


class Script(NamedTuple):
    """A script, and what it is meant to run, each with its program."""

    text: str
    commands: list[Command]
    events: tuple[str, ...] = ()
    """What Metacontroller reports, as long as it runs."""


def shell(name: str) -> list[str]:
    """Return the command that runs a script with a shell, where this machine has it."""
    if name == "busybox":
        return [str(unpacked(debian.BUSYBOX).path), "sh"]
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"NOT CHECKED WITH {name.upper()}: there is none on PATH")
    return [path]


def unpacked(package: debian.Package) -> debian.Program:
    """Return a program that Debian has, where this machine has it."""
    found = debian.find(package)
    if found is None:
        pytest.skip(f"NOT CHECKED WITH {package.name.upper()}: `python -m tools.debian` gets it")
    return found


@pytest.fixture(
    scope="module", params=["dash", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("bash", "busybox"))]
)
def sh(request: pytest.FixtureRequest) -> list[str]:
    return shell(request.param)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all the programs that a script can run."""
    folder = tmp_path_factory.mktemp("path")
    for name, text in {"kubectl": KUBECTL, "ingress-manager": WRITES_DOWN, "sleep": WRITES_DOWN}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name in ("grep", "tail"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


def ran(sh: list[str], path: Path, made: Script, fails: str = "", told: str = "") -> list[Command]:
    """Return what a shell ran, each with its program. Nothing was printed but what is told, and nothing was written."""
    with TemporaryDirectory() as folder:
        empty = Path(folder, "empty")
        empty.mkdir()
        files = {name: Path(folder, name.lower()) for name in ("SCRIPT", "CALLS", "COUNT", "EVENTS")}
        for name, text in {
            "SCRIPT": made.text,
            "COUNT": "0\n",
            "EVENTS": "".join(f"{e}\n" for e in made.events),
        }.items():
            files[name].write_text(text, encoding="utf-8")
        environment = {"PATH": str(path), "FAILS": fails, **{name: str(file) for name, file in files.items()}}
        ended = subprocess.run(
            [*sh, str(files["SCRIPT"])], cwd=empty, env=environment, capture_output=True, check=False, timeout=60
        )
        assert (ended.returncode, ended.stdout, ended.stderr.decode()) == (bool(fails or told), b"", told), made.text
        assert list(empty.iterdir()) == [], made.text
        return list(calls(files["CALLS"].read_text(encoding="utf-8"))) if files["CALLS"].exists() else []


def calls(written: str) -> Iterator[Command]:
    words = iter(written.split("\0")[:-1])
    for count in words:
        yield tuple(next(words) for _ in range(int(count) + 1))


# What is printed.


def of_steps(steps: Iterable[Step], options: Sequence[str] = ()) -> Script:
    """Return the script of a plan."""
    plan = list(steps)
    meant: list[Command] = []
    for step in plan:
        before = [each.command for each in step.until if isinstance(each, Seen) and each.is_new]
        command = [step.command] if step.command else []
        meant += [with_options(each, options) for each in (*before, *command)]
        meant += [
            ("sleep", str(until.seconds)) if isinstance(until, Pause) else with_options(until.command, options)
            for until in step.until
        ]
    events = tuple(until.text for step in plan for until in step.until if isinstance(until, Seen))
    return Script("".join(f"{line}\n" for line in script(plan, options)), meant, events)


def of_adoptions(
    found: Manifests, ingresses: Iterable[Item], policy: Policy, accepted: Sequence[str], options: Sequence[str] = ()
) -> list[Script]:
    """Return what `adopt` prints: the script of the steps, or the one that is advised instead."""
    scripts = []
    for adoption in adopt(found, ingresses, policy, accepted):
        meant = of_steps([*adoption.advice, *adoption.steps], options)
        if adoption.becomes and not meant.events:
            meant.commands.append(("ingress-manager", "adopt", adoption.item.full_name, "--apply"))
        printed = "".join(f"{line.removeprefix('#   ')}\n" for line in lines_of(adoption, options))
        scripts.append(meant._replace(text=printed))
    return scripts


def of_audit(items: Iterable[Item], policy: Policy) -> Script:
    commands = [found.command for found in audit(items, policy).findings if found.command]
    return Script("".join(f"{shown(each)}\n" for each in commands), commands)


def managed() -> Manifests:
    """Return a Service with all that can be made for one, and another that has only asked."""
    shop = service({"ingress/http": "true", "ingress/routes": "- path: /a\n- path: '/b'\n"})
    versions = {"Ingress": "networking.k8s.io/v1", "HTTPRoute": "gateway.networking.k8s.io/v1"}
    made = [
        as_created({"apiVersion": version, "kind": kind, "metadata": {"name": "shop", "namespace": "team-a"}}, shop)
        for kind, version in versions.items()
    ]
    return read(json.dumps({"kind": "List", "items": [shop, *made]}))


def all_scripts() -> Iterator[Script]:
    for each in adoptions.cases().values():
        yield from of_adoptions(*adoptions.adoptable(each))
    for audited in golden.cases_in(cases.AUDITS):
        yield of_audit(dumps.manifests(audited).items, audited.policy)
    for made in release(managed(), managed().of_kind(SERVICES)):
        yield of_steps(made.steps)
        yield of_steps(without_events(made.steps))
    yield of_steps(uninstall_plan(managed(), keep=True))
    yield of_steps(uninstall_plan(managed(), keep=False, has_controllers=True))


def test_each_case_runs_what_is_meant_and_nothing_else(sh: list[str], path: Path) -> None:
    scripts = list(all_scripts())
    assert sum(len(made.commands) for made in scripts) > 300
    for made in scripts:
        assert ran(sh, path, made) == made.commands, made.text


def test_shellcheck_finds_nothing_in_a_script_of_any_case(tmp_path: Path) -> None:
    """Of a POSIX shell: it also knows what dash, bash and BusyBox have beside one."""
    shellcheck = unpacked(debian.SHELLCHECK)
    uninstall = "".join(f"{line}\n" for line in lines_of_uninstalling(uninstall_plan(managed(), keep=True)))
    for number, text in enumerate([uninstall, *(made.text for made in all_scripts())]):
        (tmp_path / f"{number}.sh").write_text(text, encoding="utf-8")
    names = sorted(file.name for file in tmp_path.iterdir())
    ended = shellcheck.run("--shell=sh", "--format=gcc", *names, folder=tmp_path)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)


def waiting_plans() -> Iterator[Sequence[Step]]:
    for name in ("annotated-otherwise", "several-services", "several-services-of-other-names"):
        [adoption] = adopt(*adoptions.adoptable(adoptions.cases()[name]))
        yield adoption.steps
    for released in release(managed(), managed().of_kind(SERVICES)):
        yield released.steps


def test_what_is_waited_for_in_vain_ends_the_script_and_how_to_go_back_is_told(sh: list[str], path: Path) -> None:
    ended = 0
    for plan in waiting_plans():
        for number, step in enumerate(plan):
            for place, until in enumerate(step.until):
                if isinstance(until, Pause):
                    continue
                events = of_steps(plan[:number]).events + of_steps([replace(step, until=step.until[:place])]).events
                if any(until.text in event for event in events) and not until.is_new:
                    continue  # it is seen as before
                commands = of_steps([*plan[:number], replace(step, until=step.until[: place + 1])]).commands
                back = going_back(plan[: number + 1], ())
                text = "".join(f"{line}\n" for line in script(plan, seconds=FEW))
                last = events[-1] if events else ""
                more = 0 if until.at_once else FEW - 1
                looks = len([words for words in commands if words[1] == "get"]) + more - 1
                told = [late(until, FEW), f"Last seen: {f'{looks} {last}' if events else ''}", *back]
                commands += [("sleep", "1"), until.command] * more
                printed = "".join(f"{line}\n" for line in told)
                assert ran(sh, path, Script(text, commands, events), told=printed) == commands
                ended += 1
    assert ended == 13


def test_no_step_is_taken_after_one_that_failed(sh: list[str], path: Path) -> None:
    """Not even by a shell that goes on after an error, as one does into which lines are pasted."""
    for plan in (*waiting_plans(), *map(without_events, waiting_plans())):
        made = of_steps(plan)
        verbs = {words[1] for words in made.commands}
        for verb in verbs & {"annotate", "patch", "delete"}:
            number = next(number for number, words in enumerate(made.commands) if words[1] == verb)
            fails = f"{verb} {made.commands[number][-1]}"
            assert ran(sh, path, made, fails) == made.commands[: number + 1]


def test_no_word_of_a_script_holds_what_a_person_would_not_see() -> None:
    """What a command tells in a sentence of its own never comes so far."""
    with pytest.raises(ValueError, match=r"\\x1b\[31mred"):
        shown(("annotate", "a=\x1b[31mred"))


def test_whatever_the_names_are_kubectl_takes_them_for_names() -> None:
    """Between its verb and the `--` before them are options alone."""
    commands = [command for made in all_scripts() for command in made.commands if command[0] == "kubectl"]
    for command in commands:
        words = command[3:] if command[1] == "rollout" else command[2:]
        options = words[: words.index("--")] if "--" in words else words
        assert all(option.startswith("--") for option in options), command


# What may be anything.

HOSTILE = st.text(st.sampled_from("ab'\"$`\\;&|<>(){}[]*?#!~=-%^, \n\t\r\0\x1b\x7f\x9b\u200b\u202eé日😀"), max_size=12)
NASTY = st.sampled_from(
    ["'; touch PWNED #", "$(touch PWNED)", "`touch PWNED`", "\ntouch PWNED\n", "--all", "-n", "-", "\\"]
)
TEXT = HOSTILE | st.builds("{}{}{}".format, HOSTILE, NASTY, HOSTILE)
NAMES = st.sampled_from(["shop", "shop", "shop"]) | TEXT
COPIED = "external-dns.alpha.kubernetes.io/ttl"
LENIENT = Policy(limits=Limits(copy_annotations={COPIED: ANY}))


@st.composite
def services(draw: st.DrawFn) -> Object:
    """Draw a Service that perhaps asks for an Ingress, with anything anywhere."""
    asking = {"ingress/http": "true", "ingress/host": draw(TEXT), "ingress/hots": draw(TEXT)}
    others = draw(st.dictionaries(TEXT.map("ingress/{}".format) | TEXT, TEXT, max_size=1))
    made = service({**draw(st.sampled_from([{}, asking])), **others}, ports=[{"name": draw(NAMES), "port": 80}])
    made["metadata"] |= {"name": draw(NAMES), "namespace": draw(st.just("team-a") | NAMES)}
    return {**made, "metadata": {**made["metadata"], **draw(st.fixed_dictionaries({}, optional={"uid": TEXT}))}}


@st.composite
def objects(draw: st.DrawFn) -> list[Object]:
    """Draw a Service, and an Ingress that was made for it or by a person."""
    shop = draw(services())
    own: Object = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": dict(shop["metadata"], annotations={}),
    }
    made = as_created(own, shop)
    backend = {"service": {"name": shop["metadata"]["name"], "port": {"name": shop["spec"]["ports"][0]["name"]}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    annotations = {COPIED: draw(TEXT)}
    by_hand: Object = {
        **own,
        "metadata": {**own["metadata"], "resourceVersion": "5", "annotations": annotations},
    }
    by_hand["spec"] = {"ingressClassName": "nginx", "rules": [{"host": "a.example.com", "http": {"paths": paths}}]}
    return [shop, draw(st.sampled_from([made, by_hand]))]


@given(objects(), st.lists(TEXT.filter(str.isprintable).map("--context={}".format), max_size=1))
def test_whatever_a_dump_holds_only_what_is_meant_runs(
    sh: list[str], path: Path, drawn: list[Object], options: list[str]
) -> None:
    manifests = read(json.dumps({"kind": "List", "items": drawn}), "f")
    scripts = [
        *(of_steps(made.steps, options) for made in release(manifests, manifests.of_kind(SERVICES))),
        *of_adoptions(manifests, manifests.of_kind(INGRESSES), LENIENT, (), options),
        of_steps(uninstall_plan(manifests, keep=True, has_controllers=True), options),
        of_steps(uninstall_plan(manifests, keep=False), options),
        of_audit(manifests.items, LENIENT),
    ]
    for made in scripts:
        assert made.text.replace("\n", "").replace("\t", "").isprintable()
    together = Script(
        "".join(made.text for made in scripts),
        [command for made in scripts for command in made.commands],
        tuple(event for made in scripts for event in made.events),
    )
    assert ran(sh, path, together) == together.commands, together.text
