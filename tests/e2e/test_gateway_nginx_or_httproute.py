"""What an HTTPRoute says in the place of ingress-nginx's annotations, beside what the class nginx does with them.

Services are made up at random, each with an Ingress of the class nginx, which one more Traefik serves, and HTTPRoutes.
Both are asked the same.
"""

import contextlib
import json
import os
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
import trustme

from devcluster import gateway, overlay
from devcluster.api import EVENTS, HTTPROUTES, INGRESSES, NAMESPACES, Object, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.errors import NotReady
from devcluster.gateway import LOOPBACK, Answer
from ingress_manager.core.effects import EFFECTS, NGINX
from tests.e2e import certificates
from tests.e2e.objects import create
from tests.e2e.test_gateway_nginx import class_nginx
from tests.e2e.traffic import ON, Place

NAMESPACE = "httproute"
ADDRESS = "127.0.0.10"
COUNT = 100

SAID = {
    "backend-protocol": ["HTTP", "HTTPS", "GRPC"],
    "canary": ["false"],
    "enable-cors": ["false", "true"],
    "force-ssl-redirect": ["true", "false"],
    "from-to-www-redirect": ["false", "true"],
    "proxy-body-size": ["8m", "0"],
    "proxy-read-timeout": ["60", "3600"],
    "rewrite-target": ["/", "/x"],
    "ssl-redirect": ["true", "false"],
    "use-regex": ["false", "true"],
}
"""The annotations of which HTTPRoutes can say some values."""

NOT_SAID = {
    "affinity": "cookie",
    "app-root": "/app",
    "auth-type": "basic",
    "auth-url": "http://127.0.0.1:9/",
    "configuration-snippet": "return 418;",
    "denylist-source-range": "127.0.0.0/8",
    "limit-rps": "1",
    "permanent-redirect": "https://elsewhere.example.com/",
    "temporal-redirect": "https://elsewhere.example.com/",
    "upstream-vhost": "elsewhere.example.com",
    "whitelist-source-range": "192.0.2.0/24",
    "x-forwarded-prefix": "/x",
}
"""Some of all others."""


class Seen(NamedTuple):
    """What a visitor and the Service see of a request."""

    status: int | str
    """A redirect to https is one whichever status it has: the Gateway API's list of them is shorter."""

    location: str
    path: str
    """As the Service was asked for it."""

    headers: dict[str, str]
    """Those of the answer that say who may read it, or who is served."""


def seen(answer: Answer, host: str) -> Seen:
    location = answer.headers.get("location", "")
    told = {
        key: value for key, value in answer.headers.items() if key.startswith("access-control-") or key == "set-cookie"
    }
    path = json.loads(answer.body)["path"] if answer.status == 200 else ""
    status = "to https" if location.startswith(f"https://{host}/") else answer.status
    return Seen(status, location, path, told)


def made_up(chance: random.Random) -> dict[str, str]:
    """Return the annotations of a Service. One in six has one that an HTTPRoute can't say."""
    # No Pod runs here: the Service's address is asked.
    asked = {**ON, "ingress/path": chance.choice(["/", "/", "/shop"]), f"{NGINX}service-upstream": "true"}
    if chance.random() < 0.5:
        asked |= {"ingress/tls": "true"}
    for key in chance.sample(sorted(SAID), chance.randint(0, 3)):
        asked[f"{NGINX}{key}"] = chance.choice(SAID[key])
    if chance.random() < 1 / 6:
        key = chance.choice(sorted(NOT_SAID))
        asked[f"{NGINX}{key}"] = NOT_SAID[key]
    return asked


@pytest.fixture(scope="module")
def place(engine: str) -> Iterator[Place]:
    """Yield a namespace whose Services get both, with https; one more Traefik serves the class nginx."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    settings = {
        "defaults": {
            "class": "nginx",
            "outputs": ["ingress", "httproute"],
            "tls": {"redirect": True},  # as ingress-nginx does without being asked
            "gateway": {"name": overlay.CLASS, "namespace": gateway.NAME},
        },
        "limits": {"copyAnnotations": {key: "any" for key in EFFECTS if key.startswith(NGINX)}},
    }
    with DevCluster(engine, settings=settings, gateway=1, httproute=True) as cluster:
        create(cluster.api, NAMESPACES, NAMESPACE)
        with class_nginx(cluster, ADDRESS), certificates.served(Place(cluster, NAMESPACE)) as certificate:
            certificate.store(trustme.CA().issue_cert(f"*.{NAMESPACE}.example.com"))
            yield Place(cluster, NAMESPACE)


def test_an_httproute_answers_as_the_class_nginx_does_or_the_service_is_refused(
    place: Place, record_property: Callable[[str, object], None]
) -> None:
    seed = int.from_bytes(os.urandom(3))
    chance = random.Random(seed)  # noqa: S311 - made-up Services keep no secret
    asked = {f"s-{number}": made_up(chance) for number in range(COUNT)}
    with contextlib.ExitStack() as exits:
        services = {name: exits.enter_context(place.service(name, annotations)) for name, annotations in asked.items()}
        routed = wait_for(
            lambda: settled(place, services), 120, what="an Ingress and an HTTPRoute, or an Event, of each"
        )
        for name in routed:
            exits.enter_context(Backend(services[name]))
        different = dict.fromkeys(sorted(routed), "")

        def all_alike() -> bool:
            for name in list(different):
                different[name] = difference(place, name, asked[name])
                if not different[name]:
                    del different[name]
            return not different

        with contextlib.suppress(NotReady):
            wait_for(all_alike, 30, what="the same answers")
    record_property("figures", f"{len(routed)} of {len(asked)} Services have both, seed {seed}")
    assert not different, "\n".join([f"seed {seed}", *(f"{asked[name]}: {told}" for name, told in different.items())])
    assert len(routed) > COUNT / 4


def settled(place: Place, services: dict[str, Object]) -> set[str] | None:
    """Return the Services that have an Ingress and an HTTPRoute, once each of the others has an Event."""
    made = [
        {each["metadata"]["name"].partition(".")[0] for each in place.api.list(kind, NAMESPACE)}
        for kind in (INGRESSES, HTTPROUTES)
    ]
    told = {each["involvedObject"]["name"] for each in place.api.list(EVENTS, NAMESPACE)}
    both = made[0] & made[1]
    return both if both | told >= services.keys() else None


def difference(place: Place, name: str, asked: dict[str, str]) -> str:
    """Return what a request to the class nginx and to the HTTPRoute answer otherwise, or nothing."""
    host = place.host(name)
    # By https, the class nginx serves what has no TLS, too, with the gateway's own certificate.
    for tls in (False, True) if "ingress/tls" in asked else (False,):
        for path in ("/", "/shop", "/shop/a?b=c", "/shopping"):
            found = [
                seen(
                    place.gateway.ask(
                        host, path, tls=tls, headers={"Origin": "https://a.example.com"}, address=address
                    ),
                    host,
                )
                for address in (ADDRESS, LOOPBACK)
            ]
            if found[0] != found[1]:
                return f"{'https' if tls else 'http'} {path}: {found[0]} by the Ingress, {found[1]} by the HTTPRoute"
    return ""
