"""A rule without a host, and a default backend: what they are sent, and what they leave to others."""

from collections.abc import Iterator

import pytest

from devcluster.backend import Backend
from tests.e2e.exposed import NOBODYS
from tests.e2e.traffic import ON, Place, backend

LONG = "/a-path-that-is-longer-than-the-host-of-the-other-service/by-so-much-that-nobody-has-to-count"


@pytest.fixture(autouse=True)
def the_404_page_afterwards(place: Place) -> Iterator[None]:
    """Return once the 404 page answers for every other host again, as all other tests expect it."""
    yield
    place.until_404_page(NOBODYS)


def until_from(place: Place, name: str, host: str, path: str = "/") -> None:
    """Return once both Traefiks send requests to the Service of that name."""
    of = (f"{place.namespace}/{name}", 80)
    place.until(f"an answer of {name}", lambda found: found.status == 200 and backend(found) == of, host, path)


def test_a_rule_without_a_host_answers_for_every_host_that_no_other_rule_names(place: Place) -> None:
    with (
        place.service("of-a-host") as named,
        place.service("of-every-host", {**ON, "ingress/host": "*"}) as every,
        Backend(named),
        Backend(every),
    ):
        until_from(place, "of-every-host", NOBODYS, "/any/path")
        until_from(place, "of-a-host", place.host("of-a-host"), "/any/path")


def test_a_longer_path_without_a_host_wins_over_a_named_host(place: Place) -> None:
    """By the specifications, it doesn't: see `host-and-path` in docs/paths.md."""
    with (
        place.service("of-one") as named,
        place.service("of-all", {**ON, "ingress/host": "*", "ingress/path": LONG}) as every,
        Backend(named),
        Backend(every),
    ):
        until_from(place, "of-one", place.host("of-one"))
        until_from(place, "of-all", place.host("of-one"), LONG)


def test_a_default_backend_answers_what_no_rule_matches_and_of_an_ingress_with_rules_nothing(place: Place) -> None:
    annotations = {**ON, "ingress/default-backend": "true", "ingress/port": "80"}
    with place.service("default") as named, place.service("no-rule", {}) as alone, Backend(named), Backend(alone):
        place.annotate("no-rule", {**annotations, "ingress/host": None})
        until_from(place, "no-rule", NOBODYS, "/any/path")
        until_from(place, "default", place.host("default"), "/any/path")
        place.annotate("no-rule", {"ingress/host": place.host("no-rule")})
        until_from(place, "no-rule", place.host("no-rule"))
        if place.namespace == "ingress":
            place.until_404_page(NOBODYS)
        else:
            until_from(place, "no-rule", NOBODYS)
