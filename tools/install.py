"""From a clone to a cluster, and off it again: `make install IMAGE=…` and `make uninstall`.

Every kubectl command is printed before it is run, with the reason for it.
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
"""The CRDs of the release whose image metacontroller/install names."""

CRD = "customresourcedefinition.apiextensions.k8s.io/decoratorcontrollers.metacontroller.k8s.io"
OURS = "clusterrole.rbac.authorization.k8s.io/ingress-manager-metacontroller"
"""What metacontroller/install brings, and no other installation of Metacontroller."""

OVERLAYS = ("listenersets", "httproutes")
"""What folders of metacontroller/ add to the DecoratorController, by which they are named; the first has both."""

PUBLISHED = "registry.example.com/ingress-manager"
"""The image that the manifests name, without a tag."""

KINDS = "validatingadmissionpolicies,validatingadmissionpolicybindings"
SETTINGS_FILE = REPOSITORY / "manifests/settings.yaml"
MOST_NAMED = 10
"""How many objects that would be removed or moved are named."""

UNLIMITED_HOSTS = """\
With these settings, every namespace may claim every host. DOMAIN=apps.example.com, with a domain of yours, gives each
namespace hosts of its own; manifests/settings.yaml has other ways. Then run the same command again."""

EXAMPLE = "apps.example.com"
BY_DOMAIN = ('host: "{{service}}.{{namespace}}.{}"', 'hosts: ["*.{{namespace}}.{}"]')
"""The lines of the settings that name a domain. manifests/settings.yaml has them, with the example's, behind a #."""

INJECTED = "cert-manager.io/inject-ca-from"


def replacement(reference: str) -> dict[str, str]:
    """Return the entry of a kustomization's `images` that puts an image in the place of the one in the manifests.

    Raises DevClusterError if it has no tag or digest: `latest` would be meant, which may be any version.
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
    """Return the text of settings that give each namespace hosts of its own below a domain.

    Raises DevClusterError if the text has other hosts already, or if that is no domain.
    """
    for line in BY_DOMAIN:
        wanted, example = line.format(domain), line.format(EXAMPLE)
        if f"#{example}" not in text and wanted not in text:
            raise DevClusterError(
                f"DOMAIN={domain}: manifests/settings.yaml has no line #{example} any more, which would become "
                f"{wanted}; set the {wanted.partition(':')[0]} there yourself, and leave DOMAIN out"
            )
        text = text.replace(f"#{example}", wanted)
    try:
        parse(text)
    except SettingsError as error:
        raise DevClusterError(f"DOMAIN must be a domain, such as DOMAIN={EXAMPLE}: {error.sentence}") from error
    return text


@dataclass(frozen=True)
class Shell:
    """Runs programs for a person who looks on."""

    context: str
    """Of which context of the kubeconfig the cluster is; empty: the current one."""

    @property
    def options(self) -> list[str]:
        """Return the options that name the cluster, for kubectl and for ingress-manager."""
        return [f"--context={self.context}"] if self.context else []

    def name(self) -> str:
        """Return the name of the context. Raises CommandFailed where there is none."""
        return self.context or self.read("kubectl", "config", "current-context").strip()

    def run(self, why: str, *command: str, fails: tuple[int, ...] = ()) -> int:
        """Print why and a command, and run it; return its status. Raises CommandFailed unless it is 0 or in `fails`."""
        shown = [*command, *self.options]
        click.echo(f"\n# {why}\n{shlex.join(shown)}")
        status = subprocess.run(shown, cwd=REPOSITORY, check=False).returncode
        if status and status not in fails:
            raise CommandFailed(f"{command[0]} has failed; what it says is above. Run the same command again after it.")
        return status

    def rollout(self, why: str, name: str) -> None:
        """Wait until a Deployment's Pods run, whose namespace has its name. Raises CommandFailed."""
        where = f"--namespace={name}"
        if self.run(why, "kubectl", "rollout", "status", f"deployment/{name}", where, "--timeout=3m", fails=(1,)):
            raise CommandFailed(
                f"{name} isn't ready, and no Service has noticed anything. To see why:\n"
                f"  kubectl describe pods {where}\nThen run the same command again."
            )

    def read(self, *command: str) -> str:
        """Return what a program prints. Raises CommandFailed with what it says on standard error."""
        ended = subprocess.run([*command, *self.options], capture_output=True, text=True, check=False)
        if ended.returncode:
            raise CommandFailed(f"{shlex.join(command)}\n{error_message(ended.stderr)}")
        return ended.stdout

    def existing(self, *objects: str) -> set[str]:
        """Return which of these objects, each with its kind, the cluster has. Raises CommandFailed."""
        return set(self.read("kubectl", "get", *objects, "--ignore-not-found", "--output=name").split())


def require_kubernetes(shell: Shell) -> None:
    """Say it where the cluster's version of Kubernetes can't be told. Raises CommandFailed where it is too old."""
    versions = json.loads(shell.read("kubectl", "version", "--output=json"))
    for result in by_version("Kubernetes", versions["serverVersion"]["gitVersion"]):
        if result.outcome is Outcome.WRONG:
            raise CommandFailed(f"Nothing was done: {result.sentence}.")
        click.echo(f"! {result.sentence}.")


def apply_hook(shell: Shell, image: str, controller: str, settings: str, *, yes: bool) -> None:
    """Apply manifests/ with that image and these settings, and wait until the hook answers. Raises CommandFailed.

    Where it is installed, show first what would change, and ask. manifests/settings.yaml is written after that.
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
                raise CommandFailed(f"Nothing was done: Helm keeps it, as the release {release}. Run `helm upgrade`.")
        policies = show_policies(shell, parse(settings), folder / "policies.json")
        changes = [bool(policies)]
        if hooks["items"]:
            # Without its ConfigMap, which has a new name each time.
            objects = yaml.safe_load_all(shell.read("kubectl", "kustomize", str(folder)))
            others = folder / "without-settings.yaml"
            others.write_text(yaml.safe_dump_all(each for each in objects if each["kind"] != "ConfigMap"), "utf-8")
            options = (f"--filename={others}", f"--kustomize={controller}")
            why = "It is installed already. What would change beside the settings:"
            changes += [bool(shell.run(why, "kubectl", "diff", option, fails=(1,))) for option in options]
            changes += [show_settings(shell, settings), show_losses(shell, parse(settings))]
        if any(changes):
            ask("Change that?", yes=yes)
        if settings != SETTINGS_FILE.read_text(encoding="utf-8"):
            SETTINGS_FILE.write_text(settings, encoding="utf-8")
        if policies:
            shell.run("The limits for hand-written routes, before the hook serves others.", "kubectl", *policies)
        shell.run("The hook. It has no rights, and nobody asks it yet.", "kubectl", "apply", f"--kustomize={folder}")
    why = "Wait until it answers: before, Metacontroller would report an error for every Service of the cluster."
    shell.rollout(why, "ingress-manager")


def show_settings(shell: Shell, settings: str) -> bool:
    """Print the changed lines of the settings; return whether there are any."""
    try:
        old = settings_of_cluster(Kubectl(shell.options))
    except KubectlFailed as failed:
        old = SettingsText("", failed.message)
    changed = [*unified_diff(old.text.splitlines(), settings.splitlines(), old.file, "new settings", lineterm="")]
    click.echo("\n".join(["\n# The settings:", *(changed or ["They don't change."])]))
    return bool(changed)


def show_losses(shell: Shell, settings: Settings) -> bool:
    """Print what Services would lose; return whether there is anything that no pause holds back. Raises KubectlFailed.

    New settings are compared with the observed objects: a new version may decide otherwise by the same settings.
    """
    source = Source(all_namespaces=True, context=shell.context or None)
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
    """Show how the limits' policies would change; return kubectl's arguments for it, or []. Raises KubectlFailed."""
    present = [KINDS, "--selector=app.kubernetes.io/name=ingress-manager,app.kubernetes.io/component=limits"]
    actions = shell.read("kubectl", "get", *present, "--output=jsonpath={.items[*].spec.validationActions}")
    items = policies_of(settings, "warn" if "Warn" in actions else "deny")  # a policy that only warns still does
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
    """Add the admission webhook, where that is installed, with its certificate as before. Raises CommandFailed."""
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
    """Apply Metacontroller's CRDs and metacontroller/install, and wait until it is ready. Raises CommandFailed."""
    shell.run("Metacontroller's own kinds, from its release.", "kubectl", "apply", f"--filename={crds}")
    why = "Wait until the API server serves them."
    shell.run(why, "kubectl", "wait", "--for=condition=established", "--timeout=1m", CRD)
    shell.run("Metacontroller. It has nothing to do yet.", "kubectl", "apply", "--kustomize=metacontroller/install")
    shell.rollout("Wait until it is ready.", "metacontroller")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Install ingress-manager on the cluster that kubectl talks to, or remove it."""
    # The user's own kubectl goes before the one beside Python.
    os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))


YES = click.option("--yes", is_flag=True, help="Ask nothing: for scripts.")
CONTEXT = click.option("--context", default="", help="The context of the kubeconfig; by default, the current one.")


@main.command()
@CONTEXT
@YES
@click.option("--crds", default="", help="Metacontroller's CRDs: a URL or a file; by default, those of its release.")
@click.option("--domain", default="", help="Write into the settings that each namespace has hosts of its own below it.")
@click.argument("image")
def install(image: str, context: str, crds: str, domain: str, *, yes: bool) -> None:
    """Install ingress-manager with the image IMAGE, and Metacontroller where the cluster has none.

    Once it is installed, the same command brings changed settings and a new version to the cluster, also to the
    webhook, if that is there. It shows what would change of an installation and what Services would lose, and asks.

    \b
    Examples:
      make install IMAGE=registry.example.com/ingress-manager:0.1.0 DOMAIN=apps.example.com
      make install IMAGE=registry.example.com/ingress-manager:0.1.0 CONTEXT=kind-kind
    """  # noqa: D301 - \b keeps click from joining lines
    replacement(image)
    text = SETTINGS_FILE.read_text(encoding="utf-8")
    if isinstance(mistake := SettingsText(text, "manifests/settings.yaml").parse(), Message):
        raise CommandFailed(f"Nothing was done: the settings can't be used:\n{mistake}")
    if domain:
        text = with_domain(text, domain)
    shell = Shell(context)
    require_kubernetes(shell)
    present = shell.existing(CRD, OURS)
    click.echo(f"Installing on the cluster of the context {shell.name()}.")
    controller = f"metacontroller/{folder_of(shell) if CRD in present else 'controller'}"
    apply_hook(shell, image, controller, text, yes=yes)
    if domain:
        click.echo(f"\nmanifests/settings.yaml gives each namespace hosts of its own below {domain}.")
    if CRD in present and OURS not in present:
        click.echo("\n# The cluster has a Metacontroller already. metacontroller/README.md says what it needs to have.")
    else:
        apply_metacontroller(shell, crds or METACONTROLLER_CRDS)
    why = "The controller, last: from now on Metacontroller asks the hook about each Service."
    shell.run(why, "kubectl", "apply", f"--kustomize={controller}")
    click.echo("\nIt is installed. To see it work:\n  kubectl apply -k manifests/sample/")
    click.echo("  kubectl get ingress --namespace sample")
    if parse(text).limits.hosts == ANY:
        click.echo(f"\n{UNLIMITED_HOSTS}")
    # What is wrong doesn't undo the installation.
    shell.run("Is it well installed?", "ingress-manager", "check", "--wait", "--timeout=30", fails=(1, 2))


def folder_of(shell: Shell) -> str:
    """Return the folder of metacontroller/ that the cluster's DecoratorController is from. Raises CommandFailed."""
    output = "--output=jsonpath={.spec.attachments[*].resource}"
    made = shell.read("kubectl", "get", "--ignore-not-found", output, "decoratorcontroller", "ingress-manager").split()
    return next((name.removesuffix("s") for name in OVERLAYS if name in made), "controller")


@main.command()
@CONTEXT
@YES
@click.option(
    "--ingresses", type=click.Choice(["keep", "remove"]), default="keep", help="Whether what was made stays, or goes."
)
def uninstall(context: str, ingresses: str, *, yes: bool) -> None:
    """Remove ingress-manager, and Metacontroller if it came with it. Every Ingress stays and is served all the time.

    It says what it will do, and asks.

    \b
    Examples:
      make uninstall
      make uninstall INGRESSES=remove YES=1
    """  # noqa: D301 - \b keeps click from joining lines
    shell = Shell(context)
    stays = [] if shell.existing(OURS) else ["--keep-metacontroller"]
    command = ["ingress-manager", "uninstall", f"--{ingresses}", *stays]
    plan = shell.read(*command)
    click.echo(f"Removing it from the cluster of the context {shell.name()}:")
    for line in plan.splitlines():
        if line.startswith("#"):
            click.echo(line.replace("#", " ", 1))
    ask("Do that?", yes=yes)
    if subprocess.run([*command, "--apply", *shell.options], check=False).returncode:
        raise CommandFailed("A step has failed, and those after it were not done. Run it again: it goes on there.")
    click.echo("\nIt is removed.")


def ask(question: str, *, yes: bool) -> None:
    """Return once somebody agrees, at once with `yes`. Raises CommandFailed, also where nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailed("Nothing was done: there is no terminal on which to ask. YES=1 says yes.")
    if not click.confirm(question):
        raise CommandFailed("Nothing was done.")


if __name__ == "__main__":
    main(prog_name="python -m tools.install")
