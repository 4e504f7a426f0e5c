"""The policy: what the administrator decides, for every Service. `hooks.settings` reads it from a file."""

import msgspec


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings; with no file, these defaults."""

    host: str = "example.com"
    """The host of every Ingress."""

    ingress_class: str | None = msgspec.field(name="class", default="nginx")
    """The IngressClass of every Ingress; null leaves it to the cluster's default class."""

    paused: bool = False
    """While true, every sync is answered 429: Metacontroller changes nothing."""
