"""Installs ingress-manager from a clone, and uninstalls it: `make install IMAGE=…` and `make uninstall`.

Every kubectl command that changes the cluster is printed before it runs, with the reason for it.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from pathlib import Path

import click
import yaml

from devcluster.build import REPOSITORY
from devcluster.errors import CommandFailed, DevClusterError
from devcluster.overlay import CONTROLLER, Overlay
from ingress_manager.commands.audit.preview import PREVIEWED, preview
from ingress_manager.commands.check.cluster import Outcome
from ingress_manager.commands.check.provided import by_version
from ingress_manager.commands.findings.claims import outside_limits
from ingress_manager.commands.findings.finding import Severity
from ingress_manager.commands.findings.registry import findings_of
from ingress_manager.commands.inspection import inspect
from ingress_manager.commands.policies import policies_of
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed, error_message
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.reading.settings import SettingsText, settings_of_cluster
from ingress_manager.commands.snapshot.items import Message
from ingress_manager.commands.text import counted
from ingress_manager.core.copying import ANY
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import parse
from ingress_manager.core.text import one_line

METACONTROLLER_CRDS = (
    "https://raw.githubusercontent.com/metacontroller/metacontroller/v4.17.2/"
    "manifests/production/metacontroller-crds-v1.yaml"
)
"""The CRDs from the Metacontroller release that metacontroller/install runs."""

CRD = "customresourcedefinition.apiextensions.k8s.io/decoratorcontrollers.metacontroller.k8s.io"
OURS = "clusterrole.rbac.authorization.k8s.io/ingress-manager-metacontroller"
"""An object that metacontroller/install creates. Other installations of Metacontroller don't have it."""

OVERLAYS = ("listenersets", "httproutes")
"""Resources, each with a DecoratorController overlay named after it. The first one's overlay adds both."""

PUBLISHED = "registry.example.com/ingress-manager"
"""The image named in the manifests, without a tag."""

KINDS = "validatingadmissionpolicies,validatingadmissionpolicybindings"
SETTINGS_FILE = REPOSITORY / "manifests/settings.yaml"
MOST_NAMED = 10
"""The maximum number of lost objects and URLs to list."""

UNLIMITED_HOSTS = """\
With these settings, every namespace may claim every host. To give each namespace its own hosts, run the same command
again with your domain, such as DOMAIN=apps.example.com, or edit the limits in manifests/settings.yaml first."""

EXAMPLE = "apps.example.com"
BY_DOMAIN = ('host: "{{service}}.{{namespace}}.{}"', 'hosts: ["*.{{namespace}}.{}"]')
"""The settings lines with the domain. manifests/settings.yaml ships them as comments, with EXAMPLE as the domain."""

INJECTED = "cert-manager.io/inject-ca-from"


def replacement(reference: str) -> dict[str, str]:
    """Return the entry in a kustomization's `images` that replaces the manifests' image with `reference`.

    Raises DevClusterError for an image without tag or digest, because `latest` could be any version.
    """
    rest, _, digest = reference.partition("@")
    folder, slash, last = rest.rpartition("/")
    name, _, tag = last.partition(":")
    if not name or not (tag or digest):
        such = f"IMAGE={PUBLISHED}:0.1.0"
        raise DevClusterError(f"IMAGE must be an image with a tag or a digest, such as {such}; not {reference!r}")
    fields = {"newName": folder + slash + name, "newTag": tag, "digest": digest}
    return {"name": PUBLISHED} | {key: value for key, value in fields.items() if value}


def with_domain(text: str, domain: str) -> str:
    """Return the settings text, changed so that each namespace has its own hosts below the domain.

    Raises DevClusterError if the text already sets other hosts, or the domain is invalid.
    """
    for line in BY_DOMAIN:
        wanted, example = line.format(domain), line.format(EXAMPLE)
        if f"#{example}" not in text and wanted not in text:
            raise DevClusterError(
                f"DOMAIN={domain}: manifests/settings.yaml no longer has the line #{example} to replace with "
                f"{wanted}; set {wanted.partition(':')[0]} there yourself, and omit DOMAIN"
            )
        text = text.replace(f"#{example}", wanted)
    try:
        parse(text)
    except SettingsError as error:
        raise DevClusterError(f"DOMAIN must be a domain, such as DOMAIN={EXAMPLE}: {error.sentence}") from error
    return text


@dataclass(frozen=True)
class Shell:
    """Runs programs, and shows each command and its output."""

    context: str
    """The cluster's context in the kubeconfig; empty for the current one."""

    @property
    def options(self) -> list[str]:
        """Return the options that select the cluster, for kubectl and for ingress-manager."""
        return [f"--context={self.context}"] if self.context else []

    def name(self) -> str:
        """Return the context's name. Raises CommandFailed if there is no current context."""
        return self.context or self.read("kubectl", "config", "current-context").strip()

    def run(self, why: str, *command: str, fails: tuple[int, ...] = ()) -> int:
        """Print `why` and the command, run the command, and return its exit status.

        Raises CommandFailed if the status is neither 0 nor in `fails`.
        """
        shown = [*command, *self.options]
        click.echo(f"\n# {why}\n{shlex.join(shown)}")
        status = subprocess.run(shown, cwd=REPOSITORY, check=False).returncode
        if status and status not in fails:
            raise CommandFailed(f"{command[0]} failed with the error above. Fix it, then run the same command again.")
        return status

    def rollout(self, why: str, name: str) -> None:
        """Wait for Deployment `name`, in the namespace of that name, to roll out. Raises CommandFailed after 3 min."""
        where = f"--namespace={name}"
        if self.run(why, "kubectl", "rollout", "status", f"deployment/{name}", where, "--timeout=3m", fails=(1,)):
            raise CommandFailed(
                f"{name} isn't ready; existing Ingresses are unaffected. To see why:\n"
                f"  kubectl describe pods {where}\nThen run the same command again."
            )

    def read(self, *command: str) -> str:
        """Return a program's standard output. Raises CommandFailed with its error message."""
        ended = subprocess.run([*command, *self.options], capture_output=True, text=True, check=False)
        if ended.returncode:
            raise CommandFailed(f"{shlex.join(command)}\n{error_message(ended.stderr)}")
        return ended.stdout

    def existing(self, *objects: str) -> set[str]:
        """Return which of the objects, given as KIND/NAME, exist in the cluster. Raises CommandFailed."""
        return set(self.read("kubectl", "get", *objects, "--ignore-not-found", "--output=name").split())


def require_kubernetes(shell: Shell) -> None:
    """Warn if the Kubernetes version can't be parsed. Raises CommandFailed if it is too old, or kubectl fails."""
    versions = json.loads(shell.read("kubectl", "version", "--output=json"))
    for result in by_version("Kubernetes", versions["serverVersion"]["gitVersion"]):
        if result.outcome is Outcome.WRONG:
            raise CommandFailed(f"Nothing was done: {result.sentence}.")
        click.echo(f"! {result.sentence}.")


def apply_hook(shell: Shell, image: str, controller: str, settings: str, *, yes: bool) -> None:
    """Save `settings` in SETTINGS_FILE, apply manifests/ with this image, and wait until the hook is ready.

    Before that, show what would change in an existing installation, and in `controller`'s objects, which aren't applied
    here. If anything would change, ask for confirmation, unless `yes` is true. Raises CommandFailed and KubectlFailed.
    """
    with tempfile.TemporaryDirectory(prefix="ingress-manager-") as name:
        folder = Path(name).resolve()
        manifests = shutil.copytree(SETTINGS_FILE.parent, folder / "manifests")
        (manifests / SETTINGS_FILE.name).write_text(settings, encoding="utf-8")
        overlay = Overlay([str(manifests)], images=[replacement(image)])
        restore_webhook(shell, overlay)
        click.echo(f"\n# {folder}/kustomization.yaml, the manifests with your image:\n{overlay.write(folder).rstrip()}")
        hooks = json.loads(shell.read("kubectl", "get", "deployments", "--namespace=ingress-manager", "--output=json"))
        for deployment in hooks["items"]:
            if release := deployment["metadata"].get("annotations", {}).get("meta.helm.sh/release-name"):
                raise CommandFailed(f"Nothing was done: Helm manages the hook (release {release}). Use `helm upgrade`.")
        policies = show_policies(shell, parse(settings), folder / "policies.json")
        changes = [bool(policies)]
        if hooks["items"]:
            objects = yaml.safe_load_all(shell.read("kubectl", "kustomize", str(folder)))
            others = folder / "without-settings.yaml"  # the ConfigMap's name changes with its content
            others.write_text(yaml.safe_dump_all(each for each in objects if each["kind"] != "ConfigMap"), "utf-8")
            options = (f"--filename={others}", f"--kustomize={controller}")
            why = "Already installed. Changes other than the settings:"
            changes += [bool(shell.run(why, "kubectl", "diff", option, fails=(1,))) for option in options]
            changes += [show_settings(shell, settings), show_losses(shell, parse(settings))]
        if any(changes):
            ask("Apply these changes?", yes=yes)
        if settings != SETTINGS_FILE.read_text(encoding="utf-8"):
            SETTINGS_FILE.write_text(settings, encoding="utf-8")
        if policies:
            shell.run("The limits for hand-written routes, before the hook gets new settings.", "kubectl", *policies)
        shell.run("The hook, which has no permissions in the cluster.", "kubectl", "apply", f"--kustomize={folder}")
    why = "Wait for the hook: without it, Metacontroller would report an error for every Service in the cluster."
    shell.rollout(why, "ingress-manager")


def show_settings(shell: Shell, settings: str) -> bool:
    """Print the diff from the cluster's settings to `settings`, and return whether they differ."""
    try:
        old = settings_of_cluster(Kubectl(shell.options))
    except KubectlFailed as failed:
        old = SettingsText("", failed.message)
    changed = [*unified_diff(old.text.splitlines(), settings.splitlines(), old.file, "new settings", lineterm="")]
    click.echo("\n".join(["\n# The settings:", *(changed or ["No changes."])]))
    return bool(changed)


def show_losses(shell: Shell, settings: Settings) -> bool:
    """Print objects and URLs that unpaused Services would lose. Return whether there are any. Raises KubectlFailed."""
    source = Source(all_namespaces=True, context=shell.context or None)
    # Compare with the observed objects, because a new version may decide differently even under the old settings.
    inspection = inspect(source, settings, partial(preview, current=None), surroundings=PREVIEWED)
    losses = [finding for finding in inspection.findings if finding.kind.severity is Severity.ERROR]
    held = {str(loss.service) for loss in losses if settings.entry_for(loss.item.namespace).paused}
    losses = [loss for loss in losses if str(loss.service) not in held]
    click.echo(f"\n# {counted(len({str(loss.service) for loss in losses}), 'Service')} would lose an object or a URL.")
    if held:
        click.echo(f"# {len(held):,} more would, once `paused` is false.")
    for loss in sorted(losses, key=lambda loss: loss.item.full_name)[:MOST_NAMED]:
        click.echo(f"{loss.kind.name}  {loss.item}  {one_line(loss.sentence)}")
    if losses[MOST_NAMED:]:
        click.echo(f"and {len(losses) - MOST_NAMED} more: `ingress-manager audit --all-namespaces --settings FILE`")
    for sentence in inspection.unseen:
        click.echo(f"! {sentence}.")
    return bool(losses)


def show_policies(shell: Shell, settings: Settings, file: Path) -> list[str]:
    """Return kubectl's arguments for changing the policies that enforce the limits, or [] if nothing changes.

    Writes new policies to `file`, and prints the diff. Raises CommandFailed and KubectlFailed.
    """
    present = [KINDS, "--selector=app.kubernetes.io/name=ingress-manager,app.kubernetes.io/component=limits"]
    actions = shell.read("kubectl", "get", *present, "--output=jsonpath={.items[*].spec.validationActions}")
    items = policies_of(settings, "warn" if "Warn" in actions else "deny")  # keep a policy that only warns
    if not items:
        return ["delete", *present] if actions else []
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    if not shell.run("The limits, for hand-written routes:", "kubectl", "diff", f"--filename={file}", fails=(1,)):
        return []
    source = Source(all_namespaces=True, context=shell.context or None)
    inspection = inspect(source, settings, partial(findings_of, kinds=[outside_limits]), surroundings=())
    outside = counted(len(inspection.findings), "hand-written object")
    click.echo(f"\n# {outside} outside the limits: `ingress-manager audit --all-namespaces --current-settings FILE`")
    return ["apply", f"--filename={file}"]


def restore_webhook(shell: Shell, overlay: Overlay) -> None:
    """If the cluster has the admission webhook, add it and its CA bundle to the overlay. Raises CommandFailed."""
    kind = "validatingwebhookconfiguration"
    text = shell.read("kubectl", "get", kind, "ingress-manager", "--ignore-not-found", "--output=json")
    if not text:
        return
    overlay.components.append("manifests/admission")
    configuration = json.loads(text)
    if INJECTED in configuration["metadata"].get("annotations", {}):
        overlay.components.append("manifests/admission/cert-manager")
    elif bundle := configuration["webhooks"][0]["clientConfig"].get("caBundle"):
        overlay.patch(configuration["kind"], CONTROLLER, ("add", "/webhooks/0/clientConfig/caBundle", bundle))


def apply_metacontroller(shell: Shell, crds: str) -> None:
    """Install Metacontroller, with CRDs from file or URL `crds`, and wait until it is ready. Raises CommandFailed."""
    shell.run("Metacontroller's CRDs, from its release.", "kubectl", "apply", f"--filename={crds}")
    why = "Wait until the API server serves them."
    shell.run(why, "kubectl", "wait", "--for=condition=established", "--timeout=1m", CRD)
    shell.run("Metacontroller itself.", "kubectl", "apply", "--kustomize=metacontroller/install")
    shell.rollout("Wait until it is ready.", "metacontroller")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Install ingress-manager on the cluster that kubectl talks to, or uninstall it."""
    # The user's own kubectl takes precedence over the one installed with Python.
    os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))


YES = click.option("--yes", is_flag=True, help="Don't ask for confirmation; for scripts.")
CONTEXT = click.option("--context", default="", help="The kubeconfig context; by default, the current one.")


@main.command()
@CONTEXT
@YES
@click.option("--crds", default="", help="URL or file of Metacontroller's CRDs; by default, those of its release.")
@click.option("--domain", default="", help="Give each namespace its own hosts below this domain, in the settings.")
@click.argument("image")
def install(image: str, context: str, crds: str, domain: str, *, yes: bool) -> None:
    """Install ingress-manager with the image IMAGE, and Metacontroller if the cluster has none.

    Run it again to apply changed settings or a new version; an installed admission webhook is updated, too. Before
    changing an installation, it shows the changes and what Services would lose, and asks for confirmation.

    \b
    Examples:
      make install IMAGE=registry.example.com/ingress-manager:0.1.0 DOMAIN=apps.example.com
      make install IMAGE=registry.example.com/ingress-manager:0.1.0 CONTEXT=kind-kind
    """  # noqa: D301 - \b keeps click from joining lines
    replacement(image)
    text = SETTINGS_FILE.read_text(encoding="utf-8")
    if isinstance(mistake := SettingsText(text, "manifests/settings.yaml").parse(), Message):
        raise CommandFailed(f"Nothing was done, because the settings are invalid:\n{mistake}")
    if domain:
        text = with_domain(text, domain)
    shell = Shell(context)
    require_kubernetes(shell)
    present = shell.existing(CRD, OURS)
    click.echo(f"Installing on the cluster of context {shell.name()}.")
    controller = f"metacontroller/{folder_of(shell) if CRD in present else 'controller'}"
    apply_hook(shell, image, controller, text, yes=yes)
    if domain:
        click.echo(f"\nmanifests/settings.yaml gives each namespace its own hosts below {domain}.")
    if CRD in present and OURS not in present:
        click.echo("\n# The cluster already has Metacontroller. metacontroller/README.md lists its requirements.")
    else:
        apply_metacontroller(shell, crds or METACONTROLLER_CRDS)
    why = "The controller, last: from now on, Metacontroller calls the hook for each Service."
    shell.run(why, "kubectl", "apply", f"--kustomize={controller}")
    click.echo("\ningress-manager is installed. To try it:\n  kubectl apply -k manifests/sample/")
    click.echo("  kubectl get ingress --namespace sample")
    if parse(text).limits.hosts == ANY:
        click.echo(f"\n{UNLIMITED_HOSTS}")
    # Problems don't undo the installation.
    shell.run("Check the installation.", "ingress-manager", "check", "--wait", "--timeout=30", fails=(1, 2))


def folder_of(shell: Shell) -> str:
    """Return the folder in metacontroller/ from which the DecoratorController was applied. Raises CommandFailed."""
    output = "--output=jsonpath={.spec.attachments[*].resource}"
    made = shell.read("kubectl", "get", "--ignore-not-found", output, "decoratorcontroller", "ingress-manager").split()
    return next((name.removesuffix("s") for name in OVERLAYS if name in made), "controller")


@main.command()
@CONTEXT
@YES
@click.option("--ingresses", type=click.Choice(["keep", "remove"]), default="keep", help="What to do with its objects.")
def uninstall(context: str, ingresses: str, *, yes: bool) -> None:
    """Uninstall ingress-manager, and Metacontroller unless it was installed separately. By default, Ingresses stay.

    It prints what it will do, and asks for confirmation.

    \b
    Examples:
      make uninstall
      make uninstall INGRESSES=remove YES=1
    """  # noqa: D301 - \b keeps click from joining lines
    shell = Shell(context)
    stays = [] if shell.existing(OURS) else ["--keep-metacontroller"]
    command = ["ingress-manager", "uninstall", f"--{ingresses}", *stays]
    plan = shell.read(*command)
    click.echo(f"Removing ingress-manager from the cluster of context {shell.name()}:")
    for line in plan.splitlines():
        if line.startswith("#"):
            click.echo(line.replace("#", " ", 1))
    ask("Remove it?", yes=yes)
    if subprocess.run([*command, "--apply", *shell.options], check=False).returncode:
        raise CommandFailed("A step failed, and the later steps were not run. To continue, run the same command again.")
    click.echo("\ningress-manager is removed.")


def ask(question: str, *, yes: bool) -> None:
    """Ask for confirmation, unless `yes`. Raises CommandFailed if the user declines or there is no terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailed("Nothing was done: there is no terminal for the confirmation. Add YES=1 to confirm.")
    if not click.confirm(question):
        raise CommandFailed("Nothing was done.")


if __name__ == "__main__":
    main(prog_name="python -m tools.install")
