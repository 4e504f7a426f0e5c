"""The overlay: the committed manifests, patched for a machine without Pods, and what is read from the result."""

import base64
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from devcluster import manifests
from devcluster.build import REPOSITORY
from devcluster.credentials import write_private
from devcluster.errors import DevClusterError

BASES = ("manifests", "metacontroller")
"""The folders that are applied: the hook's, and Metacontroller's with the DecoratorController."""

HTTPROUTE_BASES = ("manifests", "metacontroller/install", "metacontroller/listenerset")
"""The same, with what makes HTTPRoutes and ListenerSets."""

HTTPROUTE_COMPONENTS = ("gateway/gateway-api",)
"""The components of the gateway that serve HTTPRoutes."""

CONTROLLER = "ingress-manager"
"""The name of the DecoratorController."""

ADMISSION = "ingress-manager-admission"
"""The name of the admission hook's Deployment, Service and, with -tls, Secret."""

CLASS = "ingress-manager"
"""The name of the gateway's IngressClass, and of its Gateway."""


@dataclass(frozen=True)
class Rendered:
    """What kustomize made of the overlay."""

    text: str

    def find(self, kind: str, name: str) -> dict[str, Any]:
        """Return the object of that kind and name; raises DevClusterError when the manifests hold none."""
        for document in yaml.safe_load_all(self.text):
            if document["kind"] == kind and document["metadata"]["name"] == name:
                found: dict[str, Any] = document
                return found
        raise DevClusterError(f"the manifests hold no {kind} named {name}")

    def container(self, deployment: str) -> dict[str, Any]:
        """Return the only container of a Deployment; raises DevClusterError."""
        [found] = self.find("Deployment", deployment)["spec"]["template"]["spec"]["containers"]
        return dict(found)

    def mounted(self, deployment: str) -> dict[str, str]:
        """Return the files that a Deployment's pod gets from ConfigMaps, by their paths, as the kubelet mounts them.

        Raises DevClusterError when a mount leads to no ConfigMap of the manifests.
        """
        pod = self.find("Deployment", deployment)["spec"]["template"]["spec"]
        try:
            secret = {volume["name"] for volume in pod["volumes"] if "secret" in volume}
            volumes = {each["name"]: each["configMap"]["name"] for each in pod["volumes"] if each["name"] not in secret}
            files = {}
            for mount in self.container(deployment)["volumeMounts"]:
                if mount["name"] in secret:
                    continue
                data = self.find("ConfigMap", volumes[mount["name"]])["data"]
                if "subPath" in mount:
                    files[mount["mountPath"]] = data[mount["subPath"]]
                else:
                    files |= {f"{mount['mountPath']}/{name}": content for name, content in data.items()}
        except KeyError as error:
            raise DevClusterError(f"the Deployment {deployment} mounts what isn't there: {error}") from error
        return files

    def settings(self, deployment: str = CONTROLLER) -> str:
        """Return the settings file that a hook's Deployment mounts; raises DevClusterError when there is none."""
        environment = self.container(deployment).get("env", [])
        paths = [env["value"] for env in environment if env["name"] == "INGRESS_MANAGER_SETTINGS"]
        found = [content for path, content in self.mounted(deployment).items() if path in paths]
        if not found:
            raise DevClusterError(f"the Deployment {deployment} leads to no settings file")
        return found[0]


@dataclass(frozen=True)
class Serving:
    """What of the gateway is applied, and the ports of loopback that its objects name here."""

    http_port: int
    page_port: int
    httproute: bool
    """Whether HTTPRoutes are served, and made, too."""


@dataclass(frozen=True)
class Webhook:
    """What is particular to this machine in the admission hook's objects."""

    port: int
    """Of the Service. Not everybody may listen on 443."""
    secret: dict[str, str]
    """The certificate and its key."""
    authority: bytes
    """By which the API server knows the certificate."""


def render(
    folder: Path, hook_url: str, resync: int | None, serving: Serving | None, webhook: Webhook | None
) -> Rendered:
    """Write the overlay into a new folder and return what kustomize makes of it.

    With a gateway, its class is that of the settings: the one line that gateway/README.md asks for.

    Raises CommandFailed when the manifests are not as the patches expect them.
    """
    folder.mkdir()
    httproute = serving is not None and serving.httproute
    bases, components, own = list(HTTPROUTE_BASES if httproute else BASES), list[str](), list[str]()
    patches = [patch("DecoratorController", CONTROLLER, operations(hook_url, resync))]
    if serving:
        bases.append("gateway")
        patches.append(patch("Service", "not-found", [port("/spec/ports/0/port", serving.page_port)]))
    if serving and serving.httproute:
        # Traefik finds the entry point of a listener by its port.
        components += HTTPROUTE_COMPONENTS
        patches.append(patch("Gateway", CLASS, [port("/spec/listeners/0/port", serving.http_port)]))
    if webhook:
        components.append("manifests/admission")
        own.append(write_secret(folder, webhook))
        patches += patches_of(webhook)
    kustomization = {
        # kustomize takes no absolute path for a base.
        "resources": [os.path.relpath(REPOSITORY / base, folder) for base in bases] + own,
        "components": [os.path.relpath(REPOSITORY / component, folder) for component in components],
        "patches": patches,
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    text = manifests.kustomize(folder)
    return Rendered(re.sub(r"^( +class:) nginx$", rf"\1 {CLASS}", text, flags=re.MULTILINE) if serving else text)


def write_secret(folder: Path, webhook: Webhook) -> str:
    """Write the Secret with the certificate, and return the file's name."""
    secret = {"name": f"{ADMISSION}-tls", "namespace": CONTROLLER}
    content = {"apiVersion": "v1", "kind": "Secret", "metadata": secret, "stringData": webhook.secret}
    write_private(folder / "secret.yaml", yaml.safe_dump(content | {"type": "kubernetes.io/tls"}))
    return "secret.yaml"


def patches_of(webhook: Webhook) -> list[dict[str, Any]]:
    """Return the entries of a kustomization by which the API server finds the admission hook, and knows it."""
    client = "/webhooks/0/clientConfig"
    found_by: list[dict[str, Any]] = [
        {"op": "add", "path": f"{client}/service/port", "value": webhook.port},
        {"op": "add", "path": f"{client}/caBundle", "value": base64.b64encode(webhook.authority).decode()},
    ]
    return [
        patch("Service", ADMISSION, [port("/spec/ports/0/port", webhook.port)]),
        patch("ValidatingWebhookConfiguration", CONTROLLER, found_by),
    ]


def patch(kind: str, name: str, patched: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a kustomization's entry that applies a JSON patch to one object."""
    return {"target": {"kind": kind, "name": name}, "patch": yaml.safe_dump(patched)}


def port(path: str, number: int) -> dict[str, Any]:
    """Return the operation that sets a port."""
    return {"op": "replace", "path": path, "value": number}


def operations(hook_url: str, resync: int | None) -> list[dict[str, Any]]:
    """Return the JSON patch (RFC 6902) of the DecoratorController.

    It names the hook by its URL, since no Service has a Pod here, and it may set how often all Services are synced.
    """
    webhook = "/spec/hooks/sync/webhook"
    result: list[dict[str, Any]] = [
        {"op": "remove", "path": f"{webhook}/service"},
        {"op": "remove", "path": f"{webhook}/path"},
        {"op": "add", "path": f"{webhook}/url", "value": f"{hook_url}/sync"},
    ]
    if resync is not None:
        result.append({"op": "add", "path": "/spec/resyncPeriodSeconds", "value": resync})
    return result
