"""What `make install` would change of an installation that is there already. The pure part."""

import difflib
from collections.abc import Iterator, Sequence

from ingress_manager.commands.plans.deployers import HELM, deployers_of
from ingress_manager.commands.reading.installations import DEFAULT, DEPLOYMENTS, installations
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.settings import configmap_of, text_of

RELEASE = "meta.helm.sh/release-name"


def changes(controllers: Sequence[Item], objects: Sequence[Item], image: str, settings: str) -> Iterator[str]:
    """Yield a sentence for each thing that an installation with that image and those settings would change.

    `controllers` are the DecoratorControllers; `objects` are the Services, Deployments and ConfigMaps of the namespaces
    of their hooks, and of our own.
    """
    places = {str(found) for found in installations(controllers, objects)}
    deployments = {item.full_name: item for item in objects if item.kind == DEPLOYMENTS}
    ours = str(DEFAULT)
    there = sorted(places | ({ours} & deployments.keys()))
    for place in there:
        deployment = deployments[place]
        if HELM.name in {each.name for each in deployers_of(deployment)}:
            release = deployment.annotations.get(RELEASE, place)
            yield f"Helm keeps {place}, as the release {release}. To change it, run `helm upgrade`: docs/helm.md."
        if place != ours:
            yield f"{place} is there, and would be left running: Metacontroller would ask {ours} in its place."
    if current := deployments.get(ours):
        [container, *_] = current.object["spec"]["template"]["spec"]["containers"]
        if container["image"] != image:
            yield f"The image is {container['image']}, and would be {image}."
    texts = {item.full_name: text_of(item) or "" for item in objects if item.kind == "v1/ConfigMap"}
    for place in there:
        deployment = deployments[place]
        before = texts.get(f"{deployment.namespace}/{configmap_of(deployment)}", "")
        if before != settings:
            diff = difflib.unified_diff(
                before.splitlines(), settings.splitlines(), place, "manifests/settings.yaml", lineterm=""
            )
            yield "\n".join(["The settings would change:", *diff])
