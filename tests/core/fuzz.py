"""Fuzzing: a coverage-guided fuzzer (atheris) makes up inputs, and each answer is checked for what must always be true.

    python -m tests.core.fuzz [--seconds N] [--executions N] [libFuzzer options]     search
    python -m tests.core.fuzz .build/fuzz/crash-…                                    replay one stored input

It ends with one line: executions and findings; the status is 0 when nothing was found. A search stops at its first
finding. Unlike test_properties.py it sees which lines of hooks/ an input reached, and digs where that is new.

libFuzzer ends its process without returning to Python. So the search runs in a child process (`--inside`), and this one
reads from its output how much was done.
"""

# ruff: noqa: PLC0415 - hooks is imported by the child alone, instrumented; atheris is not to be had everywhere
# ruff: noqa: SIM905 - ninety words, one a line, are not easier to read

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from devcluster.build import REPOSITORY
from devcluster.sync_requests import Object, as_created, body, service, sync_request
from tests.core.forbidden import forbidden
from tests.core.kubernetes import MOST_ANNOTATION_BYTES, HTTPRoute, Ingress, route_rules_broken, rules_broken

STORE = REPOSITORY / ".build" / "fuzz"
INSIDE = "--inside"
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1", "-len_control=0")
"""An input that takes ten seconds counts as a hang, and is a finding. Inputs are long from the beginning: what is made
of a short one is hardly ever a whole request."""

Drawn = TypeVar("Drawn")

# What inputs are made of. Each list holds right words, words that are nearly right, and bits to build others from.
KEYS = (
    "ingress/host ingress/path ingress/path-type ingress/port ingress/class ingress/tls ingress/tls-secret "
    "ingress/routes ingress/http ingress/hots ingress/not-copied ingress/"
).split()
CONTROLLER_KEYS = (
    "prometheus.io/scrape cert-manager.io/cluster-issuer kubernetes.io/tls-acme "
    "nginx.ingress.kubernetes.io/proxy-read-timeout nginx.ingress.kubernetes.io/ssl-redirect "
    "nginx.ingress.kubernetes.io/proxy-body-size nginx.ingress.kubernetes.io/configuration-snippet "
    "nginx.ingress.kubernetes.io/auth-url nginx.ingress.kubernetes.io/limit-rps "
    "traefik.ingress.kubernetes.io/router.middlewares haproxy.org/server-ssl"
).split()
VALUES = ["", "30", "-1", "8m", "true", "letsencrypt", "a&b", "&" * 50_000, "9223372036854775807", "1;}"]
WORDS = (
    "true false yes shop.example.com www.example.com example.com evil.com *.example.com *.a.example.com *. * . .. / "
    "// /api /a/b /a%20b %2f %2E %5c %00 Prefix Exact ImplementationSpecific prefix http web 80 080 8080 1:20 0x50 -1 "
    "65536 1.2.3.4 0x7f.1 [::1] xn--bcher-kva bücher ... - _ , : ; $ \\ ' \" ` { } < > & # ? @ ! | ~ {service} "
    "{namespace} {x} letsencrypt shop-tls null ~ &a *a !!str <<: \u2028 \u202e \0 \n \t \x1b \x7f \u00a0 \ud800 😀"
).split(" ")
HOSTS = "shop.example.com *.example.com *.a.example.com example.com example *.com a.b.c.example.com evil.com".split()
PATHS = ["/", "/api", "/api/", "/a%20b", "/a/b.html", "/&", "/" + "&" * 1000]
TYPES = "Prefix Exact ImplementationSpecific".split()
PORTS = "80 8080 http web metrics 0 65536 080".split()
TEMPLATES = ["example.com", "{service}.example.com", "{service}.{namespace}.example.com", "*.{service}.example.com"]
NAMES = "shop a-b tls x1".split()
CLASSES = ["nginx", "internal"]
PATTERNS = [*HOSTS, "*.{namespace}.example.com", "{namespace}.example.com"]
SETTINGS = (
    "host class classes tls enabled secret annotations copyAnnotations pathTypes namespaces hosts any paused team-a "
    "'*' hots Prefix outputs httproute gateway name namespace"
).split()


class Draw:
    """Values made of the fuzzer's bytes. The same bytes make the same values, which is how an input is replayed."""

    def __init__(self, data: bytes) -> None:
        import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self.source = atheris.FuzzedDataProvider(data)

    def number(self, least: int, most: int) -> int:
        drawn: int = self.source.ConsumeIntInRange(least, most)
        return drawn

    def one_in(self, chances: int) -> bool:
        return self.number(1, chances) == chances

    def pick(self, values: list[Drawn] | tuple[Drawn, ...]) -> Drawn:
        return values[self.number(0, len(values) - 1)]

    def several(self, most: int, draw: Callable[[], Drawn], least: int = 0) -> list[Drawn]:
        return [draw() for _ in range(self.number(least, most))]

    def text(self) -> str:
        """Return words run together, and sometimes far too many of them."""
        made = "".join(self.several(6, lambda: self.pick(WORDS) if self.one_in(2) else self.characters()))
        return made * self.pick([10, 300, 50_000]) if len(made) < 3 and self.one_in(10) else made

    def characters(self) -> str:
        drawn: str = self.source.ConsumeUnicode(self.number(0, 8))
        return drawn

    def mostly(self, right: list[str]) -> str:
        return self.text() if self.one_in(12) else self.pick(right)

    def json(self, depth: int = 3) -> Any:
        kind = self.number(0, 7 if depth else 5)
        if kind == 6:
            return self.several(3, lambda: self.json(depth - 1))
        if kind == 7:
            return {self.pick([*KEYS, *SETTINGS]): self.json(depth - 1) for _ in range(self.number(0, 3))}
        return (None, True, self.number(-(2**63), 2**64 - 1), 0.5, self.text(), "")[kind]

    def annotations(self) -> dict[str, str]:
        made = {"ingress/http": "true" if not self.one_in(8) else self.text()}
        for key, right in (
            ("ingress/path", PATHS),
            ("ingress/path-type", TYPES),
            ("ingress/port", PORTS),
            ("ingress/class", CLASSES + NAMES),
            ("ingress/tls", ["true", "false"]),
            ("ingress/tls-secret", NAMES),
        ):
            if self.one_in(4):
                made[key] = self.mostly(right)
        if self.one_in(2):
            made["ingress/host"] = ",".join(self.several(3, lambda: self.mostly(HOSTS), least=1))
        if self.one_in(3):
            made["ingress/routes"] = self.routes()
        keys = KEYS if self.one_in(8) else CONTROLLER_KEYS
        return made | {self.pick(keys): self.mostly(VALUES) for _ in range(self.number(0, 2))}

    def routes(self) -> str:
        """Return a list of routes, mostly in YAML's flow style, or a text that is none."""
        if self.one_in(8):
            return self.text()
        fields = {"host": HOSTS, "path": PATHS, "pathType": TYPES, "port": PORTS, "hots": NAMES}
        routes = self.several(
            least=1,
            most=4,
            draw=lambda: {
                key: self.mostly(right) for key, right in fields.items() if self.one_in(30 if key == "hots" else 2)
            },
        )
        return json.dumps(routes)

    def service(self) -> Object:
        ports = self.several(
            4,
            lambda: {
                "port": self.pick([80, 8080, 443, 1, 65535]),
                "protocol": self.pick(["TCP", "TCP", "UDP", "SCTP"]),
                **({"name": self.pick(PORTS)} if self.one_in(2) else {}),
                **({"appProtocol": self.pick(["http", "kubernetes.io/h2c"])} if self.one_in(4) else {}),
            },
            least=0 if self.one_in(20) else 1,
        )
        kind = "ExternalName" if self.one_in(20) else "ClusterIP"
        made = service(self.annotations(), type=kind, ports=ports)
        made["metadata"]["name"] = self.pick(NAMES)
        return made

    def changed(self, parent: Object) -> Object:
        """Return a Service of the same name after its owner has changed it: with a mistake, or altogether."""
        metadata, spec = parent["metadata"], parent["spec"]
        mistake = self.pick([{"ingress/oops": ""}, {"ingress/port": "none"}, {"ingress/http": "yes"}, {}])
        if self.one_in(4):
            spec = self.pick([{**spec, "type": "ExternalName"}, {**spec, "ports": []}])
        if self.one_in(4):
            other = self.service()
            metadata, spec = {**metadata, "annotations": other["metadata"]["annotations"]}, other["spec"]
        changed = {**metadata, "annotations": {**metadata["annotations"], **mistake}}
        return {**parent, "metadata": changed, "spec": spec}

    def settings(self) -> Object:
        """Return settings that are mostly right."""
        made: Object = {
            "host": self.pick(TEMPLATES),
            "class": self.pick([None, "nginx"]),
            "tls": {
                "enabled": self.one_in(2),
                "secret": self.pick([None, "tls", "{service}-{namespace}"]),
                "annotations": self.administrators(),
            },
            "annotations": self.administrators(),
            "pathTypes": self.pick([["Prefix"], ["Prefix", "Exact"], TYPES]),
            "namespaces": {name: self.in_namespace() for name in ("team-a", "*") if self.one_in(2)},
            "paused": self.one_in(10),
            "outputs": self.outputs(),
            "gateway": self.gateway(),
        }
        if self.one_in(2):
            made["copyAnnotations"] = {key: self.limit(VALUES[1:]) for key in CONTROLLER_KEYS if self.one_in(3)}
        return made

    def outputs(self) -> list[str]:
        return self.pick([["ingress"], ["ingress"], ["httproute"], ["ingress", "httproute"]])

    def gateway(self) -> Object:
        made: Object = {"name": self.pick(NAMES), "namespace": "infrastructure"}
        return made | {key: self.pick([None, "web"]) for key in ("http", "https") if self.one_in(3)}

    def administrators(self) -> dict[str, str]:
        return {key: self.pick(VALUES) for key in CONTROLLER_KEYS if self.one_in(20)}

    def limit(self, allowed: list[str]) -> Any:
        return "any" if self.one_in(2) else self.several(3, lambda: self.pick(allowed), least=1)

    def in_namespace(self) -> Object:
        choices: Object = {
            "hosts": self.limit(PATTERNS),
            "classes": self.limit(CLASSES),
            "class": self.pick(CLASSES),
            "host": self.pick([None, *TEMPLATES]),
            "tls": {"enabled": self.one_in(2), "annotations": self.administrators()},
            "annotations": self.administrators(),
            "outputs": self.outputs(),
        }
        return {key: value for key, value in choices.items() if self.one_in(2)}

    def spoiled(self, value: Any) -> Any:
        """Return `value` with one thing inside it replaced by anything."""
        if isinstance(value, dict) and value and not self.one_in(5):
            key = self.pick(sorted(value))
            return {**value, key: self.spoiled(value[key])}
        if isinstance(value, list) and value and not self.one_in(5):
            at = self.number(0, len(value) - 1)
            return [*value[:at], self.spoiled(value[at]), *value[at + 1 :]]
        return self.json()

    def yaml(self) -> str:
        """Return settings as YAML, right or spoiled, or any text."""
        if self.one_in(3):
            indents = ["\n", "\n  ", ": ", "- ", "[", "]", "{", "}", "# "]
            return "".join(self.several(20, lambda: self.pick([*SETTINGS, *indents]) + self.text()))
        if self.one_in(3):
            return "{" + ", ".join(self.several(3, lambda: f"{self.pick(WORDS)}: {self.pick(WORDS)}")) + "}"
        made = self.settings()
        return json.dumps(self.spoiled(made) if self.one_in(2) else made, ensure_ascii=self.one_in(2))


def anything(data: bytes) -> None:
    """Run the hook on what `data` makes. Raises whatever is a finding."""
    draw = Draw(data)
    try:
        kinds = 4 * [any_settings] + [any_bytes] + 5 * [any_standing] + 10 * [any_request]
        draw.pick(kinds)(draw)
    except Exception as error:
        error.add_note(f"the bytes: {data!r}")
        raise


def any_settings(draw: Draw) -> None:
    """Settings are read, or refused with a reason."""
    from ingress_manager.core import errors, settings

    text = draw.yaml()
    try:
        settings.parse(text)
    except errors.SettingsError as error:
        if not str(error):
            raise AssertionError("refused without a reason") from error


def any_bytes(draw: Draw) -> None:
    """Bytes that are no request are refused; the rest is checked by any_request."""
    from hooks.sync import answer
    from ingress_manager.core.policy import Policy

    sent = draw.source.ConsumeBytes(4096)
    check_answer(answer(sent, Policy()), {200, 400, 422})


def any_request(draw: Draw) -> None:
    """A request of Metacontroller's, right or spoiled, under any settings that the hook would start with."""
    from hooks import sync as metacontroller
    from ingress_manager.core import errors, settings

    stated = draw.settings()
    try:
        policy = settings.parse(json.dumps(stated))
    except errors.SettingsError:
        return
    parent = draw.service()
    request = sync_request(parent)
    spoil = draw.one_in(6)
    sent = body(draw.spoiled(request) if spoil else request)
    kept = bytes(bytearray(sent))
    answer = metacontroller.answer(sent, policy)
    check_answer(answer, {200, 400, 422, 429})
    again = metacontroller.answer(sent, policy)
    assert (again.status, again.body) == (answer.status, answer.body), "the same request was answered differently"
    assert sent == kept, "the request's bytes were changed"
    if spoil or answer.status != 200:
        return
    attachments = json.loads(answer.body)["attachments"]
    for desired in attachments:
        check_made(desired, parent, stated)
    observed = [as_created(desired, parent) for desired in attachments]
    again = metacontroller.answer(body(sync_request(parent, attached=observed)), policy)
    assert json.loads(again.body)["attachments"] == attachments, f"fed back, what it made changes: {again}"
    parent["metadata"]["annotations"]["ingress/http"] = "false"
    off = metacontroller.answer(body(sync_request(parent)), policy)
    assert json.loads(off.body) == {"attachments": []}, f"it is not off: {off}"


def any_standing(draw: Draw) -> None:
    """What stands though the settings forbid it is never kept, and what they allow is never removed for a mistake."""
    from hooks import sync as metacontroller
    from ingress_manager.core import errors, settings

    stated, parent = draw.settings(), draw.service()
    generous = {"pathTypes": TYPES, "copyAnnotations": dict.fromkeys(CONTROLLER_KEYS, "any")}
    earlier = draw.settings() | {"paused": False} if draw.one_in(3) else generous
    try:
        then, policy = settings.parse(json.dumps(earlier)), settings.parse(json.dumps(stated))
    except errors.SettingsError:
        return
    answer = metacontroller.answer(body(sync_request(parent)), then)
    if answer.status != 200:
        return
    parent = draw.changed(parent)
    for desired in json.loads(answer.body)["attachments"]:
        observed = as_created(desired, parent)
        answer = metacontroller.answer(body(sync_request(parent, attached=[observed])), policy)
        check_answer(answer, {200, 400, 422, 429})
        if answer.status == 400:  # a lone surrogate is in it, which the API server would not have stored
            return
        reasons = list(forbidden(desired, stated, parent))
        made = json.loads(answer.body)["attachments"] if answer.status == 200 else None
        kept = made is None or any(key_of(each) == key_of(desired) for each in made)
        assert not (reasons and kept), f"kept, though forbidden: {reasons}"
        assert made != [] or reasons or opted_out(parent), f"removed, though allowed: {answer}"
        for each in made or []:
            check_made(each, parent, stated)


def key_of(made: Object) -> tuple[str, str]:
    return made["kind"], made["metadata"]["name"]


def opted_out(parent: Object) -> bool:
    annotations: dict[str, str] = parent["metadata"]["annotations"]
    return annotations.get("ingress/http") in {None, "false"}


def check_answer(answer: Any, statuses: set[int]) -> None:
    """A refusal is one printable line of at most 500 characters."""
    assert answer.status in statuses, answer
    if answer.status != 200:
        line = answer.body.decode()
        assert line.endswith("\n") and len(line) > 1, answer  # noqa: PT018 - one thing: a line
        assert line[:-1].isprintable(), answer
        assert len(line) <= 501, answer


def check_made(desired: Object, parent: Object, settings: Object) -> None:
    """The API server takes it, it leads to its own Service, and the settings allow all that is in it."""
    metadata, spec = desired["metadata"], desired["spec"]
    service_name = parent["metadata"]["name"]
    assert metadata["namespace"] == "team-a"
    if desired["kind"] == "Ingress":
        assert list(rules_broken(msgspec.convert(desired, Ingress))) == []
        assert metadata["name"] == service_name
        hosts = [rule["host"] for rule in spec["rules"]]
        assert all(entry["hosts"] == hosts for entry in spec.get("tls", []))
        backends = [path["backend"]["service"] for rule in spec["rules"] for path in rule["http"]["paths"]]
        leads_to = {(backend["name"], backend["port"]["number"]) for backend in backends}
    else:
        assert list(route_rules_broken(msgspec.convert(desired, HTTPRoute))) == []
        assert metadata["name"].startswith(service_name)
        hosts = spec["hostnames"]
        leads_to = {(backend["name"], backend["port"]) for rule in spec["rules"] for backend in rule["backendRefs"]}
    assert len(set(hosts)) == len(hosts)
    assert list(forbidden(desired, settings, parent)) == []
    numbers = {port["port"] for port in parent["spec"]["ports"] if port["protocol"] == "TCP"}
    assert leads_to <= {(service_name, number) for number in numbers}
    check_size(desired)


def check_size(desired: Object) -> None:
    """The API server takes the annotations, with the copy that Metacontroller adds, in which Go writes the JSON."""
    copy = json.dumps(desired, ensure_ascii=False, separators=(",", ":"))
    longer = 5 * sum(map(copy.count, "<>&")) + 3 * sum(map(copy.count, "\u2028\u2029"))  # \u003c for <, and so on
    own = sum(len(key) + len(value.encode()) for key, value in desired["metadata"].get("annotations", {}).items())
    assert own + len(copy.encode()) + longer < MOST_ANNOTATION_BYTES - 1000, "the API server would refuse it for ever"


def inside(options: list[str]) -> None:
    """Search, in the child: never returns."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["hooks"]):
        from hooks import sync as metacontroller  # noqa: F401 - imported here to be instrumented
        from ingress_manager.core import settings  # noqa: F401 - imported here to be instrumented
    atheris.Setup([sys.argv[0], *options], anything)
    atheris.Fuzz()


def main(arguments: list[str]) -> int:
    """Search or replay in a child; say how much was done and what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.core.fuzz", description="Fuzz the core of the hook.")
    parser.add_argument("--seconds", type=int, metavar="N", help="stop after so long")
    parser.add_argument("--executions", type=int, metavar="N", help="stop after so many")
    known, options = parser.parse_known_args(arguments)
    corpus = STORE / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    if known.seconds is not None:
        options = [f"-max_total_time={known.seconds}", *options]
    if known.executions is not None:
        options = [f"-runs={known.executions}", *options]
    elif all(option.startswith("-") for option in options):
        options = [*options, str(corpus)]  # a search without end or by the clock goes on where the last one ended
    command = [sys.executable, "-m", "tests.core.fuzz", INSIDE, *LIMITS, f"-artifact_prefix={STORE}/", *options]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    status, said = ended.returncode, (ended.stdout + ended.stderr).decode(errors="replace")
    counted = re.search(r"stat::number_of_executed_units: *(\d+)", said)
    stored = re.search(r"Test unit written to (.*)", said)
    executions = f"{int(counted[1]):,} executions" if counted else "executions not counted"
    if status == 0:
        print(f"fuzz: {executions}, no finding")  # noqa: T201
        return 0
    print("\n".join(said.splitlines()[-60:]))  # noqa: T201
    print(f"fuzz: {executions}, 1 finding")  # noqa: T201
    if stored:
        print(f"replay it: python -m tests.core.fuzz {Path(stored[1]).relative_to(REPOSITORY)}")  # noqa: T201
    return 1


if __name__ == "__main__":
    if sys.argv[1:2] == [INSIDE]:
        inside(sys.argv[2:])
    sys.exit(main(sys.argv[1:]))
