"""Answers: how a controller answers a request, and what two answers differ in. No redirect is followed."""

import re
import ssl
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from http.client import HTTPConnection, HTTPException
from socket import create_connection, socket
from typing import NamedTuple

from ingress_manager.commands.compare.requests import Request
from ingress_manager.core.text import one_line, quoted

TIMEOUT = 10.0
"""Seconds in which an address has to go on answering."""

COMPARED = (
    *("Location", "Set-Cookie", "WWW-Authenticate", "Strict-Transport-Security"),
    *("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers"),
)
"""The headers that are compared. Of CORS, those that a browser reads in the answer to a GET."""


class Address(NamedTuple):
    """Where a controller listens."""

    name: str
    http: int = 80
    https: int = 443

    def connect(self, port: int) -> socket:
        """Return a connection. Raises OSError."""
        return create_connection((self.name, port), TIMEOUT)

    def connected(self, request: Request) -> tuple[socket, str]:
        """Return a connection for a request, and whether a browser would trust the certificate. Raises OSError.

        One that it would not trust is taken all the same: the old controller may have such a one, too.
        """
        if request.scheme == "http":
            return self.connect(self.http), ""
        try:
            return tls(verified=True).wrap_socket(self.connect(self.https), server_hostname=request.host), "trusted"
        except ssl.SSLCertVerificationError:
            connected = tls(verified=False).wrap_socket(self.connect(self.https), server_hostname=request.host)
            return connected, "not trusted"


class Answer(NamedTuple):
    """What a request was answered with."""

    status: str
    """A number; or why there is no answer."""

    facts: dict[str, str]
    """What else is compared; empty text for a header that is missing. Empty when there is no answer."""


def ask(address: Address, request: Request) -> Answer:
    """Return how the controller at an address answers."""
    try:
        connected, certificate = address.connected(request)
        with closing(connected), closing(HTTPConnection(request.host)) as connection:
            connection.sock = connected
            connection.request("GET", request.path, headers={"User-Agent": "ingress-manager", **request.headers})
            answer = connection.getresponse()
            facts = {name: comparable(name, answer.headers.get_all(name, [])) for name in COMPARED}
            return Answer(str(answer.status), {**facts, "certificate": certificate})
    except TimeoutError:
        return Answer(f"no answer in {TIMEOUT:.0f} seconds", {})
    except (OSError, HTTPException, ValueError) as error:
        return Answer(f"no answer ({error})", {})


@cache
def tls(*, verified: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def comparable(name: str, values: Sequence[str]) -> str:
    """Return what doesn't change from one answer to the next: the names of cookies and of a query's parameters."""
    if name == "Set-Cookie":
        values = sorted(each.partition("=")[0].strip() for each in values)
    elif name == "WWW-Authenticate":
        values = [each.partition(" ")[0] for each in values]
    elif name == "Location":
        values = [re.sub(r"(?<==)[^&#]+", "…", each) for each in values]
    return ", ".join(values)


def differences(old: Answer, new: Answer) -> Iterator[str]:
    """Yield what differs, a sentence each. What wasn't answered is always told."""
    if not (old.facts and new.facts) or old.status != new.status:
        yield one_line(f"{old.status} → {new.status}")
        return
    for name, value in old.facts.items():
        if value != new.facts[name]:
            told = [quoted(each) if each else "none" for each in (value, new.facts[name])]
            yield f"{name}: {told[0]} → {told[1]}"
