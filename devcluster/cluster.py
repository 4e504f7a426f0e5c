"""The development cluster: a control plane on which ingress-manager is installed and running."""

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
    """A control plane with this repository's manifests applied, the hook under gunicorn, and an engine that calls it.

    Use it as a context manager. Once it is entered, the engine runs the DecoratorController, and the API server
    enforces the admission policies. `settings` replaces the manifests' settings; `resync` sets resyncPeriodSeconds.

    With `gateway`, Traefik serves the Ingresses, and its IngressClass is the default unless `settings` are given.
    `httproute` adds support for HTTPRoutes; `admission` adds the hook that warns at `kubectl apply`.

    `engine` is one of engines.CHOICES. Entering raises DevClusterError if something is missing or doesn't start.
    """

    api: Api
    """A client with all permissions."""
    kubeconfig: Path
    """The kubeconfig for kubectl, with all permissions."""
    engine_name: str
    """The engine's name for display; Metacontroller's includes its version and path."""
    gateway: Gateway | None = None
    """The running gateway, or None if it wasn't requested."""
    admission: Admission | None = None
    """The running admission hook, or None if it wasn't requested."""
    ingress_class: str | None
    """The default class from the settings, or None if they set no default."""

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
        """Start the parts in the order of their dependencies, slow ones as early as possible."""
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
        # The manifests need the CRDs, and the garbage collector looks for later ones only every 30 seconds.
        install_crds(self.api, [*yaml.safe_load_all(CRD_FILE.read_text()), *crds])
        plane.start_controllers()
        plane.kubectl("apply", "--server-side", "--validate=strict", "--filename=-", input=manifests.text)
        if self.gateway:
            self._progress("starting the gateway")
            self.gateway.start(plane, manifests)
        if self.admission:
            self.admission.start(self.api, manifests)
        self.hook.wait_ready(self.hook_ready)  # otherwise, the engine's first requests would fail

        self._progress(f"starting {engines.name(self._metacontroller)}")
        # The manifests name the hook by its Service, which no DNS resolves here. So the engine uses the hook as its
        # HTTP proxy, except for loopback addresses.
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
            # Metacontroller keeps its connections open, and gunicorn would wait until they close.
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
            # Traefik matches a listener to an entry point by port.
            overlay.patch("Gateway", GATEWAY_CLASS, ("replace", "/spec/listeners/0/port", self.gateway.http_port))
        if self.admission:
            self.admission.add_to(overlay)
        made = overlay.render()
        if self.gateway:  # the one change that gateway/README.md prescribes
            made = Rendered(re.sub(r"^( +class:) nginx$", rf"\1 {GATEWAY_CLASS}", made.text, flags=re.MULTILINE))
        return made

    @property
    def parts(self) -> dict[str, Process]:
        """The processes that keep Ingresses in line with their Services, by name."""
        plane = self.control_plane
        parts = {"hook": self.hook, "engine": self.engine, "API server": plane.apiserver, "etcd": plane.etcd}
        return parts | {"controller manager": plane.controller_manager}

    def hook_ready(self) -> bool:
        """Return whether the hook reports that it is ready."""
        return answers(int(self.hook_url.rpartition(":")[2]), "/readyz")

    def _take_engine(self, manifests: Rendered) -> None:
        """Prepare the next start of the engine, with the arguments of its Deployment and a new ServiceAccount token."""
        kubeconfig = self.folder / "engine.kubeconfig"
        token = self.api.service_account_token(engines.NAME, engines.NAME)
        self.control_plane.write_kubeconfig(kubeconfig, engines.NAME, token)
        self.engine.command = engines.command(self._metacontroller, manifests.container(engines.NAME), kubeconfig)

    def _give_up_lead(self) -> None:
        # Metacontroller doesn't release its lease when it ends, so its successor would wait for 15 s.
        for lease in self.api.list(LEASES, engines.NAME):
            self.api.delete(LEASES, lease["metadata"]["name"], engines.NAME)

    def _controller_started(self) -> bool:
        # Both engines record this Event. Events about cluster-scoped objects are in the namespace default. The API
        # server's Events about leader election may name no object.
        events = self.api.list(EVENTS, "default")
        return ("Started", CONTROLLER) in ((event["reason"], event["involvedObject"].get("name")) for event in events)

    def apply_deployments(self) -> None:
        """Apply changed Deployments: reload the hooks' settings, or restart the engine with its new arguments.

        Call it repeatedly to keep following changes. Raises ApiError and ProcessDied.
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
        """Make the running hooks load the rendered settings. Return why the settings are unusable, or "" on success."""
        try:
            settings = rendered.settings()
            parse(settings)
        except (DevClusterError, LookupError, SettingsError, TypeError, ValueError) as error:
            return f"the development cluster can't apply this change: {error}"
        if settings != self.settings_file.read_text():
            self.settings_file.write_text(settings)
            # On SIGHUP, gunicorn starts a new worker before it ends the old one.
            for process in (self.hook, *([self.admission.process] if self.admission else [])):
                os.kill(process.pid, signal.SIGHUP)
        return ""

    def restart_hook(self, settings: dict[str, Any] | None = None) -> None:
        """Kill and restart the hook, with new `settings` if they are given, and return when it is ready.

        Raises ProcessDied, with the hook's error in the message, if the hook rejects the settings.
        """
        self.hook.kill()
        if settings is not None:
            self.settings_file.write_text(yaml.safe_dump(settings))
        self.hook.start()
        self.hook.wait_ready(self.hook_ready)


def install_crds(api: Api, crds: list[Object]) -> None:
    """Create CustomResourceDefinitions, and return once the API server serves them."""
    for crd in crds:
        api.create(CRDS, crd)
    for name in (crd["metadata"]["name"] for crd in crds):
        wait_for(lambda name=name: is_true(api.get(CRDS, name), "Established"), what=f"the CRD {name}")  # type: ignore[misc]


def enforces_policies(api: Api) -> bool:
    """Return whether the API server enforces the admission policies. Until they are loaded, it admits everything.

    The probe is a dry-run create of a Service with too many labels. The policy that denies it is applied last.
    """
    metadata = {"name": "policy-probe", "labels": {f"l{number}": "" for number in range(201)}}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": [{"port": 80}]}}
    try:
        api.request("POST", path_of(SERVICES, "default"), params={"dryRun": "All"}, body=body)
    except ApiError as error:
        return error.status == 403
    return False
