"""What the controllers and the nodes of a cluster say of Deployments, here, where no Pod can run."""

from devcluster.api import Api, Object, Resource, path_of

CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")


def changed(api: Api) -> list[Object]:
    """Return the Deployments that are otherwise than when they were reported. Raises ApiError."""
    seen = ((each, each.get("status", {}).get("observedGeneration")) for each in api.list(DEPLOYMENTS))
    return [deployment for deployment, generation in seen if generation != deployment["metadata"]["generation"]]


def report(api: Api, deployment: Object, problem: str = "") -> None:
    """Report all Pods of a Deployment as ready; with a problem, as made by an earlier template. Raises ApiError."""
    metadata, wanted = deployment["metadata"], deployment["spec"]["replicas"]
    # By the first of these reasons `kubectl rollout status` knows that it would wait in vain.
    reason = "ProgressDeadlineExceeded" if problem else "NewReplicaSetAvailable"
    conditions = [
        {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": ""},
        {"type": "Progressing", "status": str(not problem), "reason": reason, "message": problem},
    ]
    counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas"), wanted)
    counts |= {"observedGeneration": metadata["generation"], "updatedReplicas": 0 if problem else wanted}
    path = path_of(DEPLOYMENTS, metadata["namespace"], metadata["name"])
    api.request("PATCH", f"{path}/status", body={"status": counts | {"conditions": conditions}})
