"""A small client for an API server: objects are plain dicts, errors are ApiError."""
# Not lightkube, kr8s or `kubernetes`: none sends fieldValidation=Strict or returns warnings, which the tests read.

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import requests
from requests.adapters import HTTPAdapter

from devcluster.errors import DevClusterError, NotReady

Object = dict[str, Any]
"""A Kubernetes object, as its JSON."""

T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"
CONNECTIONS = 100
"""Connections that are kept open: more than a load generator, or the stand-in, has threads."""
WATCH_SECONDS = 300
"""How long the API server is to keep a watch open."""


class Resource(NamedTuple):
    """A kind of object, and where the API server keeps it."""

    api_version: str
    plural: str
    kind: str
    namespaced: bool = True


NAMESPACES = Resource("v1", "namespaces", "Namespace", namespaced=False)
SERVICES = Resource("v1", "services", "Service")
SERVICE_ACCOUNTS = Resource("v1", "serviceaccounts", "ServiceAccount")
EVENTS = Resource("v1", "events", "Event")
LEASES = Resource("coordination.k8s.io/v1", "leases", "Lease")
INGRESSES = Resource("networking.k8s.io/v1", "ingresses", "Ingress")
HTTPROUTES = Resource("gateway.networking.k8s.io/v1", "httproutes", "HTTPRoute")
LISTENERSETS = Resource("gateway.networking.k8s.io/v1", "listenersets", "ListenerSet")
_WEBHOOK = "ValidatingWebhookConfiguration"
WEBHOOKS = Resource("admissionregistration.k8s.io/v1", f"{_WEBHOOK.lower()}s", _WEBHOOK, namespaced=False)
CRDS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False)


class ApiError(DevClusterError):
    """A refusal of the API server, as text its message alone; the status is 0 if it could not be reached."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message or f"{status} {reason}")
        self.status, self.reason = status, reason


class Api:
    """One user's view of an API server. Threads may share it.

    A field that the API server does not know makes a write fail. `agent` is the User-Agent, by which `managedFields`
    name the client. Every method raises ApiError.
    """

    def __init__(self, url: str, token: str, ca_file: Path, *, agent: str = "devcluster") -> None:
        self.url = url
        self._session = new_session(agent)
        self._session.verify = str(ca_file)
        self._session.headers["Authorization"] = f"Bearer {token}"

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object | None:
        """Return the object, or None when there is none."""
        try:
            return self.request("GET", path_of(resource, namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, resource: Resource, namespace: str | None = None) -> list[Object]:
        """Return the objects of a namespace, or of all."""
        items: list[Object] = self.request("GET", path_of(resource, namespace))["items"]
        return items

    def create(self, resource: Resource, obj: Object) -> Object:
        """Create the object, in the namespace it names, and return it as stored."""
        return self.request("POST", path_of(resource, obj.get("metadata", {}).get("namespace")), body=obj)

    def update(self, resource: Resource, obj: Object) -> Object:
        """Replace the object and return it as stored."""
        metadata = obj["metadata"]
        return self.request("PUT", path_of(resource, metadata.get("namespace"), metadata["name"]), body=obj)

    def patch(self, resource: Resource, name: str, patch: Object, namespace: str | None = None) -> Object:
        """Merge the patch (RFC 7386: null removes a field) into the object and return it as stored."""
        return self.request("PATCH", path_of(resource, namespace, name), body=patch)

    def delete(self, resource: Resource, name: str, namespace: str | None = None, *, uid: str | None = None) -> bool:
        """Delete the object, only if it has that uid when one is given; return whether there was an object."""
        options = {"preconditions": {"uid": uid}} if uid else None
        try:
            self.request("DELETE", path_of(resource, namespace, name), body=options)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def watch(self, resource: Resource, version: str) -> Iterator[tuple[str, Object]]:
        """Yield (type, object) of each event after the resourceVersion `version`, until the API server ends it."""
        query = {"watch": "1", "allowWatchBookmarks": "1", "resourceVersion": version}
        query["timeoutSeconds"] = str(WATCH_SECONDS)
        with _reaching(), self._send("GET", path_of(resource), query, stream=True) as response:
            for line in response.iter_lines(chunk_size=None):  # None: each piece as it arrives
                event = msgspec.json.decode(line, type=Object)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise ApiError(status["code"], status.get("reason", ""), status.get("message", ""))
                yield event["type"], event["object"]

    def service_account_token(self, namespace: str, name: str) -> str:
        """Return a token with which to log in as the ServiceAccount (a TokenRequest, as a kubelet makes it)."""
        path = path_of(SERVICE_ACCOUNTS, namespace, name) + "/token"
        return str(self.request("POST", path, body={"spec": {"expirationSeconds": 30 * 24 * 3600}})["status"]["token"])

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Object | None = None
    ) -> Object:
        """Send a request and return the decoded answer, for what the methods above don't do."""
        with _reaching(), self._send(method, path, params or {}, body=body) as response:
            return msgspec.json.decode(response.content, type=Object)

    def warnings(self, method: str, path: str, *, params: Mapping[str, str], body: Object) -> tuple[str, ...]:
        """Send a request and return what the answer warns of: what kubectl would print."""
        with _reaching(), self._send(method, path, params, body=body) as response:
            return warnings_of(response.headers.get("Warning", ""))

    def ready(self) -> bool:
        """Return whether the API server answers that it is ready."""
        try:
            with _reaching(), self._send("GET", "/readyz", {}):
                return True
        except (ApiError, OSError):  # OSError: the CA's file is not there yet
            return False

    def _send(
        self, method: str, path: str, params: Mapping[str, str], *, body: Object | None = None, stream: bool = False
    ) -> requests.Response:
        response = self._session.request(
            method,
            self.url + path,
            params={**params, **({"fieldValidation": "Strict"} if method in ("POST", "PUT", "PATCH") else {})},
            data=None if body is None else msgspec.json.encode(body),
            headers={} if body is None else {"Content-Type": MERGE_PATCH if method == "PATCH" else "application/json"},
            stream=stream,
            timeout=(5, WATCH_SECONDS + 30 if stream else 60),
        )
        if response.ok:
            return response
        with response:
            raise _error_of(response)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


def warnings_of(header: str) -> tuple[str, ...]:
    """Return the texts of the header Warning, each of which is a quoted string (RFC 7234, section 5.5)."""
    texts = re.findall(r'299 \S+ "((?:[^"\\]|\\.)*)"', header.encode("latin-1").decode())
    return tuple(re.sub(r"\\(.)", r"\1", text) for text in texts)


def is_true(obj: Object | None, condition: str) -> bool:
    """Return whether an object is there and has this condition."""
    conditions = (obj or {}).get("status", {}).get("conditions") or ()  # null at first
    return any(entry["type"] == condition and entry["status"] == "True" for entry in conditions)


def path_of(resource: Resource, namespace: str | None = None, name: str | None = None) -> str:
    """Return the path of an object, or of a collection."""
    scope = f"/namespaces/{namespace}" if namespace and resource.namespaced else ""
    root = "apis" if "/" in resource.api_version else "api"
    return f"/{root}/{resource.api_version}{scope}/{resource.plural}" + (f"/{name}" if name else "")


def new_session(agent: str) -> requests.Session:
    """Return a session that keeps its connections open and takes nothing, such as a proxy, from the environment."""
    session = requests.Session()
    session.trust_env = False
    session.headers["User-Agent"] = agent
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=CONNECTIONS))
    return session


def cause(error: BaseException) -> str:
    """Return why a connection failed: the innermost reason. The others hold memory addresses, so no two are equal."""
    reason, inner = error, error.__cause__ or error.__context__
    while inner:
        reason = inner if isinstance(inner, OSError) else reason
        inner = inner.__cause__ or inner.__context__
    return (getattr(reason, "strerror", None) or str(reason) or type(reason).__name__).lower()


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except (requests.RequestException, msgspec.MsgspecError) as error:  # MsgspecError: an answer that was cut off
        raise ApiError(0, "", f"the API server: {cause(error)}") from error


def _error_of(response: requests.Response) -> ApiError:
    """Return the error that a refusal stands for: a Status object, or plain text from something before the API."""
    try:
        status = msgspec.json.decode(response.content, type=Object)
    except msgspec.MsgspecError:
        return ApiError(response.status_code, response.reason or "", response.text.strip()[:500])
    return ApiError(response.status_code, status.get("reason", ""), status.get("message", ""))


def wait_for(check: Callable[[], T | None], timeout: float = 10, *, what: str = "", interval: float = 0.02) -> T:
    """Return the first true answer of `check`, which is asked every `interval` seconds, and ever more seldom.

    It is late by a twentieth of the time at most: whoever waits for long shall not keep others from their work.

    Raises NotReady, which says `what` was awaited and the last answer, when there is none within `timeout` seconds.
    """
    began = time.monotonic()
    while not (answer := check()):
        waited = time.monotonic() - began
        if waited > timeout:
            waited_for = what or getattr(check, "__name__", "it")
            raise NotReady(f"waited {timeout:g} s for {waited_for}; the last answer was {answer!r}")
        time.sleep(max(interval, waited / 20))
    return answer
