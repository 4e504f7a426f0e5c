"""`check`: the admission policies and their bindings, and leftovers of older versions. The pure part."""

from collections.abc import Iterator, Sequence

from ingress_manager.commands.check.differences import differences
from ingress_manager.commands.check.engine import AGAIN
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.seen import BASE, OVERLAYS, Seen
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import at

PART = "admission policies"
POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"


def policies(seen: Seen) -> Iterator[Line]:
    """Yield whether each admission policy and its binding is there, as this version has it."""
    yield from seen.unknown(PART, POLICY, "admission policies")
    yield from seen.unknown(PART, BINDING, "the bindings of admission policies")
    if {POLICY, BINDING} & seen.unread.keys():
        return
    # Those for more kinds guard the others as well. Which are needed isn't known without the DecoratorController.
    folders = [BASE, *OVERLAYS]
    folders = folders[folders.index(seen.folder) :]
    for policy in seen.expected_of(POLICY, folders[0]):
        yield judged(seen, str(policy["metadata"]["name"]), folders)
    for policy in seen.expected_of(POLICY, "gateway"):
        # The gateway is of one's own choice, and its policies are told where one of them is there.
        name = str(policy["metadata"]["name"])
        if seen.one(POLICY, name) or seen.one(BINDING, name):
            yield judged(seen, name, ["gateway"])


def judged(seen: Seen, name: str, folders: Sequence[str]) -> Line:
    """Return the line for a policy: it has to be as one of the folders has it."""
    for kind, called in ((POLICY, "the policy"), (BINDING, "the binding of the policy")):
        found = seen.one(kind, name)
        if found is None:
            return Line(PART, State.WRONG, f"{called} {name} isn't there", AGAIN)
        ours = [each for each in seen.expected_of(kind, *folders) if each["metadata"]["name"] == name]
        other = [list(differences(each["spec"], at(found, "spec"))) for each in ours]
        if all(other):
            path, what = other[0][0]
            return Line(PART, State.WRONG, f"{called} {name}: {path} {what}", AGAIN)
    return Line(PART, State.OK, f"the policy {name} and its binding are as this version has them")


def leftovers(seen: Seen) -> Iterator[Line]:
    """Yield what an older version has installed that this one doesn't."""
    part = "leftovers"
    if unread := [seen.unread[kind] for kind in (POLICY, BINDING) if kind in seen.unread]:
        yield Line(part, State.UNKNOWN, f"leftovers could not be looked for: {unread[0]}")
        return
    known = {each["metadata"]["name"] for each in seen.expected_of(POLICY, *seen.expected)}
    old = [
        item
        for kind in (BINDING, POLICY)
        for item in seen.of_kind(kind)
        if item.name.startswith("ingress-manager-") and item.name not in known
    ]
    for item in old:
        kind = str(item.object["kind"])
        delete: Command = ("kubectl", "delete", "--", kind.lower(), item.name)
        yield Line(part, State.WARNING, f"this version has no {kind} {item.name}", "Delete it.", delete)
    if not old:
        yield Line(part, State.OK, "no admission policy of an older version is left")
