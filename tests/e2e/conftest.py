"""End to end: a real API server, a real engine, the hook under gunicorn, the committed manifests.

`stage` is a test's own namespace on the shared `cluster`, with helpers that wait for Ingresses and Events
(devcluster/story.py: `Stage`). `serving` has a gateway, and syncs often. `empty_cluster` has nothing installed. Tests
that change the hook's settings on a shared cluster restore them.

The engine is the Metacontroller on PATH, else the stand-in, unless `--engine` selects one. Tests that need a missing
program are skipped, and the summary gives the reason.
"""

import contextlib
import itertools
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster import engines
from devcluster.api import NAMESPACES, Api, ApiError
from devcluster.cluster import DevCluster, install_crds
from devcluster.control_plane import ControlPlane
from devcluster.deployments import changed, report
from devcluster.errors import MissingProgram
from devcluster.gateway import Gateway, why_unavailable
from devcluster.processes import Processes
from devcluster.programs import find_programs, find_traefik, gateway_api_crds
from devcluster.story import Stage
from tests.e2e.objects import create
from tests.e2e.people import meanwhile

HERE = Path(__file__).parent
SHARED = ("serving", "cluster", "empty_cluster")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests in this folder: `-m 'not e2e'` leaves them out, and `make test` runs only those marked `gate`.

    Parallel test processes run all tests of a shared cluster in the same process.
    """
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if not item.get_closest_marker("gate"):
                item.add_marker(pytest.mark.thorough)
            fixtures = getattr(item, "fixturenames", ())
            shared = next((name for name in SHARED if name in fixtures), item.path.name)
            item.add_marker(pytest.mark.xdist_group(shared))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the last logs of its clusters' processes and the machine's load to a failed test's report."""
    report = yield
    if report.failed:
        clusters = [each for each in getattr(item, "funcargs", {}).values() if isinstance(each, DevCluster)]
        for name, part in (each for cluster in clusters for each in cluster.parts.items()):
            log = part.log_tail(25) if name in {"hook", "engine"} else ""
            report.sections.append((f"{name}: {'runs' if part.running else 'does not run'}", log))
        report.sections.append(("load average", " ".join(f"{each:.1f}" for each in os.getloadavg())))
    return report


def require() -> None:
    """Skip the test, with the reason, if the control plane is not available on this machine."""
    try:
        find_programs(print)
        find_traefik()
    except MissingProgram as missing:
        pytest.skip(f"There is no cluster, so nothing end to end was tested. {missing}")


def require_gateway() -> None:
    if reason := why_unavailable():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def engine(pytestconfig: pytest.Config) -> str:
    """Return `metacontroller` or `standin`. Raises MissingProgram if the requested engine is missing."""
    require()
    return "metacontroller" if engines.find_engine(pytestconfig.getoption("--engine")) else "standin"


@pytest.fixture(scope="session")
def metacontroller(engine: str) -> None:
    """Skip tests that need the real Metacontroller if the engine is the stand-in."""
    if engine != "metacontroller":
        pytest.skip("NOT TESTED WITH METACONTROLLER: the engine is the stand-in. Put `metacontroller` on PATH.")


@pytest.fixture(scope="session")
def cluster(engine: str) -> Iterator[DevCluster]:
    with DevCluster(engine, gateway=not why_unavailable()) as running:
        yield running


SERVING_SETTINGS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("serving.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def serving(engine: str) -> Iterator[DevCluster]:
    """Yield a cluster with the namespaces `ingress`, `httproute`, `both` and `listenerset`.

    Each namespace is named after the objects that its Services get. Services are synced every second, because otherwise
    changed settings would take 4 to 6 minutes.
    """
    require_gateway()
    with DevCluster(engine, settings=SERVING_SETTINGS, gateway=True, httproute=True, resync=1) as running:
        for name in SERVING_SETTINGS["namespaces"]:
            create(running.api, NAMESPACES, name)
        yield running


def nodes(api: Api) -> contextlib.AbstractContextManager[None]:
    """Keep reporting all Deployments as ready. No Pods can run here, so `kubectl rollout status` would wait forever."""

    def look() -> None:
        for deployment in changed(api):
            with contextlib.suppress(ApiError):  # deleted meanwhile
                report(api, deployment)

    return meanwhile(look, 0.1)


@contextlib.contextmanager
def bare_plane() -> Iterator[ControlPlane]:
    require()
    with Processes() as processes:
        plane = ControlPlane(find_programs(print), processes)
        plane.start()
        plane.wait_ready()
        yield plane


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield an API server with nothing installed, on which namespaces can be deleted and rollouts finish."""
    with bare_plane() as plane:
        plane.start_controllers()
        with nodes(plane.api):
            yield plane


@pytest.fixture(scope="session")
def empty_cluster() -> Iterator[ControlPlane]:
    with bare_plane() as plane:
        install_crds(plane.api, gateway_api_crds())
        yield plane


@pytest.fixture
def stage(cluster: DevCluster) -> Iterator[Stage]:
    with fresh_stage(cluster) as fresh:
        yield fresh


@pytest.fixture
def gateway(stage: Stage) -> Gateway:
    require_gateway()
    assert stage.gateway
    return stage.gateway


_numbers = itertools.count(1)


@contextlib.contextmanager
def fresh_stage(cluster: DevCluster) -> Iterator[Stage]:
    name = f"test-{next(_numbers)}"
    create(cluster.api, NAMESPACES, name)
    try:
        with contextlib.closing(Stage(cluster.api, name, cluster.gateway, cluster.ingress_class)) as stage:
            yield stage
    finally:
        # Also after a failed test: leftovers would affect later tests.
        cluster.api.delete(NAMESPACES, name)
