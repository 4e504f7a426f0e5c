"""The cases of `adopt`: a table of hand-written Ingresses, their Services, and the result of adopting each Ingress.

A case in tests/commands/adopt/cases.yaml has a name, and below it:

why        the reason that the case exists
services   the Services by name, in the form of tests/dumps.py; by default, one with the name of the case
beside     other Ingresses, likewise
ingress    the Ingress, likewise; by default, it has the name of the case, and routes the path / of the host
           CASE.example.com to the Service of that name
settings   the administrator's settings, by default DEFAULT_SETTINGS
accept     the fields that may change
becomes    the result; written by `make cases`

The result lists the steps, abbreviated: `as usual` means that the Service is annotated with only its host, and that
the Ingress gets an owner and is otherwise unchanged. If the case has `forms`, `printed` holds the complete output,
including what each step waits for. `notes` are notes, and `refused` gives the reasons for a refusal.
"""

import json
from collections.abc import Iterator

from devcluster.sync_requests import Object
from ingress_manager.commands.adopt.adoption import adoptions_of
from ingress_manager.commands.plans.plan import Step, listed
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.snapshot.items import INGRESS, Item, of_kind
from ingress_manager.commands.text import Command, shown
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import parse
from tests import dumps, golden
from tests.golden import Case

FOLDER = golden.TESTS / "commands/adopt"
DEFAULT_SETTINGS = "{defaults: {class: nginx}, limits: {pathTypes: [Prefix, Exact, ImplementationSpecific]}}"
"""The settings of cases that don't specify any."""


def objects(case: Case) -> list[Object]:
    services: Object = case.fields.get("services", {case.name: {}})
    rules = {f"{case.name}.example.com": {"Prefix /": f"{case.name}:80"}}
    ingress = {"name": case.name, "rules": rules} | case.fields.get("ingress", {})
    items = [{"Service": {"name": name} | fields} for name, fields in services.items()]
    return dumps.objects([*items, *case.fields.get("beside", []), {"Ingress": ingress}])


def adoptable(case: Case) -> tuple[list[Item], list[Item], Settings, list[str]]:
    """Return the objects of a case, its Ingress, the settings, and the accepted changes.

    The objects have a uid and a resourceVersion, like objects from a cluster.
    """
    items = read(json.dumps({"kind": "List", "items": objects(case)})).items
    for number, item in enumerate(items, start=1):
        item.metadata.update({"uid": f"{number:08}-0000-0000-0000-000000000000", "resourceVersion": str(number)})
    settings = parse(case.settings_text or DEFAULT_SETTINGS)
    return items, of_kind(items, INGRESS)[-1:], settings, case.fields.get("accept", [])


def becomes(case: Case) -> Object:
    [adoption] = adoptions_of(*adoptable(case))
    steps = [line for step in adoption.steps for line in words(step)]
    host = f"ingress/http=true ingress/host={case.name}.example.com"
    usual = [f"annotate service {case.name} {host}", f"patch ingress {case.name}"]
    outcome = {
        "into": [] if [*adoption.becomes] == [adoption.item.full_name] else [*adoption.becomes],
        "steps": "as usual" if steps == usual else steps,
        "printed": printed(case) if "forms" in case.fields else "",
        "notes": adoption.notes,
        "refused": [str(message).removeprefix(f"{adoption.title}: ") for message in adoption.messages],
    }
    return {key: value for key, value in outcome.items() if value}


def printed(case: Case) -> str:
    [adoption] = adoptions_of(*adoptable(case))
    lines = [f"# {adoption.title}", *listed(adoption.steps)] if adoption.steps else []
    return "".join(f"{line}\n" for line in lines)


def words(step: Step) -> Iterator[str]:
    """Yield a step's command, and its undo command unless that only removes the annotations that were added."""
    if step.command:
        yield short(step.command)
    if step.command[1:2] == ("annotate",) and step.undo:
        pairs = (word.partition("=") for word in step.command if not word.startswith("-"))
        put_on = [f"{key}-" for key, sign, _ in pairs if sign]
        yield from [] if short(step.undo).split()[3:] == put_on else [f"back: {short(step.undo)}"]


def short(command: Command) -> str:
    """Return a kubectl command without the options that every command has."""
    _, verb, *options = command
    by_name = {name: value for name, _, value in (option.partition("=") for option in options)}
    if verb == "delete":
        return f"delete ingress {by_name['--raw'].rpartition('/')[2]}"
    if verb == "patch":
        return " ".join(["patch", *options[-2:], *of_patch(json.loads(by_name["--patch"]), options[-1])])
    left_out = {"--namespace", "--resource-version", "--"}
    return shown((verb, *(option for option in options if option.partition("=")[0] not in left_out)))


def of_patch(patch: Object, name: str) -> Iterator[str]:
    """Yield the changes in a patch other than those that make the Service of the same name the Ingress's owner."""
    metadata = patch["metadata"]
    assert [owner["name"] for owner in metadata["ownerReferences"]] == [name]
    labels = {key: value for key, value in metadata["labels"].items() if key not in golden.MANAGED}
    annotations = {key: value for key, value in metadata["annotations"].items() if key != DECORATOR}
    rest = {"labels": labels, "annotations": annotations, "spec": patch.get("spec")}
    if any(rest.values()):
        yield json.dumps({key: value for key, value in rest.items() if value})
