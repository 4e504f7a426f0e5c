"""What a view is made of, read as far as the user may: the objects of a cluster or of files, and the settings."""

from ingress_manager.commands.printing.console import note
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, INGRESSES, RESOURCES, SERVICE, SERVICES
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.view.look import Known
from ingress_manager.core.policy import Policy

PLURAL = {INGRESS: "Ingresses", HTTPROUTE: "HTTPRoutes"}
BOTH = "`kubectl get services,ingresses` prints both."


def read_objects(source: Source) -> tuple[Manifests, Known]:
    """Return what there is, as far as the user may read it. Raises click.UsageError, and KubectlFailed for Services."""
    known = Known()
    if source.files:
        manifests = source.read("")
        if not any(manifests.of_kind(SERVICES)):
            known.unknown[SERVICE] = f"Services could not be looked at: there is none in what was read; {BOTH}"
        if not any(manifests.of_kind(INGRESSES)):
            note(f"There is no Ingress in what was read; {BOTH}")
        return manifests, known
    manifests = Manifests()
    for kind, resource in RESOURCES.items():
        try:
            manifests.extend(source.read(resource))
        except KubectlFailed as failed:
            if kind == HTTPROUTE and failed.is_unknown_kind:
                known.httproutes = False
            else:
                known.unknown[kind] = f"{PLURAL[kind]} could not be looked at: {failed.message}"
    # Last: the Ingress of a Service that is made meanwhile must not be taken for one whose Service is gone.
    manifests.extend(source.read("services"))
    return manifests, known


def read_policy(source: Source, known: Known, option: str) -> Policy:
    """Return the settings as `Source.stated_policy` does. Those that can't be read are noted as unknown."""
    try:
        return source.stated_policy(option)
    except KubectlFailed as failed:
        known.unknown["settings"] = (
            "The settings could not be looked at, and the defaults were taken in their place; "
            f"{option} names others: {failed.message}"
        )
        return Policy()
