"""Redirects to https: HTTPRoutes at the Gateway's listener for http, which visitors follow to the one for https."""

from collections.abc import Iterator

import pytest
import trustme

from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e import certificates
from tests.e2e.audit import writes
from tests.e2e.traffic import ON, Place


@pytest.fixture(scope="module", autouse=True)
def https(serving: DevCluster) -> Iterator[None]:
    """Have a listener for https while the tests run."""
    with certificates.served(Place(serving, "httproute")) as certificate:
        certificate.store(trustme.CA().issue_cert("*.example.com"))
        yield


def until_redirected(place: Place, host: str, status: int) -> None:
    """Return once both Traefiks redirect a visitor of the host to the same by https, where the Service answers."""
    answer = place.until("a redirect", lambda found: found.status == status, host, "/cart?item=1")
    assert answer.headers["location"] == f"https://{host}/cart?item=1"
    place.until_served(host, "/cart", tls=True)


def test_http_is_redirected_until_the_service_takes_that_off_and_nothing_else_is_touched(serving: DevCluster) -> None:
    place = Place(serving, "httproute")
    host, stage = place.host("asks"), Stage(place.api, place.namespace)
    asking = {**ON, "ingress/tls": "true", "ingress/tls-redirect": "true"}
    with place.service("asks", asking) as service, Backend(service):
        until_redirected(place, host, 301)
        place.annotate("asks", {"ingress/tls-redirect": None})
        place.until_404_page(host)
        place.until_served(host, tls=True)
        written = [each for each in writes(serving, stage, "httproutes") if each[1] in {"asks", "asks.redirect"}]
    assert sorted(written[:2]) == [("create", "asks"), ("create", "asks.redirect")]
    assert written[2:] == [("delete", "asks.redirect")]
