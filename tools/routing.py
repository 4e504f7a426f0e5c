"""The table of hosts and paths, tests/paths.yaml: as typed values, and as parts of docs/paths.md."""

import re
from typing import Literal

import msgspec
import yaml

from devcluster.build import REPOSITORY
from tools.markdown import table

TABLE = REPOSITORY / "tests/paths.yaml"
HOST = "www.example.com"
PAGE = "page"

Output = Literal["ingress", "httproute"]
OUTPUTS: dict[Output, str] = {"ingress": "an Ingress", "httproute": "an HTTPRoute"}
Who = str | int | list[str]
"""A Service, with a colon and its port if that isn't 80; PAGE; the status of the gateway's own answer; or a choice."""


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    """A route, as the annotation ingress/routes has it."""

    path: str
    path_type: str = "Prefix"
    host: str = HOST
    port: str = "http"


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request, and who answers it."""

    path: str
    answers: Who | dict[Output, Who]
    method: str = "GET"
    host: str = HOST
    gets: str | None = None
    traefik: dict[Output, Who] = {}
    why: str | None = None

    def specified(self, output: Output) -> Who:
        """Return who is to answer, by the specification of an output."""
        return self.answers[output] if isinstance(self.answers, dict) else self.answers

    def seen(self, output: Output) -> Who:
        """Return who answers through Traefik."""
        return self.traefik.get(output, self.specified(output))

    @property
    def target(self) -> str:
        """The target to send."""
        return re.sub(r"\{(\d+)\}", lambda found: "x" * int(found[1]), self.path)


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Services side by side, and requests to them."""

    about: str
    services: dict[str, list[Route]]
    requests: list[Request]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table."""

    reasons: dict[str, str]
    groups: list[Group]


def load() -> Table:
    """Return the table; raises msgspec.ValidationError."""
    return msgspec.convert(yaml.safe_load(TABLE.read_text(encoding="utf-8")), Table)


def shown() -> str:
    """Return the whole table in Markdown."""
    return "\n\n".join(shown_group(group) for group in load().groups)


def shown_group(group: Group) -> str:
    """Return a group in Markdown: what it is about, the routes of its Services, and its requests."""
    services = [
        f"- `{name}`: {', '.join(shown_route(route) for route in routes)}" for name, routes in group.services.items()
    ]
    rows = [(shown_request(each), shown_answer(each), shown_difference(each)) for each in group.requests]
    differ = any(difference for _, _, difference in rows)
    head = ("request", "who answers", "where it differs")
    requests = table(head, rows) if differ else table(head[:2], [row[:2] for row in rows])
    return "\n".join([f"### {group.about}", "", *services, "", requests])


def shown_reasons() -> str:
    """Return the reasons of the differences in Markdown, each with an anchor."""
    return "\n".join(f'- <a id="{name}"></a>**{name}**: {reason}' for name, reason in load().reasons.items())


def shown_route(route: Route) -> str:
    """Return a route in Markdown."""
    port = "" if route.port == "http" else f" to port `{route.port}`"
    return f"{route.path_type} {code(route.path if route.host == HOST else route.host + route.path)}{port}"


def shown_request(request: Request) -> str:
    """Return a request in Markdown: its target, with the method unless it is GET, and the host unless it is HOST."""
    line = code(request.path if request.method == "GET" else f"{request.method} {request.path}")
    return line if request.host == HOST else f"{line}, `Host:` {code(request.host)}"


def shown_answer(request: Request) -> str:
    """Return who is to answer in Markdown, and what the Service gets if it isn't what was sent."""
    if isinstance(request.answers, dict):
        return ", ".join(f"{OUTPUTS[output]}: {shown_who(who)}" for output, who in request.answers.items())
    gets = "" if request.gets is None else f"; it gets {code(request.gets)}"
    return shown_who(request.answers) + gets


def shown_difference(request: Request) -> str:
    """Return what Traefik does instead in Markdown, and the reason."""
    if request.why is None:
        return ""
    instead = {shown_who(who) for who in request.traefik.values()}
    if request.traefik.keys() == OUTPUTS.keys() and len(instead) == 1:
        done = f"Traefik: {instead.pop()} "
    else:
        done = "".join(f"Traefik, {OUTPUTS[output]}: {shown_who(who)} " for output, who in request.traefik.items())
    return f"{done}([{request.why}](#{request.why}))"


def shown_who(who: Who) -> str:
    """Return who answers in Markdown."""
    if isinstance(who, list):
        return " or ".join(map(shown_who, who))
    if isinstance(who, int):
        return f"status {who}"
    return "the 404 page" if who == PAGE else code(who)


def code(text: str) -> str:
    """Return text as code in Markdown; for none, that it is empty."""
    return f"`{text}`" if text else "(empty)"
