"""docs/settings.md: what each of its examples makes of Services is seen on a real API server."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Api, Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import PATIENCE, Stage
from tests.docs.test_docs import blocks
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.objects import create, namespace

EXAMPLES = blocks("settings.md", "yaml")
ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("settings_page.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cluster_of_the_page(serving: DevCluster) -> Iterator[DevCluster]:
    """Yield the cluster with the namespaces of the examples, and put back what the examples change."""
    names = {key.partition("/")[0] for row in ROWS for key in row["services"]}
    for name in names:
        namespace(serving.api, name)
    yield serving
    serving.restart_hook(SERVING_SETTINGS)
    for name in names:
        serving.api.delete(NAMESPACES, name)
    wait_for(lambda: not any(serving.api.get(NAMESPACES, name) for name in names), 60, what="no namespace")


def test_every_example_has_a_row() -> None:
    assert len(EXAMPLES) == len(ROWS)


@pytest.mark.parametrize(
    ("example", "row"), list(zip(EXAMPLES, ROWS, strict=False)), ids=[row["example"] for row in ROWS]
)
def test_an_example_makes_of_services_what_its_row_says(
    example: str, row: dict[str, Any], cluster_of_the_page: DevCluster
) -> None:
    cluster_of_the_page.restart_hook(yaml.safe_load(example))
    services = [Published(cluster_of_the_page.api, key, stated) for key, stated in row["services"].items()]
    with contextlib.ExitStack() as exits:
        for service in services:
            service.create()
            exits.callback(service.delete)
        for service in services:
            service.wait()
        # Services are synced in the order of their events: those that get nothing had their turn before the others.
        assert not any(service.made() for service in services if not service.row.get("made"))


@dataclass
class Published:
    """A Service of a row."""

    api: Api
    key: str
    """Its namespace, a slash and its name."""
    row: dict[str, Any]
    namespace: str = field(init=False)
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.namespace, _, self.name = self.key.partition("/")

    def create(self) -> None:
        """Create it."""
        annotations = {"ingress/http": "true", **self.row.get("annotations", {})}
        metadata = {"annotations": annotations, "labels": self.row.get("labels", {})}
        create(self.api, SERVICES, self.name, self.namespace, metadata, spec={"ports": [{"port": 80}]})

    def wait(self) -> None:
        """Return when it is refused, or has what its row says."""
        stage, wanted = Stage(self.api, self.namespace), self.row.get("made")
        if wanted is None:
            stage.until_event(self.name, self.row["refused"])
        elif wanted:
            stage.until(f"{self.key}: {wanted}", lambda: holds(self.made(), wanted))

    def made(self) -> list[Object]:
        """Return all that is made for it, in the order of kinds and names."""
        return [
            each | {"kind": resource.kind}
            for resource in (HTTPROUTES, INGRESSES)
            for each in self.api.list(resource, self.namespace)
            if self.name in [owner["name"] for owner in each["metadata"].get("ownerReferences", ())]
        ]

    def delete(self) -> None:
        """Delete it, and return when nothing of it is left."""
        self.api.delete(SERVICES, self.name, self.namespace)
        wait_for(lambda: not self.made(), PATIENCE, what="the end of what was made")


def holds(found: Any, stated: Any) -> bool:
    """Return whether what is found has all that is stated: of a mapping its fields, of a list each of its items."""
    if isinstance(stated, dict):
        return all(
            (key not in found) if value is None else key in found and holds(found[key], value)
            for key, value in stated.items()
        )
    if isinstance(stated, list):
        return len(found) == len(stated) and all(map(holds, found, stated))
    return bool(found == stated)
