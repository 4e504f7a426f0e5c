"""A tenant: somebody whose only right is to edit some kinds of objects of a namespace."""

from collections.abc import Callable, Sequence

from devcluster.api import SERVICE_ACCOUNTS, SERVICES, Api, ApiError, Resource, wait_for
from devcluster.control_plane import ControlPlane

ROLES = Resource("rbac.authorization.k8s.io/v1", "roles", "Role")
BINDINGS = Resource("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding")


def tenant_of(plane: ControlPlane, namespace: str, *, rights: Sequence[Resource] = (SERVICES,)) -> Api:
    """Return a client that logs in as a ServiceAccount which may do everything to these of the namespace, no more."""
    name = {"name": "tenant", "namespace": namespace}
    plane.api.create(SERVICE_ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name})
    rules = [
        {"apiGroups": [each.api_version.rpartition("/")[0]], "resources": [each.plural], "verbs": ["*"]}
        for each in rights
    ]
    plane.api.create(ROLES, {"apiVersion": ROLES.api_version, "kind": "Role", "metadata": name, "rules": rules})
    binding = {
        "apiVersion": BINDINGS.api_version,
        "kind": "RoleBinding",
        "metadata": name,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
        "subjects": [{"kind": "ServiceAccount", **name}],
    }
    plane.api.create(BINDINGS, binding)
    api = Api(plane.url, plane.api.service_account_token(namespace, "tenant"), plane.ca_file)
    # The API server takes a moment to learn of a new Role.
    wait_for(lambda: said(lambda: api.list(rights[0], namespace)) is None, 30, what="the tenant's rights")
    return api


def said(write: Callable[[], object]) -> str | None:
    """Return what the policy says against a write, None when it lets it through."""
    try:
        write()
    except ApiError as error:
        if error.status != 403:
            raise
        return str(error)
    return None
