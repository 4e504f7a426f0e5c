"""`ingress-manager audit`: the shell."""

from collections.abc import Collection
from functools import partial
from typing import Any

import click

from ingress_manager.commands.audit.audit import audit as audit_of
from ingress_manager.commands.audit.kinds import Effect, FindingKind, Severity
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.audit.reports import FORMATS, effects, findings
from ingress_manager.commands.printing.console import note, show, waiting
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import Options, Source, settings_option, source_options
from ingress_manager.commands.reading.settings import policy_of_file
from ingress_manager.commands.view.cluster import read_objects, read_policy
from ingress_manager.commands.view.look import Known
from ingress_manager.core.policy import Policy

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
    type=click.Choice(list(dict.fromkeys(each.value for each in (*FindingKind, *Effect)))),
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
    kinds = {each.value for each in (FindingKind if new is None else Effect)}
    for kind in only:
        if kind not in kinds:
            raise click.UsageError(f"--only {kind} is for an audit {'with' if new is None else 'without'} --settings")
    proposed = None if new is None else policy_of_file(new)
    manifests, known = read_objects(source)
    with waiting(f"judging {len(manifests.items)} objects"):
        if proposed is None:
            wrong = print_findings(source, manifests, known, output, only)
        else:
            wrong = print_plan(manifests, known, proposed, output, only)
    wrong += show(manifests.unreadable)
    for sentence in known.unknown.values():
        click.secho(sentence, fg="red", err=True)
    context.exit(COULD_NOT_LOOK if known.unknown else 1 if wrong else 0)


def print_findings(source: Source, manifests: Manifests, known: Known, output: str, only: Collection[str]) -> int:
    """Print what needs a person; return how much that is."""
    policy = read_policy(source, known, "--current-settings")
    if policy.pauses:
        note(
            f"The settings pause {policy.pauses}: nothing but what is forbidden changes there until `paused` is false."
        )
    audited = audit_of(manifests.items, policy, known)
    audited.options = source.kubectl.options
    if only:
        audited.findings = [found for found in audited.findings if found.kind in only]
    for text in findings(audited, output, known.unknown.values(), paint):
        click.echo(text, nl=False)
    return len(audited.findings) + show(audited.invalid)


def print_plan(manifests: Manifests, known: Known, policy: Policy, output: str, only: Collection[str]) -> int:
    """Print what other settings would do; return how much would be removed."""
    if policy.pauses:
        note(f"These settings pause {policy.pauses}: until `paused` is false there, only what they forbid is removed.")
    would = preview(manifests.items, policy, known)
    removed = sum(each.effect is Effect.REMOVED for each in would.affected)
    if only:
        would.affected = [each for each in would.affected if each.effect in only]
    for text in effects(would, output, paint):
        click.echo(text, nl=False)
    return removed + show(would.invalid)


def paint(text: str, role: str) -> str:
    """Return the text in the style of its role."""
    return click.style(text, **COLOURS[role]) if role in COLOURS else text
