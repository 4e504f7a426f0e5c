"""A small client for an API server: objects are plain dicts, errors are ApiError."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import requests
from requests.adapters import HTTPAdapter

from devcluster.errors import DevClusterError, NotReady

Object = dict[str, Any]
"""A Kubernetes object, as its JSON."""

T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"


class Resource(NamedTuple):
    """A kind as the API's paths name it, for example Resource("networking.k8s.io/v1", "ingresses")."""

    api_version: str
    plural: str


NAMESPACES = Resource("v1", "namespaces")
SERVICES = Resource("v1", "services")
SERVICE_ACCOUNTS = Resource("v1", "serviceaccounts")
EVENTS = Resource("v1", "events")
LEASES = Resource("coordination.k8s.io/v1", "leases")
INGRESSES = Resource("networking.k8s.io/v1", "ingresses")
CRDS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions")


class ApiError(DevClusterError):
    """The API server refused a request."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message


class Api:
    """One user's view of an API server. Threads may share it. Writes are validated strictly: a typo is an ApiError.

    Every method raises ApiError when the server refuses, and requests.RequestException when it can't be reached.
    """

    def __init__(self, url: str, token: str, ca_file: Path) -> None:
        self.url = url
        self._token = token
        self._ca_file = ca_file
        self._session = requests.Session()
        # Neither a proxy nor a .netrc of the person at the keyboard has a say in how to reach loopback.
        self._session.trust_env = False
        self._session.verify = str(ca_file)
        self._session.headers["Authorization"] = f"Bearer {token}"
        # As many connections kept as a load generator has threads.
        self._session.mount("https://", HTTPAdapter(pool_maxsize=64))

    def as_user(self, token: str) -> "Api":
        """Return a client for the same server with another user's token; it has to be closed by itself."""
        return Api(self.url, token, self._ca_file)

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object | None:
        """Return the object, or None when there is none."""
        try:
            return self.request("GET", path_of(resource, namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def list(self, resource: Resource, namespace: str | None = None, *, labels: str = "") -> list[Object]:
        """Return the objects of a namespace, or of all, that match the label selector."""
        items: list[Object] = self.request(
            "GET", path_of(resource, namespace), params={"labelSelector": labels} if labels else {}
        )["items"]
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

    def delete(
        self, resource: Resource, name: str, namespace: str | None = None, *, propagation: str = "Background"
    ) -> bool:
        """Delete the object; return whether there was one. Propagation: Background, Foreground or Orphan."""
        try:
            self.request("DELETE", path_of(resource, namespace, name), body={"propagationPolicy": propagation})
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def watch(
        self, resource: Resource, namespace: str | None = None, *, timeout: float = 60
    ) -> Iterator[tuple[str, Object]]:
        """Yield (ADDED, MODIFIED or DELETED, object): first what exists, then what happens, for `timeout` seconds."""
        parameters = {"watch": "1", "timeoutSeconds": str(max(1, round(timeout)))}
        with self._send("GET", path_of(resource, namespace), parameters, stream=True) as response:
            for line in response.iter_lines(chunk_size=None):
                event = json.loads(line)
                yield event["type"], event["object"]

    def service_account_token(self, namespace: str, name: str, *, seconds: int = 30 * 24 * 3600) -> str:
        """Return a token with which to log in as the ServiceAccount (a TokenRequest, as a kubelet makes it)."""
        path = path_of(SERVICE_ACCOUNTS, namespace, name) + "/token"
        token: str = self.request("POST", path, body={"spec": {"expirationSeconds": seconds}})["status"]["token"]
        return token

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Object | None = None
    ) -> Object:
        """Send a request and return the decoded answer, for what the methods above don't do."""
        with self._send(method, path, params, body=body) as response:
            answer: Object = response.json()
        return answer

    def ready(self) -> bool:
        """Return whether the API server answers that it is ready."""
        try:
            with self._send("GET", "/readyz"):
                return True
        except (ApiError, requests.RequestException, OSError):  # OSError: the CA is not there yet
            return False

    def _send(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        body: Object | None = None,
        stream: bool = False,
    ) -> requests.Response:
        response = self._session.request(
            method,
            self.url + path,
            params=dict(params or {}) | ({"fieldValidation": "Strict"} if method in ("POST", "PUT", "PATCH") else {}),
            data=None if body is None else json.dumps(body),
            headers={} if body is None else {"Content-Type": MERGE_PATCH if method == "PATCH" else "application/json"},
            stream=stream,
            timeout=(5, None if stream else 60),  # a watch may be silent, and the server ends it
        )
        if response.ok:
            return response
        with response:
            raise error_of(response)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> "Api":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def path_of(resource: Resource, namespace: str | None = None, name: str | None = None) -> str:
    """Return the path of an object, or of a collection."""
    root = f"/apis/{resource.api_version}" if "/" in resource.api_version else f"/api/{resource.api_version}"
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{scope}/{resource.plural}" + (f"/{name}" if name else "")


def error_of(response: requests.Response) -> ApiError:
    """Return the error that a refusal stands for: a Status object, or plain text from something before the API."""
    try:
        status = response.json()
        return ApiError(response.status_code, status.get("reason", ""), status.get("message", ""))
    except (ValueError, AttributeError):
        return ApiError(response.status_code, response.reason or "", response.text.strip()[:500])


def wait_for(check: Callable[[], T | None], timeout: float = 10, *, what: str = "", interval: float = 0.02) -> T:
    """Return the first true answer of `check`.

    Raises NotReady, which says `what` was awaited and the last answer, when there is none within `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while not (answer := check()):
        if time.monotonic() > deadline:
            waited_for = what or getattr(check, "__name__", "it")
            raise NotReady(f"waited {timeout:g} s for {waited_for}; the last answer was {answer!r}")
        time.sleep(interval)
    return answer
