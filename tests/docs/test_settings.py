"""docs/settings.md: what each of its examples makes of Services."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.sync_requests import body, sync_request
from hooks.sync import answer
from ingress_manager.core.settings import parse
from tests.docs.test_docs import blocks
from tests.holds import holds

EXAMPLES = blocks("settings.md", "yaml")
ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8"))
CASES = [
    pytest.param(example, key, stated, id=f"{row['example']}: {key}")
    for example, row in zip(EXAMPLES, ROWS, strict=True)
    for key, stated in row["services"].items()
]


@pytest.mark.parametrize(("example", "key", "stated"), CASES)
def test_an_example_makes_of_a_service_what_its_row_says(example: str, key: str, stated: dict[str, Any]) -> None:
    namespace, _, name = key.partition("/")
    annotations = {"ingress/http": "true", **stated.get("annotations", {})}
    metadata = {"name": name, "namespace": namespace, "uid": "1", "labels": stated.get("labels", {})}
    of_service = {"metadata": {**metadata, "annotations": annotations}, "spec": {"ports": [{"port": 80}]}}
    service = {"apiVersion": "v1", "kind": "Service", **of_service}
    answered = answer(body(sync_request(service)), parse(example))
    if "refused" in stated:
        assert answered.status == 422
        assert stated["refused"] in answered.body.decode()
    elif answered.status == 429:
        assert stated["made"] == [], "the namespace is paused"
    else:
        assert answered.status == 200, answered.body
        made = json.loads(answered.body)["attachments"]
        made.sort(key=lambda each: (each["kind"], each["metadata"]["name"]))
        assert holds(made, stated["made"]), made
