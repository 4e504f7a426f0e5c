"""What another controller made of a Service, in nobody's words: what `migrate` translates into ingress-manager's."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ingress_manager.commands.reading.manifests import Item

LABEL = "expose"
"""The label with which both controllers are asked to expose a Service."""

_FIELD = re.compile(r"\{\{-?\s*\.(\w+)\s*-?\}\}")


class Row(NamedTuple):
    """One key that a controller reads, and what says the same to ingress-manager."""

    key: str
    said: str
    """What it tells the controller."""

    becomes: str
    """What it becomes, or why it becomes nothing."""

    lost: bool = False
    """Whether somebody may miss it: each such key that is found is reported."""

    def without(self) -> str:
        """Return the sentence that says why it becomes nothing."""
        return f"{self.key} has no counterpart: {self.becomes.removeprefix('nothing: ')}"


@dataclass(slots=True)
class Exposed:
    """What a controller made of a Service: one host, one path."""

    controller: str
    ingress: str
    """The name of the Ingress that it made."""

    host: str | None
    """None: it can't be known from what was read."""

    path: str
    port: int | None
    tls: bool
    secret: str | None
    annotations: dict[str, str]
    """Those that the Ingress got."""

    read: list[str] = field(default_factory=list)
    """The Service's annotations that only this controller reads or has written."""

    lost: list[tuple[str, str]] = field(default_factory=list)
    """The annotation, and the sentence that says what of it has no counterpart."""


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller from which one can move away: what it reads, and what it makes of that."""

    name: str
    configmap: str
    """The name of the ConfigMap with its settings."""

    config_key: str
    """The key of the settings file in it."""

    annotations: tuple[Row, ...]
    """Those of a Service."""

    settings: tuple[Row, ...]
    exposes: Callable[[Item], bool]
    """Returns whether it makes an Ingress for a Service."""

    reads: Callable[[str], bool]
    """Returns whether an annotation's key is one that it alone reads or writes."""

    exposed: Callable[[Item, Mapping[str, Any]], Exposed]
    """Returns what it makes of a Service that it exposes, with its settings file."""

    our_defaults: Callable[[Mapping[str, Any]], dict[str, Any]]
    """Returns `defaults` for the settings of ingress-manager that say what its settings file does."""

    lost_settings: Callable[[Mapping[str, Any]], list[str]]
    """Returns a sentence for each of its settings that becomes nothing and may be missed."""


def filled_in(template: str, values: Mapping[str, str]) -> str | None:
    """Return what a Go template such as {{.Service}}.{{.Domain}} makes; None when it asks for anything else."""
    text = _FIELD.sub(lambda found: values.get(found[1], found[0]), template)
    return None if "{{" in text else text


def as_template(template: str, domain: str) -> str | None:
    """Return a Go template of hosts as a template of the setting `host`; None when there is none that says the same."""
    return filled_in(template, {"Service": "{service}", "Namespace": "{namespace}", "Domain": domain})


def forwarded(text: str) -> dict[str, str]:
    """Return the annotations that a text of lines such as `key: value` names. Other lines are skipped."""
    pairs = (line.split(":", 1) for line in text.splitlines() if ":" in line)
    return {key.strip(): value.strip().strip("\"'") for key, value in pairs}


def first_port(service: Item) -> int | None:
    """Return the first port of a Service, which both controllers take; None if it has none."""
    return next(iter(port_numbers(service)), None)


def port_numbers(service: Item) -> list[int]:
    """Return the numbers of a Service's ports."""
    spec = service.object.get("spec")
    ports = spec.get("ports") if isinstance(spec, dict) else None
    found = (port.get("port") for port in ports if isinstance(port, dict)) if isinstance(ports, list) else ()
    return [number for number in found if isinstance(number, int)]


def lost_of(service: Item, table: Iterable[Row]) -> list[tuple[str, str]]:
    """Return, for each key of the Service that becomes nothing and may be missed, the key and the sentence for it."""
    return [(row.key, row.without()) for row in table if row.lost and row.key in service.annotations]


def text_of(value: Any) -> str:
    """Return a value of a controller's settings as text; "" for none."""
    return "" if value is None else str(value)


def is_true(value: Any) -> bool:
    """Return whether a value of a controller's settings, or of an annotation, means true."""
    return text_of(value).lower() == "true"
