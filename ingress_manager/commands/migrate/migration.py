"""`migrate`: from another controller's Services to ingress-manager's annotations. The pure part.

The tables of what becomes what are those of each controller: `exposecontroller` and `xposer`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ingress_manager.commands.annotating.annotated import annotated_for
from ingress_manager.commands.annotating.annotations import annotations_for
from ingress_manager.commands.annotating.changes import Change
from ingress_manager.commands.migrate import exposecontroller, xposer
from ingress_manager.commands.migrate.exposed import Controller, Exposed
from ingress_manager.commands.plans.plan import Step, script
from ingress_manager.commands.plans.steps import annotate, annotating, kubectl, unseen, wait
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.printing.words import shown
from ingress_manager.commands.reading.about import about, about_refusal
from ingress_manager.commands.reading.kinds import INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests, read
from ingress_manager.commands.view.ingresses import services_of
from ingress_manager.commands.view.typed import as_service, as_spec
from ingress_manager.core.annotations import PROFILE, Route
from ingress_manager.core.copying import OLD_CLASS
from ingress_manager.core.decide import decide, refusal_of
from ingress_manager.core.kubernetes import NOTHING, IngressSpec, Service
from ingress_manager.core.policy import Policy, in_namespace

CONTROLLERS = (exposecontroller.CONTROLLER, xposer.CONTROLLER)
CONFIGMAPS = tuple(controller.configmap for controller in CONTROLLERS)
RENAMED = {"certmanager.k8s.io/": "cert-manager.io/"}
"""How keys began before cert-manager 0.11, and how they begin now."""


UNKNOWN_HOST = (
    "its host can't be known: add the ConfigMap {} with the domain to the input, unless the template of the host asks "
    "for more than .Service, .Namespace and .Domain"
)


@dataclass(slots=True)
class Migration:
    """The steps, as a script for a shell, and what has no counterpart."""

    plans: list[list[Step]] = field(default_factory=list)
    """The steps, by what belongs together."""

    messages: list[Message] = field(default_factory=list)
    options: Sequence[str] = ()
    """kubectl's options that say which cluster; every command has them."""

    def script(self) -> str:
        """Return the steps as they are printed."""
        return "\n".join("".join(f"{line}\n" for line in script(steps, self.options)) for steps in self.plans)


def migrate(manifests: Manifests, policy: Policy, options: Sequence[str] = ()) -> Migration:
    """Return how the Services that another controller exposes become ingress-manager's, a pause apart.

    `options` are those of kubectl that say which cluster.
    """
    policy = policy.without_pause()
    migration = Migration(options=options)
    configs = Configs(manifests, migration)
    ingresses = {item.label: item for item in manifests.of_kind(INGRESSES)}
    old: dict[str, list[tuple[Item, Exposed]]] = {}
    for item in manifests.of_kind(SERVICES):
        controller = configs.controller_of(item)
        if controller is not None:
            exposed = controller.exposed(item, configs.of(controller, item.namespace))
            old.setdefault(exposed.controller, []).append((item, exposed))
    for name, services in old.items():
        migration.plans.append([stopping(name, options)])
        moved = [(item, exposed) for item, exposed in services if _migrate(item, exposed, policy, ingresses, migration)]
        migration.plans.extend(tidying(name, moved, options))
    return migration


def stopping(controller: str, options: Sequence[str]) -> Step:
    """Return the notes that say what to do first."""
    command = ("kubectl", "scale", "--replicas=0", "--namespace=NAMESPACE", "--", f"deployment/{controller.lower()}")
    head = f"First stop {controller}: it would take its Ingresses away with its annotations. For example:"
    return Step(notes=[head, f"  {shown(command, options)}"])


def tidying(controller: str, services: Iterable[tuple[Item, Exposed]], options: Sequence[str]) -> Iterator[list[Step]]:
    """Yield the notes that say what can go at the end, if there is anything."""
    commands = [
        annotate(item, changes=[f"{key}-" for key in exposed.read]) for item, exposed in services if exposed.read
    ]
    if commands:
        head = f"When all is well, what only {controller} has read can go:"
        yield [Step(notes=[head, *(f"  {shown(command, options)}" for command in commands)])]


def _migrate(item: Item, exposed: Exposed, policy: Policy, ingresses: Mapping[str, Item], migration: Migration) -> bool:
    """Add the steps for one Service, and what of it has no counterpart; return whether there are steps."""
    migration.messages.extend(about(item, sentence, "metadata", "annotations", key) for key, sentence in exposed.lost)
    service = as_service(item)
    if isinstance(service, list):
        migration.messages += service
        return False
    if exposed.host is None:
        migration.messages.append(about(item, UNKNOWN_HOST.format(exposed.controller.lower())))
        return False
    here = in_namespace(policy, item.namespace, item.annotations.get(PROFILE))
    annotations = annotations_for(
        service,
        [Route(exposed.host, exposed.path, None, None if exposed.port is None else str(exposed.port))],
        here,
        ingress_class=exposed.annotations.get(OLD_CLASS),
        tls=exposed.tls,
        secret=exposed.secret,
    )
    for key, value in copied(exposed.annotations).items():
        if key in here.copied:
            annotations[key] = value
        elif key not in here.added_with_tls:
            fields = "limits.copyAnnotations and defaults.annotations"
            migration.messages.append(about(item, f"{key}: {value}: the settings don't let it be copied: see {fields}"))
    metadata = msgspec.structs.replace(service.metadata, annotations={**item.annotations, **annotations})
    annotated = msgspec.structs.replace(service, metadata=metadata)
    refused = refusal_of(decide(annotated, NOTHING, policy))
    if refused:
        migration.messages.extend(about_refusal(item, refused))
        return False
    if wrong := list(unseen(item, annotations)):
        migration.messages.extend(wrong)
        return False
    old = ingresses.get(f"{item.namespace}/{exposed.ingress}")
    if old and exposed.ingress != item.name:
        migration.plans.append(replacing(item, annotations, old))
        return True
    migration.plans.append([annotating(item, annotations)])
    if old:
        migration.plans.append([adopting(old, annotated, policy)])
    return True


def adopting(ingress: Item, service: Service, policy: Policy) -> Step:
    """Return the step for an Ingress that the other controller has left, with what will be different in it."""
    spec = as_spec(ingress)
    changes: tuple[Change, ...] = ()
    if isinstance(spec, IngressSpec) and ingress.name in services_of(spec):
        changes = annotated_for(ingress, spec, service, policy).changes
    accepted = [f"--accept-changes={field}" for field in dict.fromkeys(change.field for change in changes)]
    command = ("ingress-manager", "adopt", ingress.label, *accepted, "--apply")
    return Step(command, notes=[f"{change.field}: {change.sentence}" for change in changes])


def replacing(item: Item, annotations: Mapping[str, str], old: Item) -> list[Step]:
    """Return the steps where the other controller has left an Ingress that has another name."""
    notes = [
        f"Its Ingress is called {old.name}, the new one {item.name}.",
        "Where ingress-nginx's admission webhook is installed, it denies the new one until the old one is gone:",
        "then delete the old one first.",
    ]
    return [annotating(item, annotations, wait(item, "create"), notes=notes), Step(kubectl("delete", old))]


def copied(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations of the old Ingress that are for a controller, by their names of today."""
    return {_renamed(key): value for key, value in annotations.items() if key != OLD_CLASS}


def _renamed(key: str) -> str:
    return next((now + key.removeprefix(old) for old, now in RENAMED.items() if key.startswith(old)), key)


class Configs:
    """The settings of the other controllers, from their ConfigMaps."""

    def __init__(self, manifests: Manifests, migration: Migration) -> None:
        self._found: dict[tuple[str, str], dict[str, Any]] = {}
        for item in manifests.of_kind("v1/ConfigMap"):
            for controller in CONTROLLERS:
                if item.name == controller.configmap:
                    self._add(controller, item, migration)

    def of(self, controller: Controller, namespace: str) -> dict[str, Any]:
        """Return a controller's settings: those in the namespace, else the first that were read, else none."""
        names = [namespace, *(where for name, where in self._found if name == controller.name)]
        return next((found for where in names if (found := self._found.get((controller.name, where)))), {})

    def controller_of(self, item: Item) -> Controller | None:
        """Return the controller that exposes a Service, None if none does."""
        exposing = [controller for controller in CONTROLLERS if controller.exposes(item)]
        # The label is the same for both. What else the Service says, or whose settings there are, tells which it is.
        marked = [controller for controller in exposing if any(map(controller.reads, item.annotations))]
        settled = [controller for controller in exposing if self.of(controller, item.namespace)]
        return next(iter([*marked, *settled, *exposing]), None)

    def _add(self, controller: Controller, item: Item, migration: Migration) -> None:
        config = config_of(item, controller.config_key)
        self._found[controller.name, item.namespace] = config
        migration.messages.extend(about(item, sentence, "data") for sentence in controller.lost_settings(config))
        if defaults := controller.our_defaults(config):
            text = as_yaml({"defaults": defaults}).removesuffix("\n").split("\n")
            head = f"Settings that say what the ConfigMap {item.label} says:"
            migration.plans.append([Step(notes=[head, *(f"  {line}" for line in text)])])


def config_of(configmap: Item, key: str) -> dict[str, Any]:
    """Return the settings file in a ConfigMap; empty when there is none that can be read."""
    data = configmap.object.get("data")
    text = data.get(key) if isinstance(data, dict) else None
    items = read(text).items if isinstance(text, str) else []
    return dict(items[0].object) if items else {}
