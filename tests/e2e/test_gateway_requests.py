"""Requests from outside reach a Service; what the gateway's configuration decides about them: gateway_requests.yaml."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
import yaml

from devcluster.api import SERVICES, Api, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, Answer, Gateway
from tests.e2e.objects import create
from tests.e2e.traffic import IN_A_ROW, ON

ITS_OWN = {"X-Forwarded-For": LOOPBACK, "X-Real-Ip": LOOPBACK, "X-Forwarded-Proto": "http"}
OF_EACH = {*ITS_OWN, "Accept-Encoding", "Host", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Server"}
"""The headers that arrive with each request."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request, and what becomes of it; the file's first lines say what the fields are."""

    what: str
    becomes: str | int
    path: str = ""
    headers: dict[str, str] = {}
    brings: list[str] = []


ROWS = msgspec.convert(
    yaml.safe_load(Path(__file__).with_name("gateway_requests.yaml").read_text(encoding="utf-8")), list[Row]
)


@dataclass(frozen=True)
class Place:
    """A namespace of the cluster `serving`, whose name says what exposes a Service there."""

    api: Api
    gateway: Gateway
    namespace: str

    @property
    def host(self) -> str:
        """Return the host of all Services here."""
        return f"requests.{self.namespace}.example.com"

    @contextlib.contextmanager
    def service(self, name: str, annotations: dict[str, str]) -> Iterator[None]:
        """Have a Service with the path of its name, and what answers for it."""
        metadata = {"annotations": {"ingress/host": self.host, "ingress/path": f"/{name}"} | annotations}
        with Backend(create(self.api, SERVICES, name, self.namespace, metadata, spec={"ports": [{"port": 80}]})):
            yield
        self.api.delete(SERVICES, name, self.namespace)

    def until(self, path: str, wanted: Callable[[Answer], bool]) -> Answer:
        """Return the answer once both Traefiks give one that is wanted."""

        def check() -> Answer | None:
            answers = (self.gateway.ask(self.host, path) for _ in range(IN_A_ROW))
            answer = next(answers)
            return answer if wanted(answer) and all(map(wanted, answers)) else None

        return wait_for(check, 60, what=f"the answer of {self.host}{path}")


def is_served(answer: Answer) -> bool:
    return answer.status == 200


def is_the_404_page(answer: Answer) -> bool:
    return answer.is_the_404_page


@pytest.fixture(scope="module", params=("ingress", "httproute"))
def place(serving: DevCluster, request: pytest.FixtureRequest) -> Place:
    """Return each of the two namespaces in which a Service reaches visitors in one way."""
    assert serving.gateway
    return Place(serving.api, serving.gateway, request.param)


@pytest.mark.gate
def test_a_service_is_served_once_it_is_annotated_and_no_longer_once_it_opts_out(place: Place) -> None:
    with place.service("annotated", {}):
        for asked, wanted in ((None, is_the_404_page), ("true", is_served), (None, is_the_404_page)):
            patch = {"metadata": {"annotations": {"ingress/http": asked}}}
            place.api.patch(SERVICES, "annotated", patch, place.namespace)
            place.until("/annotated", wanted)


@pytest.fixture(scope="module")
def host(place: Place) -> Iterator[str]:
    """Yield the host whose paths /open and /secret two Services have."""
    with place.service("open", ON), place.service("secret", ON):
        for path in ("/open", "/secret"):
            place.until(path, is_served)
        yield place.host


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_a_request_becomes_what_the_table_says(place: Place, host: str, row: Row) -> None:
    headers = {key: re.sub(r"\{(\d+)\}", lambda found: "x" * int(found[1]), row.headers[key]) for key in row.headers}
    answer = place.gateway.ask(host, row.path, headers=headers)
    if answer.status != 200:
        assert ("page" if answer.is_the_404_page else answer.status) == row.becomes
        return
    arrived = json.loads(answer.body)
    name = arrived["service"].removeprefix(f"{place.namespace}/")
    assert f"{name} {arrived['path']}" == row.becomes
    assert set(arrived["headers"]) == OF_EACH | set(row.brings)
    assert {key: arrived["headers"][key] for key in ITS_OWN} == ITS_OWN
