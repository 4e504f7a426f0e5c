"""`migrate`: from another controller's Services to ingress-manager's annotations. The pure part.

The tables of what becomes what are those of each controller: `exposecontroller` and `xposer`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ingress_manager.commands.annotating.annotated import Annotated, annotated_for
from ingress_manager.commands.annotating.annotations import annotations_for
from ingress_manager.commands.annotating.changes import Change
from ingress_manager.commands.migrate import exposecontroller, xposer
from ingress_manager.commands.migrate.exposed import Controller, Exposed
from ingress_manager.commands.plans.plan import Step, script
from ingress_manager.commands.plans.steps import annotate, annotating, unseen
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.printing.words import shown
from ingress_manager.commands.reading.about import about, about_refusal
from ingress_manager.commands.reading.kinds import INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests, read
from ingress_manager.commands.view.ingresses import services_of
from ingress_manager.commands.view.managed import is_made_for
from ingress_manager.commands.view.typed import as_service, as_spec
from ingress_manager.core.annotations import PROFILE, Route, is_on
from ingress_manager.core.copying import OLD_CLASS, OTHERS_PREFIXES
from ingress_manager.core.decide import decide
from ingress_manager.core.kubernetes import NOTHING, IngressSpec, Service
from ingress_manager.core.policy import NamespacePolicy, Policy, in_namespace
from ingress_manager.core.text import quoted

CONTROLLERS = (exposecontroller.CONTROLLER, xposer.CONTROLLER)
CONFIGMAPS = tuple(controller.configmap for controller in CONTROLLERS)
CERT_MANAGER = "certmanager.k8s.io/"
"""How the keys of cert-manager began before 0.11. Source: its page on upgrading from 0.10 to 0.11."""

RENAMED = {
    f"{CERT_MANAGER}acme-http01-edit-in-place": "acme.cert-manager.io/http01-edit-in-place",
    f"{CERT_MANAGER}acme-http01-ingress-class": "acme.cert-manager.io/http01-ingress-class",
    **{
        f"{CERT_MANAGER}{name}": f"cert-manager.io/{name}"
        for name in ("alt-names", "cluster-issuer", "common-name", "ip-sans", "issuer", "issuer-kind", "issuer-name")
    },
}
"""Their names of today. The others have none."""

CLASS = "spec.ingressClassName"

Tell = Callable[[Message], None]
"""Tells somebody of something."""

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
        """Return the steps as they are printed. None is taken after one that has failed."""
        plans = ["".join(f"{line}\n" for line in script(steps, self.options)) for steps in self.plans]
        return "\n".join(
            [*(["set -e\n"] if any(step.command for steps in self.plans for step in steps) else []), *plans]
        )


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
    head = (
        f"First stop {controller}, and whatever starts it again: it writes its Ingresses back, and takes them away "
        "with its annotations. For example:"
    )
    return Step(notes=[head, f"  {shown(command, options)}"])


def tidying(controller: str, services: Iterable[tuple[Item, Exposed]], options: Sequence[str]) -> Iterator[list[Step]]:
    """Yield the notes that say what can go at the end, if there is anything."""
    commands = [
        annotate(item, changes=[f"{key}-" for key in exposed.read]) for item, exposed in services if exposed.read
    ]
    if commands:
        head = f"When all is well, and {controller} is gone for good, what only {controller} has read can go:"
        yield [Step(notes=[head, *(f"  {shown(command, options)}" for command in commands)])]


class _NotMoved(Exception):  # noqa: N818 - it is caught where it is raised for
    """Why a Service is left as it is."""

    def __init__(self, *messages: Message) -> None:
        super().__init__()
        self.messages = messages


def _migrate(item: Item, exposed: Exposed, policy: Policy, ingresses: Mapping[str, Item], migration: Migration) -> bool:
    """Add the steps for one Service, and what of it has no counterpart; return whether it is moved by them."""
    tell = migration.messages.append
    for key, sentence in exposed.lost:
        tell(about(item, sentence, "metadata", "annotations", key))
    service = as_service(item)
    if isinstance(service, list):
        migration.messages += service
        return False
    old = ingresses.get(f"{item.namespace}/{exposed.ingress}")
    if old and is_made_for(old, item):
        return True
    try:
        plan = adopting(old, service, policy, tell) if old else annotated(item, service, exposed, policy, tell)
    except _NotMoved as reason:
        migration.messages.extend(reason.messages)
        return False
    migration.plans.extend([plan] if plan else [])
    return True


# Where the other controller's Ingress isn't there, nothing answers yet.


def annotated(item: Item, service: Service, exposed: Exposed, policy: Policy, tell: Tell) -> list[Step]:
    """Return the step that asks for what the other controller made. Raises _NotMoved."""
    if exposed.host is None:
        raise _NotMoved(about(item, UNKNOWN_HOST.format(exposed.controller.lower())))
    here = in_namespace(policy, item.namespace, item.annotations.get(PROFILE))
    asking = annotations_for(
        service,
        [Route(exposed.host, exposed.path, None, None if exposed.port is None else str(exposed.port))],
        here,
        ingress_class=exposed.annotations.get(OLD_CLASS),
        tls=exposed.tls,
        secret=exposed.secret,
    )
    found = {RENAMED.get(key, key): value for key, value in meant(exposed.annotations).items()}
    asking |= {key: value for key, value in found.items() if key in here.copied and key not in here.added_with_tls}
    refuse_other_words(item, asking)
    metadata = msgspec.structs.replace(service.metadata, annotations={**item.annotations, **asking})
    decision = decide(msgspec.structs.replace(service, metadata=metadata), NOTHING, policy)
    asked = Annotated({}, item.name, decision)
    if asked.refused:
        raise _NotMoved(*about_refusal(item, asked.refused))
    has = {key: value for each in asked.objects for key, value in each["metadata"].get("annotations", {}).items()}
    if opposite := [key for key, value in found.items() if has.get(key, value) != value]:
        remark = "the Service's own word would not hold; a profile in the settings can leave it out"
        said = (f"{key}: {found[key]}: the settings add {quoted(has[key])}: {remark}" for key in opposite)
        raise _NotMoved(*(about(item, sentence) for sentence in said))
    for sentence in not_copied(found, here):
        tell(about(item, sentence))
    changes = {key: value for key, value in asking.items() if item.annotations.get(key) != value}
    if wrong := list(unseen(item, changes)):
        raise _NotMoved(*wrong)
    return [annotating(item, changes)] if changes else []


def refuse_other_words(item: Item, asking: Mapping[str, str]) -> None:
    """Raise _NotMoved where a Service says something else already."""
    stated, on = item.annotations, is_on(item.annotations)
    other = [key for key, value in asking.items() if stated.get(key) != value and (on or key in stated)]
    if other:
        now = {key: quoted(stated[key]) if key in stated else "nothing" for key in other}
        remark = "the Service asks ingress-manager for something else already"
        said = (f"{key}: {now[key]} would become {quoted(asking[key])}: {remark}" for key in other)
        raise _NotMoved(*(about(item, sentence) for sentence in said))


# Where it is there, `adopt` does the rest: it keeps the Ingress in place where its name allows, else it makes the new
# one beside it, and takes the old one away once it has seen that the new one stands.


def adopting(ingress: Item, service: Service, policy: Policy, tell: Tell) -> list[Step]:
    """Return the steps for an Ingress that the other controller has left. Raises _NotMoved."""
    name = service.metadata.name
    spec = as_spec(ingress)
    if isinstance(spec, list):
        raise _NotMoved(*spec)
    if name not in services_of(spec):
        raise _NotMoved(about(ingress, f"has the name of the Ingress of Service {name}, and doesn't lead to it"))
    asked = annotated_for(ingress, spec, service, policy)
    if asked.refused:
        raise _NotMoved(*about_refusal(ingress, asked.refused))
    refuse_changes(ingress, spec, asked.changes)
    here = in_namespace(policy, ingress.namespace, (service.metadata.annotations or {}).get(PROFILE))
    found = meant(ingress.annotations)
    old = [key for key in found if key.startswith(CERT_MANAGER)]
    for key in old:
        tell(about(ingress, f"{key}: {found.pop(key)}: {unread(key)}"))
    left = [*not_copied(found, here)]
    if left and ingress.name != name:
        raise _NotMoved(*(about(ingress, f"{sentence}; the new Ingress would lack it") for sentence in left))
    for sentence in left:
        tell(about(ingress, f"{sentence}; it stays until the Ingress is made anew"))
    fields = dict.fromkeys(change.field for change in asked.changes)
    command = ("ingress-manager", "adopt", ingress.label, *(f"--accept-changes={field}" for field in fields), "--apply")
    adopt = Step(command, notes=[f"{change.field}: {change.sentence}" for change in asked.changes])
    if CLASS not in fields:
        return [adopt]
    looking = ("kubectl", "get", "--", "ingressclass", ingress.annotations[OLD_CLASS])
    return [Step(looking, notes=["The IngressClass has to be there before an Ingress names it."]), adopt]


def refuse_changes(ingress: Item, spec: IngressSpec, changes: Iterable[Change]) -> None:
    """Raise _NotMoved unless whatever answers now does so after the changes."""
    harmless = {"spec.rules.http.paths.path"}
    # Of such a path, Prefix answers all that any controller takes ImplementationSpecific for, or more.
    if all((path.path or "/").endswith("/") and path.path_type != "Exact" for _, path in spec.paths()):
        harmless.add("spec.rules.http.paths.pathType")
    if OLD_CLASS in ingress.annotations:
        harmless.add(CLASS)
    wrong = [change for change in changes if change.field not in harmless and not change.is_served_alike]
    if wrong:
        see = (
            f"`ingress-manager adopt {ingress.label}` tells what it takes; where limits.pathTypes has the path type, "
            "it stays"
        )
        raise _NotMoved(*(about(ingress, f"{change.field}: {change.sentence}; {see}") for change in wrong))


# What both need.


def meant(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations of the old Ingress that are for a controller, as far as one can know."""
    others = (OLD_CLASS, *OTHERS_PREFIXES)
    read = {key for key in annotations if any(each.reads(key) for each in CONTROLLERS)}
    return {key: value for key, value in annotations.items() if not key.startswith(others) and key not in read}


def unread(key: str) -> str:
    """Return why a key of cert-manager's says nothing today."""
    return f"since 0.11, cert-manager reads {f'{RENAMED[key]} in its place' if key in RENAMED else 'it no more'}"


def not_copied(found: Mapping[str, str], here: NamespacePolicy) -> Iterator[str]:
    """Yield a sentence for each annotation that is neither copied nor added by the settings."""
    fields = "limits.copyAnnotations and defaults.annotations"
    for key, value in found.items():
        if key.startswith(CERT_MANAGER):
            yield f"{key}: {value}: {unread(key)}"
        elif key not in here.copied and key not in here.added_with_tls:
            yield f"{key}: {value}: the settings don't let it be copied: see {fields}"


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
