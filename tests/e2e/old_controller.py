"""The controller that is switched from: a Traefik that plays ingress-nginx.

It serves the class `nginx` of the controller `k8s.io/ingress-nginx`, and reads ingress-nginx's annotations. No package
registry has ingress-nginx itself: it is an image alone.
"""

import contextlib
from collections.abc import Iterator

import yaml

from devcluster.api import Object
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, answers
from devcluster.processes import ReservedPort
from devcluster.programs import find_traefik
from tests.e2e.objects import INGRESS_CLASSES, create

ADDRESS = "203.0.113.10"
"""What it writes into the status of an Ingress."""

SERVICE_UPSTREAM = {"nginx.ingress.kubernetes.io/service-upstream": "true"}
"""Without this annotation it would send requests to a Service's Pods, and no Pod runs here."""


@contextlib.contextmanager
def old_controller(cluster: DevCluster) -> Iterator[tuple[int, int]]:
    """Yield its ports of loopback, for HTTP and for HTTPS, once it is ready. Raises NotReady and ProcessDied."""
    with contextlib.ExitStack() as exits:
        http, https, internal = (exits.enter_context(contextlib.closing(ReservedPort())).number for _ in range(3))
        create(cluster.api, INGRESS_CLASSES, "nginx", spec={"controller": "k8s.io/ingress-nginx"})
        exits.callback(cluster.api.delete, INGRESS_CLASSES, "nginx")
        path = cluster.folder / "old-controller.yaml"
        path.write_text(yaml.safe_dump(configuration({"web": http, "websecure": https, "traefik": internal})))
        # It has a role of its own, which isn't ours to test: it is admin here.
        process = cluster.processes.add(
            "old-controller",
            [str(find_traefik()), f"--configFile={path}"],
            env={"KUBECONFIG": str(cluster.kubeconfig)},
        )
        process.start()
        exits.callback(process.kill)
        process.wait_ready(lambda: answers(internal, "/ping"))
        yield http, https


def configuration(ports: dict[str, int]) -> Object:
    """Return its configuration."""
    entry_points: Object = {name: {"address": f"{LOOPBACK}:{port}", "reusePort": True} for name, port in ports.items()}
    entry_points["websecure"]["http"] = {"tls": {}}
    return {
        "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
        "entryPoints": entry_points,
        "providers": {
            "providersThrottleDuration": "50ms",
            "kubernetesIngressNGINX": {
                "publishStatusAddress": [ADDRESS],
                "httpEntryPoint": "web",
                "httpsEntryPoint": "websecure",
            },
        },
        "ping": {},
    }
