"""The docs: what is made from the code is as the code makes it, and what they show is true."""

import json
import re
from pathlib import Path

import msgspec
import pytest
import yaml

from hooks.metacontroller import answer
from hooks.policy import Policy
from hooks.settings import load, parse
from tests.metacontroller import body, service, sync_request
from tools import docs


@pytest.mark.parametrize("path", docs.pages(), ids=lambda path: path.name)
def test_what_is_made_from_the_code_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == docs.pages()[path], "`make docs` writes it"


def test_every_part_is_on_a_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in docs.DOCS.glob("*.md"))
    assert set(re.findall(r"<!-- made: (\w+) -->", text)) == set(docs.PARTS)


def blocks(page: str, language: str) -> list[str]:
    text = (docs.DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_every_example_of_annotations_is_accepted() -> None:
    examples = [yaml.safe_load(block)["metadata"]["annotations"] for block in blocks("annotations.md", "yaml")]
    assert examples
    ports = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}, {"name": "admin", "port": 8080}]
    for annotations in examples:
        assert answer(body(sync_request(service(annotations, ports=ports))), Policy()).status == 200


def test_the_example_of_a_refusal_is_what_is_said() -> None:
    shown = next(block for block in blocks("annotations.md", "") if block.startswith("ingress/hots"))
    annotations = {"ingress/http": "true", "ingress/hots": "x", "ingress/port": "grpc"}
    ports = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}]
    assert answer(body(sync_request(service(annotations, ports=ports))), Policy()).body.decode() == shown


def test_every_example_of_settings_is_accepted() -> None:
    for block in blocks("settings.md", "yaml"):
        parse(block)


def test_each_test_of_the_gateways_traffic_is_in_the_table_once() -> None:
    rows = yaml.safe_load(docs.TRAFFIC.read_text(encoding="utf-8"))
    named = sorted(name for row in rows for name in row["tests"])
    files = docs.TRAFFIC.parent.glob("test_traffic*.py")
    tests = [name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)]
    assert named == sorted(name for name in tests if "benchmark" not in name)


def test_the_gateways_limits_are_those_of_its_configuration() -> None:
    shipped = yaml.safe_load((docs.DOCS.parent / "gateway/traefik.yaml").read_text(encoding="utf-8"))
    web, forwarding = shipped["entryPoints"]["web"], shipped["serversTransport"]["forwardingTimeouts"]
    assert web["http"]["maxHeaderBytes"] == 64 * 1024
    assert web["transport"]["respondingTimeouts"] == {"readTimeout": "1h", "writeTimeout": "0s", "idleTimeout": "180s"}
    assert forwarding == {"dialTimeout": "5s", "responseHeaderTimeout": "0s"}
    page = (docs.DOCS / "gateway-traffic.md").read_text(encoding="utf-8")
    assert re.findall(r"\| (64 KiB|1 hour|3 minutes|5 seconds) +\|", page) == [
        "64 KiB",
        "1 hour",
        "3 minutes",
        "5 seconds",
    ]


def test_the_shipped_settings_are_the_defaults() -> None:
    assert load(docs.DOCS.parent / "manifests/settings.yaml").policy == Policy()


def test_the_schema_names_every_field() -> None:
    schema = json.loads(docs.SCHEMA.read_text(encoding="utf-8"))
    fields = {field.encode_name for field in msgspec.structs.fields(Policy)}
    assert set(schema["$defs"]["Policy"]["properties"]) == fields
    assert schema["$defs"]["Policy"]["additionalProperties"] is False
