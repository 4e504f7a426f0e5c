"""What goes on beside a test, visitors who ask all the time, and one more Traefik for them."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

import yaml

from devcluster.api import T
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, answers

IN_A_ROW = 12
"""A new connection is taken by either Traefik. If so many saw the same, both have taken up the change."""


@contextlib.contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    """Do something again and again, beside what is done in this context."""
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            act()

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run)
        try:
            yield
        finally:
            ended.set()
    running.result()


@contextlib.contextmanager
def asking(ask: Callable[[], T]) -> Iterator[list[T | Exception]]:
    """Yield the answers of somebody who asks again and again, each on a connection of its own, until the end."""
    answers: list[T | Exception] = []

    def once() -> None:
        try:
            answers.append(ask())
        except (OSError, HTTPException, ValueError) as error:
            answers.append(error)

    with meanwhile(once):
        yield answers


@contextlib.contextmanager
def with_class_nginx(cluster: DevCluster, address: str, *, alone: bool = False) -> Iterator[None]:
    """Have one more Traefik, with an address of loopback for itself and the same ports.

    Its configuration is that of the first one, with what the component ingress-nginx adds. With `alone`, it serves
    nothing else than the class nginx, by rights of its own.
    """
    assert cluster.gateway
    first = cluster.gateway.traefiks[0]
    static = yaml.safe_load((cluster.folder / first.name / "traefik.yaml").read_text())
    for entry_point in static["entryPoints"].values():
        entry_point["address"] = entry_point["address"].replace(LOOPBACK, address)
    env = {"KUBECONFIG": str(cluster.kubeconfig)} if alone else first.env
    if alone:
        static["providers"] = {key: value for key, value in static["providers"].items() if "kubernetes" not in key}
    static["providers"] |= yaml.safe_load((REPOSITORY / "gateway/ingress-nginx/provider.yaml").read_text())
    path = cluster.folder / f"traefik-{address}.yaml"
    path.write_text(yaml.safe_dump(static))
    process = cluster.add(path.stem, [first.command[0], f"--configFile={path}"], env=env)
    process.start()
    port = cluster.gateway.internal_ports[0]
    process.wait_ready(lambda: answers(port, "/ping", address=address))
    yield
    process.kill()
