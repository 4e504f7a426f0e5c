"""`ingress-manager audit`: the shell."""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import click

from ingress_manager.commands.audit.audit import SERVICE
from ingress_manager.commands.audit.audit import audit as audit_of
from ingress_manager.commands.audit.kinds import Effect, Kind, Severity
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.audit.reports import FORMATS, effects, findings
from ingress_manager.commands.printing.console import note, show, waiting
from ingress_manager.commands.reading.about import about_file
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import Options, Source, settings_of, settings_option, source_options
from ingress_manager.commands.view import ingresses, services
from ingress_manager.commands.view.inventory import HTTPROUTE, INGRESS
from ingress_manager.core.policy import Policy

RESOURCES = {INGRESS: "ingresses.networking.k8s.io", HTTPROUTE: "httproutes.gateway.networking.k8s.io"}
PLURAL = {INGRESS: "Ingresses", HTTPROUTE: "HTTPRoutes"}
BOTH = "`kubectl get services,ingresses` prints both."

COLOURS: dict[str, dict[str, Any]] = {
    Severity.ERROR: {"fg": "red"},
    Severity.WARNING: {"fg": "yellow"},
    Effect.REMOVED: {"fg": "red"},
    Effect.REFUSED: {"fg": "yellow"},
    Effect.CHANGED: {"fg": "cyan"},
    Effect.CREATED: {"fg": "green"},
    "command": {"dim": True},
    "head": {"bold": True},
}
COULD_NOT_LOOK = 2
CURRENT_SETTINGS: Options = (settings_option("those of the cluster, else the defaults", "--current-settings"),)


@dataclass(slots=True)
class Seen:
    """What was read, and what could not be."""

    manifests: Manifests
    httproutes: bool = True
    """Whether there can be any."""

    unseen: dict[str, str] = field(default_factory=dict)
    """The kinds that could not be looked at, or "settings", and why."""


@click.command(short_help="Say what of a cluster needs a person, and what mends it.")
@partial(source_options, settings=CURRENT_SETTINGS)
@click.option(
    "--settings",
    "new",
    metavar="FILE",
    help="Other settings, or the ConfigMap with them: print what they would create, change, remove and refuse, and "
    "nothing else.",
)
@click.option(
    "-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="How it is printed."
)
@click.option(
    "--only",
    metavar="KIND",
    multiple=True,
    type=click.Choice(list(dict.fromkeys(each.value for each in (*Kind, *Effect)))),
    help="Findings of this kind alone; may be repeated. `ingress-manager explain` lists the kinds. With --settings: "
    f"{', '.join(Effect)}.",
)
@click.pass_context
def audit(context: click.Context, source: Source, new: str | None, output: str, only: tuple[str, ...]) -> None:
    """Say what of a cluster needs a person, each with the kubectl command that mends it.

    It reads Services, Ingresses and, where the cluster has them, HTTPRoutes. Services and what stands are judged by the
    settings of the cluster, or by --current-settings.

    With --settings NEW it says what would happen instead if NEW were the settings: the look before a policy is changed.

    Exit status: 0 when nothing is found (with --settings: nothing would be removed), 1 when something is or a part of a
    file can't be read, 2 for wrong use or when something could not be looked at.

    \b
    Examples:
      ingress-manager audit --all-namespaces
      ingress-manager audit -n team-a --only refused --only name-taken
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    known = {each.value for each in (Kind if new is None else Effect)}
    for kind in only:
        if kind not in known:
            raise click.UsageError(f"--only {kind} is for an audit {'with' if new is None else 'without'} --settings")
    proposed = None if new is None else settings_of(new)
    seen = look(source)
    with waiting(f"judging {len(seen.manifests.items)} objects"):
        wrong = (
            print_findings(source, seen, output, only) if proposed is None else print_plan(seen, proposed, output, only)
        )
    wrong += show(map(about_file, seen.manifests.unreadable))
    for sentence in seen.unseen.values():
        click.secho(sentence, fg="red", err=True)
    context.exit(COULD_NOT_LOOK if seen.unseen else 1 if wrong else 0)


def look(source: Source) -> Seen:
    """Return what there is, as far as the user may read it. Raises click.UsageError, and KubectlFailed for Services."""
    if source.files:
        seen = Seen(source.read(""))
        if not any(seen.manifests.of_kind(services.SERVICE)):
            seen.unseen[SERVICE] = f"Services could not be looked at: there is none in what was read; {BOTH}"
        if not any(seen.manifests.of_kind(ingresses.INGRESS)):
            note(f"There is no Ingress in what was read; {BOTH}")
        return seen
    seen = Seen(Manifests())
    for kind, resource in RESOURCES.items():
        try:
            seen.manifests.extend(source.read(resource))
        except KubectlFailed as failed:
            if kind == HTTPROUTE and failed.is_unknown_kind:
                seen.httproutes = False
            else:
                seen.unseen[kind] = f"{PLURAL[kind]} could not be looked at: {failed.message}"
    # Last: the Ingress of a Service that is made meanwhile must not be taken for one whose Service is gone.
    seen.manifests.extend(source.read("services"))
    return seen


def print_findings(source: Source, seen: Seen, output: str, only: Collection[str]) -> int:
    """Print what needs a person; return how much that is."""
    policy = policy_of(source, seen)
    if policy.paused:
        note("The settings pause ingress-manager: nothing changes until `paused` is false, but for what is forbidden.")
    audited = audit_of(seen.manifests.items, policy, unseen=seen.unseen, httproutes=seen.httproutes)
    audited.options = source.kubectl.options
    if only:
        audited.found = [found for found in audited.found if found.kind in only]
    for text in findings(audited, output, seen.unseen.values(), paint):
        click.echo(text, nl=False)
    return len(audited.found) + show(audited.invalid)


def print_plan(seen: Seen, policy: Policy, output: str, only: Collection[str]) -> int:
    """Print what other settings would do; return how much would be removed."""
    if policy.paused:
        note("These settings pause ingress-manager: until `paused` is false, only what they forbid is removed.")
    would = preview(seen.manifests.items, policy, unseen=seen.unseen, httproutes=seen.httproutes)
    removed = sum(each.effect is Effect.REMOVED for each in would.affected)
    if only:
        would.affected = [each for each in would.affected if each.effect in only]
    for text in effects(would, output, paint):
        click.echo(text, nl=False)
    return removed + show(would.invalid)


def policy_of(source: Source, seen: Seen) -> Policy:
    """Return the settings that hold. Those of the cluster that can't be read are noted in what was not seen."""
    if source.settings is None and source.files:
        note("With the default settings; --current-settings FILE takes others.")
        return Policy()
    if source.settings is not None:
        return source.policy()
    try:
        return source.policy_of_the_cluster()
    except KubectlFailed as failed:
        seen.unseen["settings"] = (
            "The settings could not be looked at, and the defaults were taken in their place; "
            f"--current-settings names others: {failed.message}"
        )
        return Policy()


def paint(text: str, role: str) -> str:
    """Return the text in the style of its role."""
    return click.style(text, **COLOURS[role]) if role in COLOURS else text
