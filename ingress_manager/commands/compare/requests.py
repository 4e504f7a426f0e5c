"""Requests: what is asked for an Ingress: each of its hosts and paths, by http and by https."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import quote

from ingress_manager.core.kubernetes import IngressSpec
from ingress_manager.core.vocabulary import NGINX

ANY_NAME = "any-name"
"""A name for a host that may have any: below that of a wildcard, or below example.com for a rule without a host."""

_PLAIN = re.compile(r"(?:[^\\^$.|?*+()\[\]{}]|\\.|\.(?![*+?{]))*")
"""What a regular expression begins with that stands for itself."""


class Request(NamedTuple):
    """A GET request, without the address that it is sent to."""

    scheme: str
    host: str
    path: str
    origin: str = ""
    """A website that may read the answer, if the Ingress names one: the headers of CORS depend on who asks."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that depend on the Ingress."""
        return {"Origin": self.origin} if self.origin else {}


def requests_of(spec: IngressSpec, annotations: Mapping[str, str]) -> Iterator[Request]:
    """Yield the requests that an Ingress answers, some perhaps twice."""
    places = [(host, path.path) for host, path in spec.paths()]
    places += [(rule.host, "/") for rule in spec.rules or () if not rule.http]
    places += [("", "/")] if spec.default_backend else []
    aliases = [each.strip() for each in annotations.get(f"{NGINX}server-alias", "").split(",")]
    if annotations.get(f"{NGINX}from-to-www-redirect") == "true":
        aliases += [host.removeprefix("www.") if host.startswith("www.") else f"www.{host}" for host, _ in places]
    places += [(alias, path) for alias in aliases if alias and not alias.startswith("~") for _, path in places]
    origin = annotations.get(f"{NGINX}cors-allow-origin", "").partition(",")[0].strip().replace("*", ANY_NAME)
    for host, path in places:
        for scheme in ("http", "https"):
            yield Request(scheme, name_of(host), quote(plain_part(path) or "/", safe="/%:@!$&'()*+,;=~"), origin)


def name_of(host: str) -> str:
    """Return a name that the host of a rule stands for."""
    return host.replace("*", ANY_NAME, 1) if host else f"{ANY_NAME}.example.com"


def plain_part(path: str) -> str:
    """Return the longest beginning of a path that a regular expression takes as it is; all of it, if it is none."""
    found = _PLAIN.match(path)
    end = found.end() if found else 0
    # What may be missing, or is there some times, isn't part of it.
    end -= path[end : end + 1] in {"?", "*", "{"}
    return re.sub(r"\\(.)", r"\1", path[:end])
