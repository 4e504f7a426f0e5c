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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import click
import yaml

from devcluster.api import Object
from devcluster.build import REPOSITORY
from devcluster.console import Command, Commands
from devcluster.errors import CommandFailed, MissingProgram
from ingress_manager.commands.check.lines import State
from ingress_manager.commands.check.versions import KUBERNETES, by_version
from ingress_manager.commands.reading.installations import DEFAULT, RESOURCE, namespaces_of_hooks
from ingress_manager.commands.reading.kubectl import message
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.manifests import read as read_manifests
from ingress_manager.core.copying import ANY
from ingress_manager.core.settings import parse
from tools.image import replacement, split
from tools.overwriting import changes
from tools.rollout import HOPELESS, REMEDIES, Trouble, troubles

METACONTROLLER_CRDS = (
    "https://raw.githubusercontent.com/metacontroller/metacontroller/v4.17.2/"
    "manifests/production/metacontroller-crds-v1.yaml"
)
"""The CRDs of the release whose image metacontroller/install names."""

CRD = "customresourcedefinition.apiextensions.k8s.io/decoratorcontrollers.metacontroller.k8s.io"
OURS = "clusterrole.rbac.authorization.k8s.io/ingress-manager-metacontroller"
"""What metacontroller/install brings, and no other installation of Metacontroller."""

HTTPROUTES = "validatingadmissionpolicy.admissionregistration.k8s.io/ingress-manager-httproute-name-taken"
"""What metacontroller/httproute brings, and metacontroller/controller doesn't."""

DEPLOYMENT = "ingress-manager"
"""The name of the hook's Deployment, and of its namespace."""

BETWEEN_LOOKS = 1.0
"""Seconds between two looks at what Pods wait for."""

NEVER = float("inf")

HOOK_FAILED = """\
The hook isn't ready, so nothing was told to ask it, and no Service has noticed anything. To see why:
  kubectl get pods --namespace ingress-manager
  kubectl describe pods --namespace ingress-manager
Then run the same command again."""

METACONTROLLER_FAILED = """\
Metacontroller isn't ready, so it wasn't told of ingress-manager yet. To see why:
  kubectl describe pods --namespace metacontroller
Then run the same command again."""


SETTINGS = REPOSITORY / "manifests/settings.yaml"

UNLIMITED_HOSTS = """\
With these settings, every namespace may claim every host: on a cluster that several teams share, limit them in
manifests/settings.yaml, which shows how, and run the same command again."""


@dataclass(frozen=True)
class Shell:
    """Runs programs for a person who looks on."""

    context: str
    """Of which context of the kubeconfig the cluster is; empty: the current one."""

    @property
    def options(self) -> list[str]:
        """Return the options that name the cluster, for kubectl and for ingress-manager."""
        return [f"--context={self.context}"] if self.context else []

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment: the user's own kubectl goes before the one beside Python."""
        path = os.pathsep.join((os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))
        if shutil.which("kubectl", path=path) is None:
            raise MissingProgram("kubectl is needed, and is not on PATH")
        return os.environ | {"PATH": path}

    def kubectl(self, why: str, *arguments: str, failed: str = "") -> None:
        """Say why, print the command, and run it.

        Raises CommandFailed; `failed` says what a person can do then.
        """
        command = ["kubectl", *arguments, *self.options]
        click.echo(f"\n# {why}\n{shlex.join(command)}")
        if subprocess.run(command, cwd=REPOSITORY, env=self.environment, check=False).returncode:
            raise CommandFailed(failed or "kubectl has failed; what it says is above.")

    def rollout(self, why: str, name: str, failed: str) -> None:
        """Wait until a Deployment's Pods run, and say what they wait for. Raises CommandFailed.

        It does so at once when nothing can come of it. The Deployment's namespace has its name.
        """
        where = f"--namespace={name}"
        command = ["kubectl", "rollout", "status", f"deployment/{name}", where, "--timeout=5m", *self.options]
        click.echo(f"\n# {why}\n{shlex.join(command)}")
        told: set[Trouble] = set()
        since: dict[str, float] = {}
        with subprocess.Popen(command, env=self.environment) as running:
            try:
                while not ended(running, BETWEEN_LOOKS):
                    for trouble in troubles(self.objects("deployments,replicasets,pods", where), name):
                        if trouble not in told:
                            told.add(trouble)
                            click.echo(f"  {self.with_log(trouble, where)}")
                        # By the reason: the sentence can name another Pod each time.
                        if monotonic() - since.setdefault(trouble.reason, monotonic()) >= HOPELESS.get(
                            trouble.reason, NEVER
                        ):
                            remedy = f"{trouble.sentence}\n{REMEDIES[trouble.reason]}"
                            raise CommandFailed(f"Nothing can come of it: {remedy}\n\n{failed}")
            finally:
                running.terminate()
        if running.returncode:
            raise CommandFailed(failed)

    def objects(self, *words: str) -> list[Object]:
        """Return objects that can be looked at; none where kubectl fails, since they only help a person."""
        try:
            return [item.object for item in self.items(*words)]
        except CommandFailed:
            return []

    def items(self, *words: str) -> list[Item]:
        """Return objects. Raises CommandFailed."""
        printed = self.read("kubectl", "get", *words, "--ignore-not-found", "--output=json", *self.options)
        return read_manifests(printed).items

    def with_log(self, trouble: Trouble, where: str) -> str:
        """Return why a Pod doesn't run, with the last line of its log if it has ended."""
        if not trouble.pod:
            return trouble.sentence
        try:
            log = self.read("kubectl", "logs", trouble.pod, where, "--previous", "--tail=1", *self.options)
        except CommandFailed:
            return trouble.sentence
        return f"{trouble.sentence}\n  its log ends: {log.strip()}"

    def read(self, *command: str) -> str:
        """Return what a program prints. Raises CommandFailed with what it says on standard error."""
        ended = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise CommandFailed(f"{shlex.join(command)}\n{message(ended.stderr)}")
        return ended.stdout

    def existing(self, objects: Sequence[str]) -> set[str]:
        """Return which of these objects, each with its kind, the cluster has. Raises CommandFailed."""
        found = self.read("kubectl", "get", *objects, "--ignore-not-found", "--output=name", *self.options)
        return set(found.split())


def ended(running: subprocess.Popen[bytes], seconds: float) -> bool:
    """Return whether a program ends within some seconds."""
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def kustomization(folder: Path, image: str) -> str:
    """Return the kustomization, for a folder, of the hook with that image. Raises WrongReferenceError."""
    return yaml.safe_dump(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            # kustomize takes no absolute path.
            "resources": [os.path.relpath(REPOSITORY / "manifests", folder)],
            "images": [replacement(image)],
        },
        sort_keys=False,
    )


def require_kubernetes(shell: Shell) -> None:
    """Say it where nobody has tried the cluster's version of Kubernetes. Raises CommandFailed where it is too old."""
    stated = json.loads(shell.read("kubectl", "version", "--output=json", *shell.options))
    line = by_version("", "Kubernetes", stated["serverVersion"]["gitVersion"], KUBERNETES)
    if line.state is State.WRONG:
        raise CommandFailed(f"Nothing was done: {line.sentence}.")
    if line.state is not State.OK:
        click.echo(" ".join((f"! {line.sentence}.", line.remedy)).rstrip())


def apply_hook(shell: Shell, image: str) -> None:
    """Apply manifests/ with that image, and wait until the hook answers. Raises CommandFailed."""
    with tempfile.TemporaryDirectory(prefix="ingress-manager-") as name:
        # Resolved, for macOS: a path relative to /tmp, which is a link there, would lead elsewhere.
        folder = Path(name).resolve()
        written = kustomization(folder, image)
        (folder / "kustomization.yaml").write_text(written)
        click.echo(f"\n# {folder}/kustomization.yaml, the manifests with your image:\n{written.rstrip()}")
        shell.kubectl("The hook. It has no rights, and nobody asks it yet.", "apply", f"--kustomize={folder}")
    shell.rollout(
        "Wait until it answers: before, Metacontroller would report an error for every Service of the cluster.",
        DEPLOYMENT,
        HOOK_FAILED,
    )


def apply_metacontroller(shell: Shell, crds: str) -> None:
    """Apply Metacontroller's CRDs and metacontroller/install, and wait until it is ready. Raises CommandFailed."""
    shell.kubectl("Metacontroller's own kinds, from its release.", "apply", f"--filename={crds}")
    shell.kubectl(
        "Wait until the API server serves them.",
        *("wait", "--for=condition=established", "--timeout=1m", CRD),
    )
    shell.kubectl("Metacontroller. It has nothing to do yet.", "apply", "--kustomize=metacontroller/install")
    shell.rollout("Wait until it is ready.", "metacontroller", METACONTROLLER_FAILED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Install ingress-manager on the cluster that kubectl talks to, or remove it."""


YES = click.option("--yes", is_flag=True, help="Ask nothing: for scripts.")
CONTEXT = click.option("--context", default="", help="The context of the kubeconfig; by default, the current one.")


@main.command(cls=Command)
@CONTEXT
@YES
@click.option("--crds", default="", help="Metacontroller's CRDs: a URL or a file; by default, those of its release.")
@click.argument("image")
def install(image: str, context: str, crds: str, *, yes: bool) -> None:
    """Install ingress-manager with the image IMAGE, and Metacontroller where the cluster has none.

    Once it is installed, the same command brings changed settings and a new version to the cluster. It says what would
    change of an installation, and asks.

    \b
    Examples:
      make install IMAGE=registry.example.com/ingress-manager:0.1.0
      make install IMAGE=registry.example.com/ingress-manager:0.1.0 CONTEXT=kind-kind
    """  # noqa: D301 - \b keeps click from joining lines
    split(image)
    shell = Shell(context)
    require_kubernetes(shell)
    found = shell.existing((CRD, OURS, HTTPROUTES))
    click.echo(f"Installing on the cluster of the context {context or current_context(shell)}.")
    settings = SETTINGS.read_text(encoding="utf-8")
    controllers = shell.items(RESOURCE) if CRD in found else []
    namespaces = sorted({DEFAULT.namespace, *namespaces_of_hooks(controllers)})
    kinds = "services,deployments.apps,configmaps"
    objects = [item for each in namespaces for item in shell.items(kinds, f"--namespace={each}")]
    if would := list(changes(controllers, objects, image, settings)):
        click.echo("\nIt is installed already, and not as it would be now:")
        for sentence in would:
            click.echo(sentence)
        ask("Change that?", yes=yes)
    apply_hook(shell, image)
    if CRD in found and OURS not in found:
        click.echo("\n# The cluster has a Metacontroller already. metacontroller/README.md says what it needs to have.")
    else:
        apply_metacontroller(shell, crds or METACONTROLLER_CRDS)
    controller = "httproute" if HTTPROUTES in found else "controller"
    shell.kubectl(
        "The controller, last: from now on Metacontroller asks the hook about each Service.",
        *("apply", f"--kustomize=metacontroller/{controller}"),
    )
    click.echo("\nIt is installed. To see it work:\n  kubectl apply -k manifests/sample/")
    click.echo("  kubectl get ingress --namespace sample")
    if parse(settings).limits.hosts == ANY:
        click.echo(f"\n{UNLIMITED_HOSTS}")
    check(shell)


def check(shell: Shell) -> None:
    """Print whether it is well installed. What is wrong doesn't undo the installation."""
    command = ["ingress-manager", "check", *shell.options]
    click.echo(f"\n# Is it well installed?\n{shlex.join(command)}")
    program = str(Path(sys.executable).with_name(command[0]))
    subprocess.run([program, *command[1:]], env=shell.environment, check=False)


def current_context(shell: Shell) -> str:
    """Return the name of the kubeconfig's current context. Raises CommandFailed where there is none."""
    return shell.read("kubectl", "config", "current-context").strip()


@main.command(cls=Command)
@CONTEXT
@YES
@click.option(
    "--ingresses",
    type=click.Choice(["keep", "remove"]),
    default="keep",
    help="Whether the Ingresses and HTTPRoutes stay, or go.",
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
    stays = ["--keep-metacontroller"] if OURS not in shell.existing((OURS,)) else []
    program = str(Path(sys.executable).with_name("ingress-manager"))
    command = [program, "uninstall", f"--{ingresses}", *stays, *shell.options]
    plan = shell.read(*command)
    click.echo(f"Removing it from the cluster of the context {context or current_context(shell)}:")
    for line in plan.splitlines():
        if line.startswith("#"):
            click.echo(line.replace("#", " ", 1))
    ask("Do that?", yes=yes)
    if subprocess.run([*command, "--apply"], env=shell.environment, check=False).returncode:
        raise CommandFailed("A command has failed, and those after it were not run. Run it again: it goes on there.")
    click.echo("\nIt is removed.")


def ask(question: str, *, yes: bool) -> None:
    """Return once somebody agrees, at once with `yes`. Raises CommandFailed, also where nobody can be asked."""
    if yes:
        return
    if not has_terminal():
        raise CommandFailed("Nothing was done: there is no terminal on which to ask. YES=1 says yes.")
    if not click.confirm(question):
        raise CommandFailed("Nothing was done.")


def has_terminal() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty()


if __name__ == "__main__":
    main(prog_name="python -m tools.install")
