"""The Helm chart's values, and the files of the chart that are made: `make docs` writes them.

`Values` is the one source of the chart's values.yaml, of its values.schema.json and of the table in its README. Its
defaults are what manifests/deployment.yaml and manifests/admission/deployment.yaml state. What Metacontroller, the API
server and Prometheus need is copied from the kustomize folders into the chart's folder files/.
"""

import json
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
import yaml
from msgspec import UNSET, Meta, UnsetType

from devcluster.build import REPOSITORY
from devcluster.programs import find_kubectl
from ingress_manager.core.policy import Policy
from tools.markdown import table

CHART = REPOSITORY / "charts/ingress-manager"

DEPLOYMENT = yaml.safe_load((REPOSITORY / "manifests/deployment.yaml").read_text(encoding="utf-8"))["spec"]
POD = DEPLOYMENT["template"]["spec"]
[HOOK] = POD["containers"]
ADMISSION = yaml.safe_load((REPOSITORY / "manifests/admission/deployment.yaml").read_text(encoding="utf-8"))["spec"]
[ANSWERING] = ADMISSION["template"]["spec"]["containers"]

Labels = dict[Annotated[str, Meta(max_length=253 + 1 + 63)], str]
"""Of labels or annotations. Where a key has more than 1,024 characters, Helm leaves out all of them, in silence."""

Free = dict[str, Any]
"""A part of a Kubernetes object: the API server checks it."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Values that belong together."""


class Image(Section, frozen=True):
    """The hook's image."""

    repository: Annotated[
        str,
        Meta(
            min_length=1,
            description="The image's name. No image is published yet: build one, push it to a registry of yours, and "
            "name it here.",
        ),
    ] = HOOK["image"].rpartition(":")[0]
    tag: Annotated[str, Meta(description="The image's tag; empty: the chart's appVersion.")] = ""
    digest: Annotated[
        str,
        Meta(
            pattern="^(sha256:[0-9a-f]{64})?$",
            description="The image's digest, `sha256:…`, which is used in the place of the tag.",
        ),
    ] = ""
    pull_policy: Annotated[
        Literal["", "Always", "IfNotPresent", "Never"],
        Meta(description="When the image is pulled; empty: as Kubernetes does by default."),
    ] = ""


class NetworkPolicy(Section, frozen=True):
    """Who may ask the hook."""

    enabled: Annotated[
        bool, Meta(description="Whether a NetworkPolicy lets in Metacontroller alone, and lets the hook reach nobody.")
    ] = True
    extra_ingress: Annotated[
        list[Free],
        Meta(description="More rules of the NetworkPolicy's `ingress`, for example one that lets in Prometheus."),
    ] = []


class PodDisruptionBudget(Section, frozen=True):
    """What the drain of a node may take away."""

    enabled: Annotated[bool, Meta(description="Whether there is a PodDisruptionBudget.")] = True
    max_unavailable: Annotated[
        Annotated[int, Meta(ge=0)] | Annotated[str, Meta(pattern="^[0-9]+%$")],
        Meta(description="How many pods a drain may take away at once: a number, or a percentage."),
    ] = 1


class PodMonitor(Section, frozen=True):
    """What Prometheus scrapes."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether the Prometheus Operator is told what to scrape, and the NetworkPolicy lets "
            "Prometheus in. The cluster needs the operator's CRDs first."
        ),
    ] = False
    labels: Annotated[Labels, Meta(description="The labels by which Prometheus finds the PodMonitors.")] = {}
    prometheus_namespace: Annotated[
        str, Meta(min_length=1, description="The namespace that Prometheus runs in, for the NetworkPolicy.")
    ] = "monitoring"


class PrometheusRule(Section, frozen=True):
    """The alerts."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether the Prometheus Operator is given the alerts of docs/monitoring.md. The cluster needs "
            "the operator's CRDs first."
        ),
    ] = False
    labels: Annotated[Labels, Meta(description="The labels by which Prometheus finds the PrometheusRule.")] = {}


class Dashboard(Section, frozen=True):
    """The dashboard."""

    enabled: Annotated[bool, Meta(description="Whether there is a ConfigMap with the dashboard for Grafana.")] = False
    labels: Annotated[
        Labels, Meta(description="More labels of the ConfigMap. It has `grafana_dashboard`, by which Grafana finds it.")
    ] = {}


class Controller(Section, frozen=True):
    """The DecoratorController."""

    create: Annotated[
        bool,
        Meta(
            description="Whether Metacontroller is told to ask the hook: the DecoratorController, and the rights that "
            "Metacontroller needs for it. Set it to false until the hook runs for the first time."
        ),
    ] = True


class HTTPRoute(Section, frozen=True):
    """HTTPRoutes of the Gateway API."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether Metacontroller also looks after HTTPRoutes. The cluster needs the CRDs of the Gateway "
            "API first. Which Services are given HTTPRoutes is decided in `settings`."
        ),
    ] = False


class AdmissionPolicies(Section, frozen=True):
    """The ValidatingAdmissionPolicies, each with its binding."""

    depth: Annotated[
        bool,
        Meta(
            description="Whether a Service, an Ingress or an HTTPRoute is kept from being nested so deeply that nobody "
            "can list them."
        ),
    ] = True
    name_taken: Annotated[
        bool, Meta(description="Whether a Service's Event says that somebody else's Ingress has its name.")
    ] = True
    owner_guard: Annotated[
        bool, Meta(description="Whether what ingress-manager made is kept from losing its Service as an owner.")
    ] = True
    service_guard: Annotated[
        bool,
        Meta(
            description="Whether an annotated Service is kept from becoming an ExternalName, from leaving its "
            "Ingress behind, and from keeping Metacontroller off."
        ),
    ] = True


class CertManager(Section, frozen=True):
    """Who makes the webhook's certificate."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether cert-manager makes the certificate, and renews it. The cluster needs cert-manager "
            "first. If false, `secretName` and `caBundle` name yours."
        ),
    ] = True


class AdmissionWebhook(Section, frozen=True):
    """The answer at `kubectl apply`, before a Service is written."""

    enabled: Annotated[
        bool,
        Meta(
            description="Whether the API server asks before it writes a Service, so that a mistake is told at once. "
            "`settings` say whether it is denied, too."
        ),
    ] = False
    replica_count: Annotated[int, Meta(ge=0, description="How many pods answer it.")] = ADMISSION["replicas"]
    resources: Annotated[Free, Meta(description="What their container requests, and its limits.")] = msgspec.field(
        default_factory=lambda: ANSWERING["resources"]
    )
    cert_manager: Annotated[CertManager, Meta(description="Who makes the certificate.")] = CertManager()
    secret_name: Annotated[
        str,
        Meta(
            description="The Secret with the certificate (tls.crt) and its key (tls.key); empty, with cert-manager: "
            "FULLNAME-admission-tls."
        ),
    ] = ""
    ca_bundle: Annotated[
        str,
        Meta(
            pattern="^(-----BEGIN CERTIFICATE-----|$)",
            description="The authority of your certificate, as PEM: `--set-file admission.caBundle=ca.crt`.",
        ),
    ] = ""


class Metacontroller(Section, frozen=True):
    """Where Metacontroller runs. The chart doesn't install it."""

    namespace: Annotated[str, Meta(min_length=1, description="The namespace that Metacontroller runs in.")] = (
        "metacontroller"
    )
    service_account_name: Annotated[
        str,
        Meta(
            min_length=1,
            description="The ServiceAccount that it runs as. Its Helm chart names it `RELEASE-metacontroller-helm`.",
        ),
    ] = "metacontroller"
    pod_labels: Annotated[
        Labels,
        Meta(
            description="The labels by which the NetworkPolicy knows its pods; empty: those of its own manifests and "
            "of its Helm chart."
        ),
    ] = {}


class Values(Section, frozen=True):
    """The values of the chart."""

    image: Annotated[Image, Meta(description="The hook's image.")] = Image()
    image_pull_secrets: Annotated[
        list[Free], Meta(description="The Secrets with which the image is pulled, as in `[{name: registry}]`.")
    ] = []
    settings: Annotated[
        Policy | UnsetType,
        Meta(description="The settings, as docs/settings.md explains them. A field that is left out is as built in."),
    ] = UNSET
    replica_count: Annotated[int, Meta(ge=0, description="How many pods the hook has.")] = DEPLOYMENT["replicas"]
    resources: Annotated[Free, Meta(description="What the hook's container requests, and its limits.")] = msgspec.field(
        default_factory=lambda: HOOK["resources"]
    )
    node_selector: Annotated[Labels, Meta(description="The labels of the nodes that the pods may run on.")] = (
        msgspec.field(default_factory=lambda: POD.get("nodeSelector", {}))
    )
    tolerations: Annotated[list[Free], Meta(description="The taints of nodes that the pods tolerate.")] = []
    affinity: Annotated[Free, Meta(description="The affinity of the pods.")] = {}
    topology_spread_constraints: Annotated[
        list[Free],
        Meta(
            description="How the pods are spread. A constraint without a `labelSelector` gets that of the hook's pods."
        ),
    ] = msgspec.field(
        default_factory=lambda: [
            {key: value for key, value in constraint.items() if key != "labelSelector"}
            for constraint in POD["topologySpreadConstraints"]
        ]
    )
    priority_class_name: Annotated[str, Meta(description="The PriorityClass of the pods.")] = ""
    pod_labels: Annotated[Labels, Meta(description="More labels of the pods.")] = {}
    pod_annotations: Annotated[Labels, Meta(description="The annotations of the pods.")] = {}
    common_labels: Annotated[Labels, Meta(description="More labels of all objects, the pods among them.")] = {}
    name_override: Annotated[
        str,
        Meta(
            pattern="^([A-Za-z0-9][A-Za-z0-9._-]*)?$",
            description="What the label app.kubernetes.io/name says, in the place of the chart's name.",
        ),
    ] = ""
    fullname_override: Annotated[
        str,
        Meta(
            pattern="^([a-z0-9][a-z0-9-]*)?$",
            description="What the hook's objects are called, in the place of the release's name.",
        ),
    ] = ""
    network_policy: Annotated[NetworkPolicy, Meta(description="Who may ask the hook.")] = NetworkPolicy()
    pod_disruption_budget: Annotated[
        PodDisruptionBudget, Meta(description="What the drain of a node may take away.")
    ] = PodDisruptionBudget()
    controller: Annotated[Controller, Meta(description="The DecoratorController.")] = Controller()
    httproute: Annotated[HTTPRoute, Meta(description="HTTPRoutes of the Gateway API.")] = HTTPRoute()
    admission_policies: Annotated[
        AdmissionPolicies, Meta(description="The ValidatingAdmissionPolicies, each with its binding.")
    ] = AdmissionPolicies()
    admission: Annotated[
        AdmissionWebhook, Meta(description="The answer at `kubectl apply`, before a Service is written.")
    ] = AdmissionWebhook()
    pod_monitor: Annotated[PodMonitor, Meta(description="What Prometheus scrapes.")] = PodMonitor()
    prometheus_rule: Annotated[PrometheusRule, Meta(description="The alerts.")] = PrometheusRule()
    dashboard: Annotated[Dashboard, Meta(description="The dashboard for Grafana.")] = Dashboard()
    metacontroller: Annotated[
        Metacontroller, Meta(description="Where Metacontroller runs. The chart doesn't install it.")
    ] = Metacontroller()


SHARED = """\
settings:
  # On a cluster that several teams share, take the # off these two lines: each namespace then has hosts of its own.
  # Without them, every namespace may claim every host.
  #defaults: {host: "{service}.{namespace}.apps.example.com"}
  #limits: {hosts: ["*.{namespace}.apps.example.com"], classes: [nginx]}
"""
"""What values.yaml says at the beginning of the settings."""


class Value(msgspec.Struct, frozen=True):
    """One value, or one section of them, as values.yaml has it."""

    path: tuple[str, ...]
    description: str
    default: Any
    is_section: bool


def values(type_: type[Section] = Values, above: tuple[str, ...] = ()) -> Iterator[Value]:
    """Yield all values in order, each section before what is in it."""
    described = msgspec.json.schema(type_)["$defs"][type_.__name__]["properties"]
    types = get_type_hints(type_)
    for field in msgspec.structs.fields(type_):
        name, its_type = field.encode_name, types[field.name]
        path = (*above, name)
        is_section = isinstance(its_type, type) and issubclass(its_type, Section)
        yield Value(path, described[name]["description"], default_of(field), is_section)
        if is_section:
            yield from values(its_type, path)


def default_of(field: msgspec.structs.FieldInfo) -> Any:
    """Return the default as values.yaml has it. The settings state next to nothing: the rest is built into the hook."""
    default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return {"paused": False} if default is UNSET else default


def leaves() -> list[Value]:
    """Return the values without the sections."""
    return [value for value in values() if not value.is_section]


def values_table() -> str:
    """Return the table of the values."""
    rows = ((f"`{'.'.join(leaf.path)}`", leaf.description, f"`{json.dumps(leaf.default)}`") for leaf in leaves())
    return table(("value", "what it decides", "default"), rows)


def values_yaml() -> str:
    """Return values.yaml."""
    lines = ["# The chart's values. Made by `make docs` from tools/chart.py: change them there."]
    for value in values():
        indent = "  " * (len(value.path) - 1)
        lines += [] if indent else [""]
        lines += textwrap.wrap(value.description, 100, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")
        name = value.path[-1]
        stated = f"{name}:" if value.is_section else yaml.safe_dump({name: value.default}, sort_keys=False).rstrip()
        lines.append(textwrap.indent(stated, indent))
    return "\n".join(lines).replace(": ''", ': ""').replace("\nsettings:\n", f"\n{SHARED}") + "\n"


def values_schema() -> str:
    """Return values.schema.json, which holds the schema of the settings.

    It is of draft 7 of JSON Schema: older versions of Helm know no later one.
    """
    definitions = msgspec.json.schema(Values)["$defs"]
    root = definitions.pop("Values")
    # Helm gives it to each chart that another one depends on.
    root["properties"]["global"] = {"type": "object"}
    made = {"$schema": "http://json-schema.org/draft-07/schema#", **root, "$defs": definitions}
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def objects_of(folder: str) -> str:
    """Return the objects of a kustomize folder, as kustomize builds them."""
    command: list[str | Path] = [find_kubectl().path, "kustomize", REPOSITORY / folder]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return f"# Made by `make docs` from {folder}/: change it there.\n{built}"


def copy_of(path: str) -> str:
    """Return a file of the repository, and where it is from."""
    return f"# Made by `make docs` from {path}: change it there.\n{(REPOSITORY / path).read_text(encoding='utf-8')}"


FILES: dict[Path, Callable[[], str]] = {
    CHART / "values.yaml": values_yaml,
    CHART / "values.schema.json": values_schema,
    CHART / "files/controller.yaml": lambda: objects_of("metacontroller/controller"),
    CHART / "files/httproute.yaml": lambda: objects_of("metacontroller/httproute"),
    CHART / "files/admission.yaml": lambda: (
        f"{objects_of('manifests/admission')}---\n{objects_of('manifests/admission/cert-manager')}"
    ),
    CHART / "files/monitoring.yaml": lambda: objects_of("monitoring"),
    CHART / "files/viewer.yaml": lambda: copy_of("manifests/viewer.yaml"),
}
"""The files of the chart that are made, and what makes each."""
