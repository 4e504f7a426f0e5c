"""`check`: the admission policies and their bindings. The pure part."""

from collections.abc import Iterator, Sequence

from ingress_manager.commands.check.differences import differences
from ingress_manager.commands.check.lines import Line, ok, warning, wrong
from ingress_manager.commands.check.seen import BASE, OVERLAYS, Seen
from ingress_manager.commands.reading.manifests import at

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"


def policies(seen: Seen) -> Iterator[Line]:
    """Yield whether each admission policy and its binding is there, as this version has it, and no older one."""
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
    known = {each["metadata"]["name"] for each in seen.expected_of(POLICY, *seen.expected)}
    for item in (*seen.of_kind(BINDING), *seen.of_kind(POLICY)):
        if item.name.startswith("ingress-manager-") and item.name not in known:
            kind = str(item.object["kind"])
            delete = ("kubectl", "delete", "--", kind.lower(), item.name)
            yield warning(f"this version has no {kind} {item.name}", "Delete it.", delete)


def judged(seen: Seen, name: str, folders: Sequence[str]) -> Line:
    """Return the line for a policy: it has to be as one of the folders has it."""
    for kind, called in ((POLICY, "the policy"), (BINDING, "the binding of the policy")):
        found = seen.one(kind, name)
        if found is None:
            return wrong(f"{called} {name} isn't there")
        ours = [each for each in seen.expected_of(kind, *folders) if each["metadata"]["name"] == name]
        other = [list(differences(each["spec"], at(found, "spec"))) for each in ours]
        if all(other):
            path, what = other[0][0]
            return wrong(f"{called} {name}: {path} {what}")
    return ok(f"the policy {name} and its binding are as this version has them")
