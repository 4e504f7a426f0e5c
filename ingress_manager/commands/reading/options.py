"""The options that several commands have, and what they stand for: where the objects and the settings come from."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, TypeVar

import click

from ingress_manager.commands.printing.console import note
from ingress_manager.commands.printing.objects import FORMATS
from ingress_manager.commands.reading.files import read_files
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.settings import (
    DEPLOYMENT,
    NAMESPACE,
    SettingsText,
    configmap_of,
    policy_of,
    policy_of_file,
    text_of,
)
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import FILE_VARIABLE
from ingress_manager.core.text import is_seen, quoted

Options = tuple[Callable[[Any], Any], ...]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Source:
    """Where objects and settings come from: files, or the cluster that kubectl talks to."""

    files: tuple[str, ...] = ()
    """Files and folders; - is standard input. Empty: the cluster."""

    recursive: bool = False
    namespace: str | None = None
    all_namespaces: bool = False
    context: str | None = None
    kubeconfig: str | None = None
    settings: str | None = None
    """The settings file; None: those of the cluster, or the defaults."""

    def check(self) -> None:
        """Raise click.UsageError for options of which one would have no effect."""
        if self.files and (self.all_namespaces or self.context is not None or self.kubeconfig is not None):
            raise click.UsageError("--all-namespaces, --context and --kubeconfig are for the cluster, not for files")
        if self.recursive and not self.files:
            raise click.UsageError("--recursive is for folders, and none is named")
        if self.namespace is not None and self.all_namespaces:
            raise click.UsageError("--namespace and --all-namespaces exclude each other")

    @property
    def kubectl(self) -> Kubectl:
        """Return kubectl for the cluster that the options name."""
        stated = (("context", self.context), ("kubeconfig", self.kubeconfig))
        return Kubectl([f"--{name}={value}" for name, value in stated if value is not None])

    def read(self, resources: str) -> Manifests:
        """Return all that is in the files, or the objects of some kinds, such as "services,ingresses", of the cluster.

        Raises click.UsageError, also for options of which one would have no effect, and KubectlFailed.
        """
        self.check()
        if self.files:
            return read_files(self.files, self.namespace or "default", recursive=self.recursive)
        where = [f"--namespace={self.namespace}"] if self.namespace is not None else []
        return self.kubectl.get(resources, *(["--all-namespaces"] if self.all_namespaces else where))

    def policy(self, *, guess: bool = True) -> Policy:
        """Return the settings as `stated_policy` does, or the defaults where those of the cluster can't be read.

        With `guess` false, click.UsageError is raised then.
        """
        try:
            return self.stated_policy()
        except KubectlFailed as failed:
            if not guess:
                raise click.UsageError(
                    f"the settings of the cluster can't be read: {failed.message}; --settings FILE names them"
                ) from failed
            note(f"With the default settings, because those of the cluster can't be read: {failed.message}")
            return Policy()

    def stated_policy(self, option: str = "--settings") -> Policy:
        """Return the settings that `option` names, else the defaults for files, else those of the cluster's hook.

        It says on standard error which they are unless the option does. Raises KubectlFailed when those of the cluster
        can't be read, and click.UsageError when what was read can't be used.
        """
        if self.settings is not None:
            return policy_of_file(self.settings)
        if self.files:
            note(f"With the default settings; {option} FILE takes others.")
            return Policy()
        inside = f"--namespace={NAMESPACE}"
        deployment = self.kubectl.get_one(f"deployment/{DEPLOYMENT}", inside)
        name = configmap_of(deployment)
        if name is None:
            raise KubectlFailed(f"the Deployment {NAMESPACE}/{DEPLOYMENT} mounts no ConfigMap")
        configmap = self.kubectl.get_one(f"configmap/{name}", inside)
        note(f"With the settings of the ConfigMap {NAMESPACE}/{name}.")
        return policy_of(SettingsText(text_of(configmap) or "", f"ConfigMap {NAMESPACE}/{name}"))


def settings_option(without: str, name: str = "--settings") -> Callable[[Decorated], Decorated]:
    """Return the option that names the settings file. `without` says which settings hold when it isn't given."""
    return click.option(
        name,
        "settings",
        metavar="FILE",
        envvar=FILE_VARIABLE,
        show_envvar=True,
        help=f"The administrator's settings, or the ConfigMap with them. Without: {without}.",
    )


def seen(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the value of an option that gets into commands. Raises click.BadParameter when no script can hold it."""
    if value is not None and not is_seen(value):
        raise click.BadParameter(f"{quoted(value)} holds characters that a person would not see in a command")
    return value


FILES: Options = (
    click.option(
        "-f",
        "--filename",
        "files",
        metavar="FILE",
        multiple=True,
        help="A file, a folder, or - for standard input, of YAML or JSON; may be repeated. Without: the cluster.",
    ),
    click.option("-R", "--recursive", is_flag=True, help="Read the folders in folders, too."),
)
ONE_NAMESPACE: Options = (
    click.option(
        "-n", "--namespace", metavar="NAME", help="The namespace; with files, that of objects which state none."
    ),
)
ALL_NAMESPACES: Options = (click.option("-A", "--all-namespaces", is_flag=True, help="All namespaces of the cluster."),)
CLUSTER: Options = (
    click.option("--context", metavar="NAME", callback=seen, help="The context of the kubeconfig, as kubectl has it."),
    click.option("--kubeconfig", metavar="FILE", callback=seen, help="The kubeconfig, as kubectl has it."),
)
SETTINGS: Options = (settings_option("those of the cluster, else the defaults"),)


def source_options(command: Decorated, settings: Options = SETTINGS) -> Decorated:
    """Give a command all options of a Source, which it takes as its argument `source`. Files may stand without -f.

    `settings` are the options in the place of --settings.
    """
    positional = click.argument("arguments", metavar="[FILE]...", nargs=-1)

    @wraps(command)
    def with_files(*, source: Source, arguments: tuple[str, ...], **values: Any) -> Any:
        source = replace(source, files=(*source.files, *arguments))
        return command(source=source, **values)

    options = (*FILES, *ONE_NAMESPACE, *ALL_NAMESPACES, *CLUSTER, *settings)
    return positional(with_source(*options)(with_files))  # type: ignore[return-value]


def with_source(*options: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Return a decorator that gives a command some of the options of a Source, which it takes as `source`."""

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def decorated(**values: Any) -> Any:
            stated = {field.name: values.pop(field.name) for field in fields(Source) if field.name in values}
            source = Source(**stated)
            return command(source=source, **values)

        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[return-value]

    return decorate


output_option = click.option(
    "-o", "--output", type=click.Choice(FORMATS), default="yaml", show_default=True, help="How the objects are printed."
)
