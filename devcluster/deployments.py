"""Writes the status of Deployments as a cluster's controllers would, because no Pods run in a cluster without nodes."""

from devcluster.api import Api, Object, Resource, path_of

CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")


def changed(api: Api) -> list[Object]:
    """Return the Deployments whose status doesn't reflect their latest change yet. Raises ApiError."""
    seen = ((each, each.get("status", {}).get("observedGeneration")) for each in api.list(DEPLOYMENTS))
    return [deployment for deployment, generation in seen if generation != deployment["metadata"]["generation"]]


def report(api: Api, deployment: Object, problem: str = "") -> None:
    """Mark a Deployment as available, and its rollout as complete (failed if there is a `problem`). Raises ApiError."""
    metadata, wanted = deployment["metadata"], deployment["spec"]["replicas"]
    # ProgressDeadlineExceeded makes `kubectl rollout status` fail instead of waiting in vain.
    reason = "ProgressDeadlineExceeded" if problem else "NewReplicaSetAvailable"
    conditions = [
        {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": ""},
        {"type": "Progressing", "status": str(not problem), "reason": reason, "message": problem},
    ]
    counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas"), wanted)
    counts |= {"observedGeneration": metadata["generation"], "updatedReplicas": 0 if problem else wanted}
    path = path_of(DEPLOYMENTS, metadata["namespace"], metadata["name"])
    api.request("PATCH", f"{path}/status", body={"status": counts | {"conditions": conditions}})
