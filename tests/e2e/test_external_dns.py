"""external-dns gives the hosts of Services their DNS names, with no right but those that its own chart has.

The records are in memory: no zone is written to.
"""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import pytest
import yaml

from devcluster import build
from devcluster.api import SERVICE_ACCOUNTS, Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.gateway import give_addresses
from tests.docs.test_docs import blocks
from tests.e2e.audit import READS
from tests.e2e.objects import CLUSTER_BINDINGS, CLUSTER_ROLES, create
from tests.e2e.people import grant, kubeconfig_of
from tests.e2e.test_rights import tried
from tests.e2e.test_traffic import ADDRESS
from tests.e2e.traffic import NOBODYS, ON, Place
from tools import golang

NAME = "external-dns"
ARGUMENTS, RULES = (yaml.safe_load(block) for block in blocks("dns.md", "yaml"))
IN_MEMORY = ["--registry=noop", "--provider=inmemory", "--inmemory-zone=example.com"]
PATIENCE = 30.0
TO_THE_GATEWAY = ("A", [ADDRESS])


@dataclass
class Names:
    """An external-dns, which makes a round whenever it is asked."""

    process: subprocess.Popen[str]
    log: IO[str]

    def below(self, domain: str) -> dict[str, tuple[str, list[str]]]:
        """Return the type and the targets of each record of a domain, after another round."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            pytest.fail(f"external-dns has ended: {self.log.read()}")
        records: list[Object] = json.loads(line)
        return {
            record["dnsName"]: (record["recordType"], record["targets"])
            for record in records
            if record["dnsName"].endswith(f".{domain}")
        }


@pytest.fixture(scope="module")
def names(serving: DevCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Names]:
    """Yield the external-dns of the page, with its own rights. The gateway has an address, as a cloud gives it one."""
    if reason := golang.lacking("externaldns"):
        pytest.skip(reason)
    create(serving.api, SERVICE_ACCOUNTS, NAME, "default")
    grant(serving.api, ("default", NAME), NAME, RULES["rules"], None)
    give_addresses(serving.api, ADDRESS)
    kubeconfig = kubeconfig_of(serving.control_plane, "default", NAME, tmp_path_factory.mktemp(NAME))
    command = [build.get("externaldns", print), *ARGUMENTS["args"], *IN_MEMORY, f"--kubeconfig={kubeconfig}"]
    pipe = subprocess.PIPE
    with (
        kubeconfig.with_suffix(".log").open("w+") as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        try:
            yield Names(process, log)
        finally:
            process.kill()
    give_addresses(serving.api)
    for resource in (CLUSTER_BINDINGS, CLUSTER_ROLES):
        serving.api.delete(resource, NAME)
    serving.api.delete(SERVICE_ACCOUNTS, NAME, "default")


def test_its_names_follow_the_annotations_of_a_service(names: Names, place: Place) -> None:
    domain = place.host("dns")

    def until(*expected: str) -> None:
        wanted = {f"{name}.{domain}": TO_THE_GATEWAY for name in expected}
        wait_for(lambda: names.below(domain) == wanted, PATIENCE, what=f"the names {expected}", interval=0.2)

    def annotate(annotations: dict[str, str | None]) -> None:
        place.annotate("dns", annotations)

    with place.service("dns", {**ON, "ingress/host": f"a.{domain}, *.b.{domain}"}):
        until("a", "*.b")
        annotate({"ingress/host": f"c.{domain}"})
        until("c")
        annotate({"internal.ingress/http": "true", "internal.ingress/host": f"d.{domain}"})
        until("c", "d")
        annotate({"ingress/host": "*"})
        until("d")
        place.until("an answer for every host", lambda found: not found.is_the_404_page, NOBODYS)
        annotate({"internal.ingress/http": None})
        until()
        annotate({"ingress/host": f"e.{domain}"})
        until("e")
        place.until_404_page(NOBODYS)
        annotate({"ingress/http": "false"})
        until()


def test_it_reads_what_is_made_and_writes_nothing(names: Names, serving: DevCluster) -> None:
    names.below("example.com")
    asked = tried(serving, f"system:serviceaccount:default:{NAME}")
    assert {kind for verb, kind, _ in asked if verb == "watch"} == {"gateways", "httproutes", "ingresses", "namespaces"}
    assert {verb for verb, _, _ in asked} <= READS
