"""`explain`: what an annotation, a setting, a reason or a kind of finding means, from the program's own tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill, indent
from typing import Any

import msgspec

from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.explain import examples
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.core.annotations import PROFILE, TABLE
from ingress_manager.core.copying import (
    ADDED,
    COPIED_LABELS,
    KNOWN,
    NOT_COPIED,
    changes_ingresses_alone,
    is_for_controllers,
    is_for_ingresses_alone,
)
from ingress_manager.core.decide import decide, refusal_of
from ingress_manager.core.effects import EFFECTS, Effect, effect_of
from ingress_manager.core.errors import REASONS, Reason
from ingress_manager.core.kubernetes import NOTHING, Object, Service
from ingress_manager.core.policy import Policy
from ingress_manager.core.read_from_services import is_read_from_services
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.translation import SAID

ANNOTATION = "annotation of a Service"
OURS = "annotation that ingress-manager gives an Ingress"
COPIED = "annotation that is copied to the Ingress, if the settings say so"
SETTING = "setting"
REASON = "reason of a refusal"
KIND = "kind of finding of an audit"

OUR_ANNOTATIONS = {
    NOT_COPIED: "Lists the Service's annotations that look meant for an ingress controller and were not copied.",
    ADDED: "Lists the Ingress's annotations that the administrator's settings have added.",
    COPIED_LABELS: "Lists the labels that were copied from the Service, as the setting limits.copyLabels allows it.",
    PROFILE: "Says by which profile it was made.",
}


EFFECT_MEANINGS = {
    Effect.PROTECTS: "It protects: it keeps requests out, or may.",
    Effect.CHANGES: "It changes the answer, or what the Service's pods are sent.",
    Effect.TUNES: "It tunes the controller. The answer is the same.",
    None: "What it does isn't known here; see the documentation of its controller.",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What there is to know about one key."""

    key: str
    sort: str
    """What it is: one of the words above."""

    meaning: str
    facts: tuple[tuple[str, str], ...] = ()
    """Names and what stands beside them: value, default, what to do."""

    example: str = ""
    also: tuple[str, ...] = ()
    """Other keys of which the same is true; * stands for any name in them."""

    def text(self) -> str:
        width = max((len(name) for name, _ in self.facts), default=0)
        facts = "".join(_filled(fact, f"  {name.ljust(width)}  ") for name, fact in self.facts)
        parts = (f"{self.key}: {self.sort}\n", _filled(self.meaning, "  "), facts, indent(self.example, "  "))
        return "\n".join(part for part in parts if part)


def _filled(text: str, before: str) -> str:
    return fill(text, 100, initial_indent=before, subsequent_indent=" " * len(before)) + "\n"


def entries() -> list[Entry]:
    """Return all entries, in the order of the tables. A setting and a reason can have the same key: paused."""
    return [
        *_annotations(),
        *(Entry(key, OURS, meaning) for key, meaning in OUR_ANNOTATIONS.items()),
        *_settings(),
        *_reasons(),
        *(
            Entry(kind.value, KIND, row.meaning, (("severity", row.severity), ("what to do", row.remedy)))
            for kind, row in KINDS.items()
        ),
        *map(_of_controller, KNOWN),
    ]


def find(key: str) -> list[Entry]:
    """Return the entries of a key, usually one; namespaces.team-a.limits.hosts is as limits.hosts."""
    known = entries()
    exact = [entry for entry in known if entry.key == key]
    alike = [entry for entry in known if any(_matches(key, each) for each in (entry.key, *entry.also))]
    # The key of a controller's annotation, or its name alone.
    of_controllers = [key] if is_for_controllers(key) else [each for each in EFFECTS if each.partition("/")[2] == key]
    return exact or alike or [_of_controller(each) for each in of_controllers]


def _matches(key: str, pattern: str) -> bool:
    steps, wanted = key.split("."), pattern.split(".")
    return len(steps) == len(wanted) and all(want in {step, "*"} for step, want in zip(steps, wanted, strict=True))


def listing() -> str:
    """Return every key with its meaning, by what it is."""
    known = entries()
    parts = []
    for sort in dict.fromkeys(entry.sort for entry in known):
        of_sort = [entry for entry in known if entry.sort == sort]
        width = max(len(entry.key) for entry in of_sort)
        lines = [f"  {entry.key.ljust(width)}  {entry.meaning}" for entry in of_sort]
        parts.append("\n".join([f"{sort}:", *lines]) + "\n")
    return "\n".join(parts)


def _annotations() -> Iterator[Entry]:
    for row in TABLE:
        facts = (
            ("value", _plain(row.value)),
            ("without it", _plain(row.default)),
            ("also as", f"NAME.{row.key}, of another entrance"),
        )
        example = as_yaml({"metadata": {"annotations": examples.ANNOTATIONS[row.key]}})
        yield Entry(
            row.key, ANNOTATION, row.meaning, facts, f"For example:\n\n{indent(example, '  ')}", (f"*.{row.key}",)
        )


def _of_controller(key: str) -> Entry:
    """Return what becomes of an annotation that a controller reads."""
    effect, row = effect_of(key), KNOWN.get(key)
    meaning = f"{row.purpose[:1].upper()}{row.purpose[1:]}." if row else EFFECT_MEANINGS[effect]
    facts = [("value", row.right.removeprefix("must be "))] if row else []
    if row and effect:
        facts.append(("effect", effect.value))
    by_default = row and row.by_default
    facts.append(("copied", "by default" if by_default else "where the setting limits.copyAnnotations names it"))
    if is_read_from_services(key):
        facts.append(("read", "from the Service itself, where its controller serves the Ingress"))
    if not is_read_from_services(key, of_httproutes=True):
        if is_for_ingresses_alone(key):
            said = [quoted(value) for each, value in SAID if each == key]
            facts.append(("HTTPRoute", f"says the same for {' and '.join(said)}" if said else "can't say it"))
        refused = "the Service is refused, unless the setting limits.acceptedLosses names the key"
        if effect is Effect.PROTECTS:
            facts.append(("if lost", refused))
        elif changes_ingresses_alone(key):
            facts.append(("if copied, and lost there", refused))
    return Entry(key, COPIED, meaning, tuple(facts))


def _reasons() -> Iterator[Entry]:
    for reason, row in REASONS.items():
        example = ""
        if shown := refusal(reason):
            settings = f"\nwith these settings\n\n{indent(shown.settings, '  ')}" if shown.settings else ""
            service = indent(shown.service, "  ")
            example = f"For example, this Service\n\n{service}{settings}\nis refused:\n\n  {shown.sentence}\n"
        yield Entry(reason.value, REASON, row.meaning, (("what to do", row.remedy),), example)


@dataclass(frozen=True, slots=True)
class ShownRefusal:
    """An example of a Service that is refused: the Service and the settings as YAML, and what the Event says."""

    service: str
    settings: str
    """"" where the defaults hold."""

    sentence: str


def refusal(reason: Reason) -> ShownRefusal | None:
    """Return an example of a Service that is refused for a reason, or None where there is none."""
    example = examples.REFUSALS.get(reason)
    if example is None:
        return None
    metadata: Object = {"name": "shop", "namespace": "team-a", "annotations": example.annotations}
    if example.labels:
        metadata["labels"] = example.labels
    service: Object = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": example.spec}
    typed = msgspec.convert({**service, "metadata": {**metadata, "uid": ""}}, Service)
    refused = refusal_of(decide(typed, NOTHING, msgspec.convert(example.settings, Policy)))
    sentence = "" if refused is None else refused.line()
    return ShownRefusal(as_yaml(service), as_yaml(example.settings) if example.settings else "", sentence)


def _settings() -> Iterator[Entry]:
    types = msgspec.json.schema(Policy)["$defs"]
    # A profile's fields, and a namespace's, say what the general ones do: they are told together.
    alike: dict[bytes, list[tuple[str, dict[str, Any]]]] = {}
    for path, described in _fields(types, Policy.__name__, ""):
        alike.setdefault(msgspec.json.encode((path.rpartition(".")[2], described)), []).append((path, described))
    for (path, described), *others in alike.values():
        also = tuple(other for other, _ in others)
        default = _built_in(path, described)
        # A mapping is better seen in its fields.
        facts = () if isinstance(default, dict) else (("default", msgspec.json.encode(default).decode()),)
        nearer = (("also as", listed(also)),) if also else ()
        example = f"For example:\n\n{indent(as_yaml(examples.SETTINGS[path]), '  ')}"
        yield Entry(path, SETTING, _plain(described["description"]), facts + nearer, example, also)


def _built_in(path: str, described: dict[str, Any]) -> Any:
    """Return what holds where a setting is left out; a mapping where nothing can be said."""
    value = msgspec.to_builtins(Policy())
    for step in path.split("."):
        value = value.get(step, {}) if isinstance(value, dict) else {}
    return value or described.get("default", value)


def _fields(types: dict[str, Any], name: str, at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the path of each setting within a type of a JSON Schema, and what the schema says of it."""
    for field, described in types[name]["properties"].items():
        yield f"{at}{field}", described
        for within, step in ((described, "."), (described.get("additionalProperties") or {}, ".*.")):
            for inside in (within, *within.get("anyOf", ())):
                if "$ref" in inside:
                    yield from _fields(types, inside["$ref"].rpartition("/")[2], f"{at}{field}{step}")


def _plain(text: str) -> str:
    """Return a line of a Markdown table without its marks."""
    return text.replace("`", "")
