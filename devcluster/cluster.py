"""The development cluster: a control plane with ingress-manager installed and running."""

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import yaml

from devcluster import deployments, engines
from devcluster.admission import Admission
from devcluster.api import CRDS, EVENTS, LEASES, SERVICES, Api, ApiError, Object, is_true, path_of, wait_for
from devcluster.build import REPOSITORY, Progress
from devcluster.control_plane import ControlPlane
from devcluster.errors import DevClusterError
from devcluster.gateway import Gateway, answers
from devcluster.overlay import CONTROLLER, GATEWAY_CLASS, Overlay, Rendered
from devcluster.processes import Process, Processes
from devcluster.programs import find_programs, find_traefik, gateway_api_crds
from hooks.settings_file import load
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings_parser import FILE_VARIABLE, parse

CRD_FILE = Path(__file__).with_name("crds.yaml")


class DevCluster(Processes):
    """A control plane, the manifests of this repository applied to it, the hook under gunicorn, and an engine.

    Use it as a context manager; inside, the engine has taken up the DecoratorController, and the API server enforces
    the admission policies. `settings` replaces the manifests' settings; `resync` sets the DecoratorController's
    resyncPeriodSeconds.

    With `gateway`, Traefik serves its Ingresses, and the class of the settings is the gateway's unless `settings` are
    given. `httproute` adds what serves HTTPRoutes; `admission`, what answers at `kubectl apply`.

    Entering raises DevClusterError when something needed is missing or does not start.
    """

    api: Api
    """A client that may do everything."""
    kubeconfig: Path
    """That of the same user, for kubectl."""
    engine_name: str
    """What to call the engine to a person."""
    gateway: Gateway | None = None
    """None when none was asked for."""
    admission: Admission | None = None
    """None when it wasn't asked for."""
    ingress_class: str | None
    """The class of an Ingress whose Service names none."""

    def __init__(  # noqa: PLR0913 - options, each by its name
        self,
        engine: str = "auto",
        *,
        settings: dict[str, Any] | None = None,
        resync: int | None = None,
        gateway: bool = False,
        httproute: bool = False,
        admission: bool = False,
        progress: Progress = lambda _line: None,
    ) -> None:
        super().__init__()
        self._choice, self._settings, self._resync, self._progress = engine, settings, resync, progress
        self._gateway, self._httproute, self._admission = gateway, httproute, admission

    def start(self) -> None:
        """Start all parts, in an order in which each finds what it needs; what takes long begins early."""
        programs = find_programs(self._progress)
        traefik = find_traefik() if self._gateway else None
        crds = gateway_api_crds() if self._httproute else []
        self._metacontroller = engines.find_engine(self._choice)

        self.settings_file = self.folder / "settings.yaml"
        self.hook = self._hook(self.port())
        plane = ControlPlane(programs, self)
        self.control_plane, self.api, self.kubeconfig = plane, plane.api, plane.kubeconfig
        if traefik:
            self.gateway = Gateway(traefik, self)
        if self._admission:
            self.admission = Admission(self, self.settings_file)

        self._progress("starting etcd and the API server")
        plane.start()
        manifests = self._render()
        settings = manifests.settings() if self._settings is None else yaml.safe_dump(self._settings)
        self.settings_file.write_text(settings)
        self.ingress_class = effective_settings(load(self.settings_file).settings, "default").ingress_class
        self.hook.start()
        plane.wait_ready()

        self._progress("applying the manifests")
        # The manifests need them, and the garbage collector would look for later ones only every 30 seconds.
        install_crds(self.api, [*yaml.safe_load_all(CRD_FILE.read_text()), *crds])
        plane.start_controllers()
        plane.kubectl("apply", "--server-side", "--validate=strict", "--filename=-", input=manifests.text)
        if self.gateway:
            self._progress("starting the gateway")
            self.gateway.start(plane, manifests)
        if self.admission:
            self.admission.start(self.api, manifests)
        self.hook.wait_ready(self.hook_ready)  # before the engine, whose first requests would fail

        self._progress(f"starting {engines.name(self._metacontroller)}")
        # The manifests name the hook by its Service, which no DNS knows here: it is reached by a proxy, and is its own.
        # What is on loopback is asked for directly.
        proxy = {"HTTP_PROXY": self.hook_url, "NO_PROXY": "127.0.0.1"}
        self.engine = self.add("engine", [], env=proxy, cwd=REPOSITORY)
        self.engine.before_start = self._give_up_lead
        self._take_engine(manifests)
        self.engine.start()
        self.engine.wait_ready(self._controller_started)
        wait_for(lambda: enforces_policies(self.api), 30, what="the admission policies")
        if self.gateway:
            self.gateway.wait_ready()
        if self.admission:
            self.admission.wait_ready(self.api)
        self.engine_name = engines.name(self._metacontroller, self.engine.log_path.read_text())

    def _hook(self, port: int) -> Process:
        self.hook_url = f"http://127.0.0.1:{port}"
        command = [
            *(sys.executable, "-m", "gunicorn", "--config", "python:hooks.gunicorn_conf"),
            # Metacontroller keeps its connections open, and gunicorn would wait for them.
            *("--bind", f"127.0.0.1:{port}", "--reuse-port", "--graceful-timeout=1", "hooks.app:create_app()"),
        ]
        return self.add("hook", command, env={FILE_VARIABLE: str(self.settings_file)}, cwd=REPOSITORY)

    def _render(self) -> Rendered:
        controller = "listenerset" if self._httproute else "controller"
        overlay = Overlay(["manifests", "metacontroller/install", f"metacontroller/{controller}"])
        if self._resync is not None:
            resync = ("add", "/spec/resyncPeriodSeconds", self._resync)
            overlay.patch("DecoratorController", CONTROLLER, resync)
        if self.gateway:
            overlay.resources.append("gateway")
        if self.gateway and self._httproute:
            overlay.components.append("gateway/gateway-api")
            # Traefik finds the entry point of a listener by its port.
            overlay.patch("Gateway", GATEWAY_CLASS, ("replace", "/spec/listeners/0/port", self.gateway.http_port))
        if self.admission:
            self.admission.add_to(overlay)
        made = overlay.render()
        if self.gateway:  # the one line that gateway/README.md asks for
            made = Rendered(re.sub(r"^( +class:) nginx$", rf"\1 {GATEWAY_CLASS}", made.text, flags=re.MULTILINE))
        return made

    @property
    def parts(self) -> dict[str, Process]:
        """All that has to work for a change of a Service to reach its Ingress, by name."""
        plane = self.control_plane
        parts = {"hook": self.hook, "engine": self.engine, "API server": plane.apiserver, "etcd": plane.etcd}
        return parts | {"controller manager": plane.controller_manager}

    def hook_ready(self) -> bool:
        """Return whether the hook answers that it is ready."""
        return answers(int(self.hook_url.rpartition(":")[2]), "/readyz")

    def _take_engine(self, manifests: Rendered) -> None:
        """Let the engine start, from now on, as its Deployment says, and log in."""
        kubeconfig = self.folder / "engine.kubeconfig"
        token = self.api.service_account_token(engines.NAME, engines.NAME)
        self.control_plane.write_kubeconfig(kubeconfig, engines.NAME, token)
        self.engine.command = engines.command(self._metacontroller, manifests.container(engines.NAME), kubeconfig)

    def _give_up_lead(self) -> None:
        # Metacontroller keeps its lease when it ends, and its successor would wait for 15 s.
        for lease in self.api.list(LEASES, engines.NAME):
            self.api.delete(LEASES, lease["metadata"]["name"], engines.NAME)

    def _controller_started(self) -> bool:
        # Both engines record an Event. If an object has no namespace, its Events are in the namespace default. The API
        # server's own, of its leader elections, may name no object.
        events = self.api.list(EVENTS, "default")
        return ("Started", CONTROLLER) in ((event["reason"], event["involvedObject"].get("name")) for event in events)

    def follow(self) -> None:
        """Do what Deployments ask for that have changed: the hook goes by its settings, the engine restarts.

        It is to be called again and again. Raises ApiError, and ProcessDied.
        """
        for deployment in deployments.changed(self.api):
            namespace, problem = deployment["metadata"]["namespace"], ""
            maps = (obj | {"kind": "ConfigMap"} for obj in self.api.list(deployments.CONFIG_MAPS, namespace))
            rendered = Rendered(yaml.safe_dump_all([deployment | {"kind": "Deployment"}, *maps]))
            if deployment["metadata"]["name"] == CONTROLLER:
                problem = self._use(rendered)
            elif namespace == engines.NAME and self.engine.running:
                self._take_engine(rendered)
                self.engine.stop()
                self.engine.start()
            deployments.report(self.api, deployment, problem)

    def _use(self, rendered: Rendered) -> str:
        """Let the hooks go by the settings that are there, while they answer. Return why they can't be used, or ""."""
        try:
            settings = rendered.settings()
            parse(settings)
        except (DevClusterError, LookupError, SettingsError, TypeError, ValueError) as error:
            return f"the development cluster can't follow this: {error}"
        if settings != self.settings_file.read_text():
            self.settings_file.write_text(settings)
            # gunicorn starts a worker before the old one ends.
            for process in (self.hook, *([self.admission.process] if self.admission else [])):
                os.kill(process.pid, signal.SIGHUP)
        return ""

    def restart_hook(self, settings: dict[str, Any] | None = None) -> None:
        """Restart the hook at once, with other settings if they are given, and return when it is ready.

        Raises ProcessDied, with the hook's error in the message, when the hook does not accept the settings.
        """
        self.hook.kill()
        if settings is not None:
            self.settings_file.write_text(yaml.safe_dump(settings))
        self.hook.start()
        self.hook.wait_ready(self.hook_ready)


def install_crds(api: Api, crds: list[Object]) -> None:
    """Create CustomResourceDefinitions, and return when the API server serves them."""
    for crd in crds:
        api.create(CRDS, crd)
    for name in (crd["metadata"]["name"] for crd in crds):
        wait_for(lambda name=name: is_true(api.get(CRDS, name), "Established"), what=f"the CRD {name}")  # type: ignore[misc]


def enforces_policies(api: Api) -> bool:
    """Return whether the API server enforces the policies: it takes a moment to load them, and lets everything in.

    Tried is what the last of them denies, a Service with too many labels.
    """
    metadata = {"name": "policy-probe", "labels": {f"l{number}": "" for number in range(201)}}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}
    try:
        api.request("POST", path_of(SERVICES, "default"), params={"dryRun": "All"}, body=body)
    except ApiError as error:
        return error.status == 403
    return False
