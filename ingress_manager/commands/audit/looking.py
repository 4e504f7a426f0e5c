"""The look at a cluster, or at files, that `audit` and `status` share: what is there, and what needs a person."""

from collections.abc import Collection, Sequence

from ingress_manager.commands.audit.audit import Looked, audit_of, is_unexplained, unseen, with_reasons
from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.printing.console import waiting
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.view.cluster import read_objects, read_surroundings
from ingress_manager.commands.view.events import OF_SERVICES, reports
from ingress_manager.commands.view.known import SETTINGS, UNKNOWN
from ingress_manager.commands.view.look import View, look
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.policy import Policy


def view_of(source: Source, policy: Policy | str) -> View:
    """Return what there is, by settings or for want of them, as if nothing were paused.

    Raises click.UsageError, KubectlFailed for Services, and Unreadable.
    """
    manifests, known = read_objects(source)
    if isinstance(policy, str):
        known.unread[SETTINGS] = policy
    with waiting(f"judging {len(manifests.items)} objects"):
        return look(manifests.items, UNKNOWN if isinstance(policy, str) else policy.without_pause(), known)


def look_at(
    source: Source, policy: Policy | str, kinds: Collection[str] = KINDS.keys(), *, events: bool = False
) -> Looked:
    """Return what there is, and what of some kinds is found, with what Events say of it. Raises as `view_of`.

    `policy` are the settings, or the sentence why they can't be read; `events` says whether Events are read in any
    case. Of files, what is around isn't looked at.
    """
    view = view_of(source, policy)
    around = Surroundings() if source.files else read_surroundings(source, view)
    findings = audit_of(view, UNKNOWN if isinstance(policy, str) else policy, around, kinds)
    sentences, is_blind = list(unseen(view, around)), bool(view.unseen())
    said: Sequence[Item] | None = None
    if not source.files and (events or any(map(is_unexplained, findings))):
        try:
            said = source.kubectl.get("events", OF_SERVICES, *source.scope).items
        except KubectlFailed as failed:
            sentences.append(f"Events could not be looked at: {failed.message}")
            is_blind = True
    findings = with_reasons(findings, None if said is None else reports(said))
    return Looked(view, around, findings, said or (), sentences, is_blind)
