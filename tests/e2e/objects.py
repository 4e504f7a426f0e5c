"""Kinds that devcluster.api doesn't define, and functions that build objects for tests."""

from typing import Any

from devcluster import deployments
from devcluster.api import HTTPROUTES, INGRESSES, LISTENERSETS, SERVICES, Api, Object, Resource, path_of
from devcluster.story import Stage
from devcluster.sync_requests import as_created

_ADMISSION, _RBAC = "admissionregistration.k8s.io/v1", "rbac.authorization.k8s.io/v1"
CLUSTER_BINDINGS = Resource(_RBAC, "clusterrolebindings", "ClusterRoleBinding", namespaced=False)
CLUSTER_ROLES = Resource(_RBAC, "clusterroles", "ClusterRole", namespaced=False)
CONFIG_MAPS = deployments.CONFIG_MAPS
DEPLOYMENTS = deployments.DEPLOYMENTS
ENDPOINT_SLICES = Resource("discovery.k8s.io/v1", "endpointslices", "EndpointSlice")
GATEWAYS = Resource(HTTPROUTES.api_version, "gateways", "Gateway")
POLICIES = Resource(_ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy", namespaced=False)
POLICY_BINDINGS = Resource(
    _ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", namespaced=False
)
PODS = Resource("v1", "pods", "Pod")
ROLES = Resource(_RBAC, "roles", "Role")
ROLE_BINDINGS = Resource(_RBAC, "rolebindings", "RoleBinding")
SECRETS = Resource("v1", "secrets", "Secret")

RESOURCES = {resource.kind: resource for resource in (INGRESSES, HTTPROUTES, LISTENERSETS)}
ON = {"ingress/http": "true"}


def new(
    resource: Resource, name: str, namespace: str | None = None, metadata: Object | None = None, **content: Any
) -> Object:
    """Return an object to be created; `content` is everything except its metadata."""
    named = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": named | (metadata or {}), **content}


def create(api: Api, resource: Resource, *named: Any, **content: Any) -> Object:
    return api.create(resource, new(resource, *named, **content))


def service(namespace: str, name: str, *, spec: Object | None = None, **metadata: Any) -> Object:
    return new(SERVICES, name, namespace, metadata, spec=spec or {"ports": [{"name": "http", "port": 80}]})


def backend(service: str, port: int | str) -> Object:
    return {"service": {"name": service, "port": {"name" if isinstance(port, str) else "number": port}}}


def by_hand(
    namespace: str,
    name: str,
    host: str,
    service: str,
    port: int | str = 80,
    *,
    metadata: Object | None = None,
    **spec: Any,
) -> Object:
    """Return a hand-written Ingress that routes all of a host to a Service."""
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend(service, port)}]
    rules = [{"host": host, "http": {"paths": paths}}]
    return new(INGRESSES, name, namespace, metadata, spec={"rules": rules} | spec)


def made_for(api: Api, parent: Object, desired: Object) -> None:
    """Create an object as Metacontroller would for a Service."""
    made = as_created(desired, parent)
    del made["metadata"]["resourceVersion"], made["metadata"]["uid"], made["status"]
    api.create(RESOURCES[made["kind"]], made)


def give_address(stage: Stage, name: str) -> None:
    """Wait for an Ingress, and set an address in its status, as an ingress controller does."""
    stage.until_ingress(name, f"the Ingress {name}", lambda _: True)
    status = {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}
    stage.api.request("PATCH", f"{path_of(INGRESSES, stage.namespace, name)}/status", body={"status": status})


def ready_endpoint(namespace: str, service: str, port: str) -> Object:
    """Return an EndpointSlice as for a ready Pod of the Service, since no Pods run on these clusters."""
    return new(
        ENDPOINT_SLICES,
        service,
        namespace,
        {"labels": {"kubernetes.io/service-name": service}},
        addressType="IPv4",
        endpoints=[{"addresses": ["192.0.2.2"], "conditions": {"ready": True}}],
        ports=[{"name": port, "port": 8080}],
    )


def published(stage: Stage, name: str = "shop", annotations: dict[str, str] | None = None) -> Object:
    """Create a Service that asks for an Ingress; wait for the Ingress and return it."""
    stage.create_service(name, ON | (annotations or {}))
    return stage.until_ingress(name, f"the Ingress {name}", lambda _: True)
