"""A short search for Ingresses that Kubernetes rejects, with tests/core/validation.py; `make fuzz` is the long one."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from devcluster import build
from devcluster.errors import CommandFailed, MissingProgram
from devcluster.programs import VALIDATOR
from devcluster.sync_requests import Object, service
from tests.core import validation
from tests.core.validation import ESCAPES, PATH_CHARACTERS, Maker, as_sent, complaints, ingress_for, main

PARENT = service({"ingress/http": "true", "ingress/host": "*.shop.example.com", "ingress/tls-secret": "shop-tls"})


@pytest.fixture(scope="module")
def program() -> Path:
    """Return the validator. It isn't built here, which can take minutes: `make test` has built it."""
    path = build.built(VALIDATOR)
    if path is None:
        pytest.skip("NOT VALIDATED BY KUBERNETES: `python -m devcluster build` builds what that needs; it needs Go")
    return path


def valid_ingress() -> Object:
    """Return the Ingress of PARENT as Metacontroller creates it."""
    desired = ingress_for(PARENT)
    assert desired
    return as_sent(desired, PARENT)


@pytest.mark.usefixtures("program")
def test_kubernetes_accepts_every_ingress_that_the_hook_makes() -> None:
    # In a process of its own, where no coverage is measured: that would make it take three times as long.
    command = [sys.executable, "-m", "tests.core.validation", "--count", "5000", "--seed", "1"]
    ended = subprocess.run(command, cwd=build.REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = re.fullmatch(
        r"validation: (\d,\d+) Ingresses accepted by Kubernetes' own validation \(v1\.36\.\d+\), none rejected "
        r"\(seed 1; the hook refused ([\d,]+) other Services\)\n",
        ended.stdout,
    )
    assert said, ended.stdout
    accepted, refused = [int(number.replace(",", "")) for number in said.groups()]
    assert accepted + refused == 5000
    assert accepted > 3500, "most Services are to get an Ingress, or little is tested"


def test_what_is_made_up_reaches_the_edges_of_what_the_hook_accepts() -> None:
    maker = Maker(1)
    made = [ingress for _ in range(1000) if (ingress := ingress_for(maker.service()))]
    rules = [rule for ingress in made for rule in ingress["spec"]["rules"]]
    paths = [path for rule in rules for path in rule["http"]["paths"]]
    hosts = [rule["host"] for rule in rules]
    assert {max(map(len, hosts)), max(len(host) for host in hosts if host.startswith("*."))} == {253}
    assert {max(len(label) for label in host.split(".")) for host in hosts} >= {1, 2, 63}
    assert max(len(ingress["spec"]["rules"]) for ingress in made) == 100
    assert max(sum(len(rule["http"]["paths"]) for rule in ingress["spec"]["rules"]) for ingress in made) == 1000
    assert {len(ingress["metadata"][field]) for ingress in made for field in ("name", "namespace")} >= {1, 63}
    assert any(ingress["metadata"]["name"].isdigit() for ingress in made)
    for path_type, characters in PATH_CHARACTERS.items():
        of_type = [path["path"] for path in paths if path["pathType"] == path_type]
        assert {len(path) for path in of_type} >= {1, 2, 1024}
        assert {*"".join(of_type)} >= {*characters, "%"}
        assert {*re.findall("%..", " ".join(of_type))} >= {*ESCAPES}


def test_the_same_seed_makes_the_same_services() -> None:
    one, same, another = Maker(1), Maker(1), Maker(2)
    assert [one.service() for _ in range(20)] == [same.service() for _ in range(20)]
    assert one.service() != another.service()


PATH = "spec.rules[0].http.paths[0]"
BACKEND = f"{PATH}.backend.service"


@pytest.mark.parametrize(
    ("at", "wrong"),
    [
        ("metadata.name", "Shop"),
        ("metadata.name", "a" * 254),
        ("metadata.namespace", "team.a"),
        ("metadata.annotations", {"two words": ""}),
        ("metadata.annotations", {"example.com/a": "a" * 256 * 1024}),
        ("metadata.ownerReferences", [{"apiVersion": "v1", "kind": "Service", "name": "shop", "uid": ""}]),
        ("spec.ingressClassName", "nginx_1"),
        ("spec.tls[0].hosts[0]", "*.*.example.com"),
        ("spec.tls[0].secretName", "-"),
        ("spec.rules", []),
        ("spec.rules[0].host", "Shop.example.com"),
        ("spec.rules[0].host", "shop..example.com"),
        ("spec.rules[0].host", "shop_1.example.com"),
        ("spec.rules[0].host", "192.168.0.1"),
        ("spec.rules[0].host", "*"),
        ("spec.rules[0].host", "*shop.example.com"),
        ("spec.rules[0].host", "shop.*.com"),
        ("spec.rules[0].host", f"{'a.' * 126}ab"),
        ("spec.rules[0].http.paths", []),
        (f"{PATH}.pathType", "prefix"),
        (f"{PATH}.pathType", None),
        (f"{PATH}.path", ""),
        (f"{PATH}.path", "shop"),
        (f"{PATH}.path", "/a//b"),
        (f"{PATH}.path", "/a/../b"),
        (f"{PATH}.path", "/a/."),
        (f"{PATH}.path", "/a%2fb"),
        (f"{PATH}.path", "/a%2Fb"),
        (f"{BACKEND}.name", "a.b"),
        (f"{BACKEND}.name", "a" * 64),
        (f"{BACKEND}.port.number", 65536),
        (f"{BACKEND}.port.name", "http"),
        ("spec.path", "/"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_ingress_is_rejected(program: Path, at: str, wrong: object) -> None:
    ingress = valid_ingress()
    *inside, last = [int(key) if key.isdigit() else key for key in re.findall(r"\w+", at)]
    parent: Any = ingress
    for key in inside:
        parent = parent[key]
    parent[last] = wrong

    before, after = complaints(program, [valid_ingress(), ingress])

    assert before == []
    assert after
    assert all(is_about(at, complaint) for complaint in after), after


def is_about(field: str, complaint: str) -> bool:
    """Return whether a complaint names the field, or one that it is in, or one that is in it."""
    unknown = re.search(r'unknown field "(.*)"', complaint)
    named = unknown[1] if unknown else complaint.partition(": ")[0]
    return field.startswith(named) or named.startswith(field)


def test_an_object_of_another_kind_or_version_is_rejected_as_what_it_is(program: Path) -> None:
    older = valid_ingress() | {"apiVersion": "networking.k8s.io/v1beta1", "spec": {}}

    (a_service,), an_older_one, nothing = complaints(program, [PARENT, older, {}])

    assert a_service.startswith('no kind "Service" is registered')
    assert an_older_one == ["networking.k8s.io/v1beta1, Kind=Ingress is not networking.k8s.io/v1, Kind=Ingress"]
    assert nothing == ["Object 'Kind' is missing in '{}'"]


def test_a_validator_that_fails_is_an_error(program: Path) -> None:
    with pytest.raises(CommandFailed, match="token too long"):
        complaints(program, [{"larger than the API server takes": "a" * (5 << 20)}])


@pytest.mark.usefixtures("program")
def test_the_command_shows_a_finding_with_the_service_and_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(parent: Object) -> Object | None:
        desired = ingress_for(parent)
        if desired and parent is PARENT:
            desired["spec"]["rules"][0]["host"] = "shop_1.example.com"
        return desired

    made_up = iter([service({"ingress/http": "true"}), PARENT])
    monkeypatch.setattr(validation, "ingress_for", careless)
    monkeypatch.setattr(Maker, "service", lambda _maker: next(made_up))

    result = CliRunner().invoke(main, ["--count", "2", "--seed", "7"])

    assert result.exit_code == 1
    shown, reason, end = result.stdout.splitlines()
    assert '"ingress/host":"*.shop.example.com"' in shown
    assert 'spec.rules[0].host: Invalid value: "shop_1.example.com"' in reason
    assert end.startswith("validation: 1 Ingresses accepted")
    assert "1 rejected (seed 7;" in end


def test_without_a_validator_the_command_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_none(*_: object) -> None:
        raise MissingProgram("Go is needed")

    monkeypatch.setattr(validation, "find_own", find_none)

    result = CliRunner().invoke(main, ["--count", "1"])

    assert result.exit_code == 2
    assert "Error: Go is needed" in result.stderr
