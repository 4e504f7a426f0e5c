"""The administrator's settings as they are in a cluster: a ConfigMap that the hook's Deployment mounts.

kustomize ends its name with a hash of its content, so that only the Deployment says which one holds.
"""

from hooks.commands.manifests import Item

NAMESPACE = "ingress-manager"
DEPLOYMENT = "ingress-manager"
VOLUME = "settings"
KEY = "settings.yaml"


def configmap_of(deployment: Item) -> str | None:
    """Return the name of the ConfigMap that a Deployment of the hook has its settings from, None if from none."""
    pod = deployment.object.get("spec", {}).get("template", {}).get("spec", {})
    for volume in pod.get("volumes") or ():
        if volume.get("name") == VOLUME and "configMap" in volume:
            return str(volume["configMap"]["name"])
    return None


def text_of(configmap: Item) -> str | None:
    """Return the settings in a ConfigMap, None if it has none."""
    data = configmap.object.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    return text if isinstance(text, str) else None
