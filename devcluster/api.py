"""A small Kubernetes API client: objects are plain dicts, errors are ApiError."""
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
"""A Kubernetes object as decoded JSON."""

T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"
CONNECTIONS = 100
"""The maximum number of connections kept open per host. No program here has as many threads."""
WATCH_SECONDS = 300
"""Seconds after which the API server is asked to end a watch."""


class Resource(NamedTuple):
    """A kind of Kubernetes object and its location in the API."""

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
    """The API server refused a request, or couldn't be reached (`status` is 0). str() returns only the message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message or f"{status} {reason}")
        self.status, self.reason = status, reason


class Api:
    """A client that uses one user's token for all requests to an API server. Threads may share it.

    It makes the API server reject unknown fields in writes. `agent` is the User-Agent, which names the client in
    `managedFields`. Every method that sends a request raises ApiError on failure, except `ready`.
    """

    def __init__(self, url: str, token: str, ca_file: Path, *, agent: str = "devcluster") -> None:
        self.url = url
        self._session = new_session(agent)
        self._session.verify = str(ca_file)
        self._session.headers["Authorization"] = f"Bearer {token}"

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object | None:
        """Return the object, or None if it doesn't exist."""
        try:
            return self.request("GET", path_of(resource, namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, resource: Resource, namespace: str | None = None) -> list[Object]:
        """Return the objects in a namespace, or in all namespaces if `namespace` is None."""
        items: list[Object] = self.request("GET", path_of(resource, namespace))["items"]
        return items

    def create(self, resource: Resource, obj: Object) -> Object:
        """Create the object in the namespace that its metadata names, and return it as stored."""
        return self.request("POST", path_of(resource, obj.get("metadata", {}).get("namespace")), body=obj)

    def update(self, resource: Resource, obj: Object) -> Object:
        """Replace the object and return it as stored."""
        metadata = obj["metadata"]
        return self.request("PUT", path_of(resource, metadata.get("namespace"), metadata["name"]), body=obj)

    def patch(self, resource: Resource, name: str, patch: Object, namespace: str | None = None) -> Object:
        """Apply a JSON merge patch (RFC 7386: null removes a field) to the object and return it as stored."""
        return self.request("PATCH", path_of(resource, namespace, name), body=patch)

    def delete(self, resource: Resource, name: str, namespace: str | None = None, *, uid: str | None = None) -> bool:
        """Delete the object and return whether it existed. Raises ApiError if `uid` is given and isn't the object's."""
        options = {"preconditions": {"uid": uid}} if uid else None
        try:
            self.request("DELETE", path_of(resource, namespace, name), body=options)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def watch(self, resource: Resource, version: str) -> Iterator[tuple[str, Object]]:
        """Yield (type, object) for each event after the resourceVersion `version`, until the server ends the watch."""
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
        """Return a new token for the ServiceAccount, valid for 30 days (TokenRequest API)."""
        path = path_of(SERVICE_ACCOUNTS, namespace, name) + "/token"
        return str(self.request("POST", path, body={"spec": {"expirationSeconds": 30 * 24 * 3600}})["status"]["token"])

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Object | None = None
    ) -> Object:
        """Send any request, and return the decoded response. Prefer a more specific method if there is one."""
        with _reaching(), self._send(method, path, params or {}, body=body) as response:
            return msgspec.json.decode(response.content, type=Object)

    def warnings(self, method: str, path: str, *, params: Mapping[str, str], body: Object) -> tuple[str, ...]:
        """Send a request and return the warnings in the response, which kubectl would print."""
        with _reaching(), self._send(method, path, params, body=body) as response:
            return warnings_of(response.headers.get("Warning", ""))

    def ready(self) -> bool:
        """Return whether the API server reports that it is ready. If it can't be reached, return False."""
        try:
            with _reaching(), self._send("GET", "/readyz", {}):
                return True
        except (ApiError, OSError):  # OSError: the CA file doesn't exist yet
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
    """Return the texts in a Warning header, without quotes and escapes (RFC 7234, section 5.5)."""
    texts = re.findall(r'299 \S+ "((?:[^"\\]|\\.)*)"', header.encode("latin-1").decode())
    return tuple(re.sub(r"\\(.)", r"\1", text) for text in texts)


def is_true(obj: Object | None, condition: str) -> bool:
    """Return whether the object exists and reports the condition as True."""
    conditions = (obj or {}).get("status", {}).get("conditions") or ()  # null at first
    return any(entry["type"] == condition and entry["status"] == "True" for entry in conditions)


def path_of(resource: Resource, namespace: str | None = None, name: str | None = None) -> str:
    """Return the API path of an object, or of its collection if `name` is None."""
    scope = f"/namespaces/{namespace}" if namespace and resource.namespaced else ""
    root = "apis" if "/" in resource.api_version else "api"
    return f"/{root}/{resource.api_version}{scope}/{resource.plural}" + (f"/{name}" if name else "")


def new_session(agent: str) -> requests.Session:
    """Return a session that keeps connections open and ignores proxies and other settings in the environment."""
    session = requests.Session()
    session.trust_env = False
    session.headers["User-Agent"] = agent
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=CONNECTIONS))
    return session


def cause(error: BaseException) -> str:
    """Return the message of a connection failure's innermost cause, because outer messages contain memory addresses."""
    reason, inner = error, error.__cause__ or error.__context__
    while inner:
        reason = inner if isinstance(inner, OSError) else reason
        inner = inner.__cause__ or inner.__context__
    return (getattr(reason, "strerror", None) or str(reason) or type(reason).__name__).lower()


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except (requests.RequestException, msgspec.MsgspecError) as error:  # MsgspecError: the response was cut off
        raise ApiError(0, "", f"the request to the API server failed: {cause(error)}") from error


def _error_of(response: requests.Response) -> ApiError:
    """Return the error that the Status object in the response describes. Without a Status, use the response's text."""
    try:
        status = msgspec.json.decode(response.content, type=Object)
    except msgspec.MsgspecError:
        return ApiError(response.status_code, response.reason or "", response.text.strip()[:500])
    return ApiError(response.status_code, status.get("reason", ""), status.get("message", ""))


def wait_for(check: Callable[[], T | None], timeout: float = 10, *, what: str = "", interval: float = 0.02) -> T:
    """Call `check` until it returns a true value, and return that value.

    Pauses last 5% of the time waited so far, but at least `interval` seconds, to spare a busy machine.

    Raises NotReady after `timeout` seconds. The message contains `what` (the awaited condition) and the last result.
    """
    began = time.monotonic()
    while not (answer := check()):
        waited = time.monotonic() - began
        if waited > timeout:
            waited_for = what or getattr(check, "__name__", "it")
            raise NotReady(f"waited {timeout:g} s for {waited_for}; the last answer was {answer!r}")
        time.sleep(max(interval, waited / 20))
    return answer
