"""The commands on a real cluster: what `render` prints is taken by the API server, and reading needs few rights."""

from pathlib import Path

import yaml

from devcluster.api import INGRESSES, SERVICES
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.story import Stage
from devcluster.sync_requests import service
from tests.core.test_cases import CASES
from tests.e2e.objects import namespace as make_namespace
from tests.e2e.shell import run


def test_the_api_server_takes_what_render_prints(empty_cluster: ControlPlane, tmp_path: Path) -> None:
    # Their Ingresses are tried one by one in test_accepted.py.
    services = [case.service for case in CASES if case.ingresses and not case.settings][:5]
    for namespace in {each["metadata"]["namespace"] for each in services}:
        make_namespace(empty_cluster.api, namespace)
    file = tmp_path / "services.yaml"
    file.write_text(yaml.safe_dump_all(services), encoding="utf-8")
    rendered = run(empty_cluster, "render", file)
    assert rendered.returncode == 0, rendered.stderr
    options = "--dry-run=server", "--validate=strict", "--output=name", "--filename=-"
    taken = empty_cluster.kubectl("apply", *options, input=rendered.stdout)
    assert taken.split() == ["ingress.networking.k8s.io/" + each["metadata"]["name"] for each in services]


def test_render_shows_what_the_cluster_has(cluster: DevCluster, stage: Stage) -> None:
    made = service({"ingress/http": "true", "ingress/host": "rendered.example.com"})
    made["metadata"] = {**made["metadata"], "namespace": stage.namespace}
    del made["metadata"]["uid"]
    stage.api.create(SERVICES, made)
    stage.until("the Ingress", lambda: stage.api.get(INGRESSES, "shop", stage.namespace))
    # The gateway's class is in the hook's settings, not in the ConfigMap of the manifests.
    rendered = run(cluster.control_plane, "render", "-n", stage.namespace, "--settings", cluster.settings_file)
    assert rendered.returncode == 0, rendered.stderr
    stands = stage.api.get(INGRESSES, "shop", stage.namespace)
    assert stands is not None
    assert yaml.safe_load(rendered.stdout)["spec"] == stands["spec"]
