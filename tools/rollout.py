"""Why the Pods of a Deployment don't start, told while `make install` waits for them. The pure part.

Sources: the Kubernetes API reference (Deployment, Pod), and the words of kubelet for why a container waits.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from devcluster.api import Object

REVISION = "deployment.kubernetes.io/revision"
HASH = "pod-template-hash"


class Trouble(NamedTuple):
    """Why a Pod doesn't run, or isn't made."""

    reason: str
    sentence: str
    pod: str = ""
    """The Pod, where its log may say more."""


HOPELESS = {"InvalidImageName": 0, "ErrImagePull": 20, "ImagePullBackOff": 20, "FailedCreate": 20}
"""After how many seconds nothing is expected any more, by the reason."""

REMEDIES = {
    "InvalidImageName": "IMAGE=… has to be the name of an image.",
    "ErrImagePull": (
        "The nodes can't pull the image. docs/install.md tells of registries that ask for a password, and "
        "of clusters without one."
    ),
    "FailedCreate": "A quota or an admission policy of the cluster denies the Pods: ask whoever has set it up.",
}
REMEDIES["ImagePullBackOff"] = REMEDIES["ErrImagePull"]
"""What a person can do, by the reason."""


def troubles(items: Sequence[Object], name: str) -> Iterator[Trouble]:
    """Yield why the newest Pods of a Deployment don't run; nothing before its change has been taken up.

    Those of an earlier change may have troubles of their own, and go when the new ones run.
    """
    deployments = (each for each in items if each["kind"] == "Deployment" and each["metadata"]["name"] == name)
    deployment = next(deployments, {})
    status = deployment.get("status", {})
    if not status or status.get("observedGeneration") != deployment["metadata"].get("generation"):
        return
    for condition in status.get("conditions", ()):
        if (condition.get("type"), condition.get("status")) == ("ReplicaFailure", "True"):
            yield Trouble("FailedCreate", f"no Pod is made: {condition.get('message')}")
    revision = deployment["metadata"].get("annotations", {}).get(REVISION)
    newest = {
        each["metadata"].get("labels", {}).get(HASH)
        for each in items
        if each["kind"] == "ReplicaSet" and each["metadata"].get("annotations", {}).get(REVISION) == revision
    }
    for each in items:
        if each["kind"] == "Pod" and each["metadata"].get("labels", {}).get(HASH, "") in newest:
            yield from of_pod(each)


def of_pod(pod: Object) -> Iterator[Trouble]:
    """Yield why a Pod doesn't run."""
    name, status = pod["metadata"]["name"], pod.get("status", {})
    for condition in status.get("conditions", ()):
        if (condition.get("type"), condition.get("status")) == ("PodScheduled", "False"):
            yield Trouble(str(condition.get("reason")), said(name, condition))
    for container in status.get("containerStatuses", ()):
        if waiting := container.get("state", {}).get("waiting"):
            reason = str(waiting.get("reason"))
            yield Trouble(reason, said(name, waiting), name if reason == "CrashLoopBackOff" else "")


def said(pod: str, of: dict[str, Any]) -> str:
    """Return a reason and its message as a sentence."""
    return f"Pod {pod}: {': '.join(str(of[key]) for key in ('reason', 'message') if of.get(key))}"
