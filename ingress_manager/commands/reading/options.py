"""The options that several commands have, and what they stand for: where the objects and the settings come from."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any, TypeVar

import click

from ingress_manager.commands.printing.console import note
from ingress_manager.commands.printing.objects import FORMATS
from ingress_manager.commands.reading.files import read_files
from ingress_manager.commands.reading.installations import DEFAULT, RESOURCE, Installation, named_by
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.settings import SettingsText, configmap_of, policy_of, settings_of_file, text_of
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import FILE_VARIABLE
from ingress_manager.core.syntax import wrong_name, wrong_namespace
from ingress_manager.core.text import quoted

Options = tuple[Callable[[Any], Any], ...]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Source:
    """Where objects and settings come from: files, or the cluster that kubectl talks to."""

    files: tuple[str, ...] = ()
    """Files and folders; - is standard input. Empty: the cluster."""

    namespace: str | None = None
    all_namespaces: bool = False
    context: str | None = None
    kubeconfig: str | None = None
    installation: Installation | None = None
    """The installation of ingress-manager, if a person names it; None: the one that the cluster leads to."""

    settings: str | None = None
    """The settings file; None: those of the cluster, or the defaults."""

    def check(self) -> None:
        """Raise click.UsageError for options of which one would have no effect."""
        if self.files and (self.all_namespaces or self.context is not None or self.kubeconfig is not None):
            raise click.UsageError("--all-namespaces, --context and --kubeconfig are for the cluster, not for files")
        if self.files and self.installation:
            raise click.UsageError("--installation is for the cluster, not for files")
        if self.namespace is not None and self.all_namespaces:
            raise click.UsageError("--namespace and --all-namespaces exclude each other")

    @property
    def kubectl(self) -> Kubectl:
        stated = (("context", self.context), ("kubeconfig", self.kubeconfig))
        return Kubectl([f"--{name}={value}" for name, value in stated if value is not None])

    @property
    def scope(self) -> list[str]:
        """Return kubectl's options that say which namespaces are meant."""
        if self.all_namespaces:
            return ["--all-namespaces"]
        return [] if self.namespace is None else [f"--namespace={self.namespace}"]

    def read(self, resources: str, *options: str) -> Manifests:
        """Return all that is in the files, or the objects of some kinds, such as "services,ingresses", of the cluster.

        `options` are for kubectl, beside those. Raises click.UsageError, also for options of which one would have no
        effect, and KubectlFailed.
        """
        self.check()
        if self.files:
            return read_files(self.files, self.namespace or "default")
        return self.kubectl.get(resources, *options, *self.scope)

    def policy(self) -> Policy:
        """Return the settings as `stated_policy` does. Raises click.UsageError where the cluster's can't be read."""
        try:
            return self.stated_policy()
        except KubectlFailed as failed:
            sentence = f"the settings of the cluster can't be read: {failed.message}; --settings FILE names them"
            raise click.UsageError(sentence) from failed

    def stated_policy(self, option: str = "--settings") -> Policy:
        """Return the settings that `option` names, else the defaults for files, else those of the cluster's hook.

        It says on standard error which they are unless the option does. Raises KubectlFailed when those of the cluster
        can't be read, and click.UsageError when what was read can't be used.
        """
        if self.settings is not None:
            if self.installation:
                raise click.UsageError(f"--installation and {option} exclude each other: both say which settings hold")
            return policy_of(settings_of_file(self.settings))
        if self.files:
            note(f"With the default settings; {option} FILE takes others.")
            return Policy()
        installation = self.installed()
        configmap = self.kubectl.get_one(f"configmap/{installation.configmap}", f"--namespace={installation.namespace}")
        where = f"ConfigMap {installation.namespace}/{installation.configmap}"
        note(f"With the settings of the {where}.")
        return policy_of(SettingsText(text_of(configmap) or "", where))

    def installed(self) -> Installation:
        """Return the installation of the cluster, with its ConfigMap. Raises KubectlFailed when it can't be read."""
        if self.installation:
            return self._deployed(self.installation)
        found, unseen = self.found()
        if unseen:
            note(f"The installation is looked for as {DEFAULT}, because {unseen}; --installation names another.")
        return found or self._deployed(DEFAULT)

    def found(self) -> tuple[Installation | None, str]:
        """Return the installation that a person names, or the DecoratorController leads to.

        Beside it: why it could not be found, where that can be said.
        """
        try:
            controllers = None if self.installation else self.kubectl.get_if_known(RESOURCE)
            named = self.installation or named_by(controllers.items if controllers else ())
            return (self._deployed(named) if named else None), ""
        except KubectlFailed as failed:
            return None, failed.message

    def _deployed(self, installation: Installation) -> Installation:
        namespace, name, _ = installation
        configmap = configmap_of(self.kubectl.get_one(f"deployment/{name}", f"--namespace={namespace}"))
        if configmap is None:
            raise KubectlFailed(f"the Deployment {installation} mounts no ConfigMap")
        return installation._replace(configmap=configmap)

    @property
    def by_name(self) -> Installation:
        """Return the installation that a person names, else as manifests/ names it."""
        return self.installation or DEFAULT


def settings_option(without: str, name: str = "--settings") -> Callable[[Decorated], Decorated]:
    """Return the option that names the settings file. `without` says which settings hold when it isn't given."""
    return click.option(
        name,
        "settings",
        metavar="FILE",
        envvar=FILE_VARIABLE,
        show_envvar=True,
        help=f"The settings file, or a ConfigMap with it. Without this option: {without}.",
    )


def _named(_context: click.Context, _option: click.Parameter, value: str | None) -> Installation | None:
    if value is None:
        return None
    namespace, slash, name = value.rpartition("/")
    if end := (slash and wrong_namespace(namespace)) or wrong_name(name):
        raise click.BadParameter(f"{quoted(value)} {end}")
    return Installation(namespace or DEFAULT.namespace, name)


FILES: Options = (
    click.option(
        "-f",
        "--filename",
        "files",
        metavar="FILE",
        multiple=True,
        help="Read YAML or JSON from a file, a folder, or - (standard input), not from the cluster. Can be repeated.",
    ),
)
ONE_NAMESPACE = click.option(
    "-n", "--namespace", metavar="NAME", help="The namespace. With files: the namespace of objects without one."
)
CLUSTER: Options = (
    click.option("--context", metavar="NAME", help="The context of the kubeconfig, as for kubectl."),
    click.option("--kubeconfig", metavar="FILE", help="The kubeconfig, as for kubectl."),
)
ALL_NAMESPACES = click.option("-A", "--all-namespaces", is_flag=True, help="All namespaces of the cluster.")
ALL_OBJECTS: Options = (*FILES, ONE_NAMESPACE, ALL_NAMESPACES, *CLUSTER)
INSTALLATION = click.option(
    "--installation",
    metavar="[NAMESPACE/]NAME",
    callback=_named,
    help="The hook's Deployment, if you may not look for it, or it isn't found.",
)
SETTINGS: Options = (INSTALLATION, settings_option("the cluster's, else the defaults"))


def source_options(command: Decorated, settings: Options = SETTINGS) -> Decorated:
    """Give a command all options of a Source, `settings` in the place of --settings. Files may stand without -f."""
    positional = click.argument("arguments", metavar="[FILE]...", nargs=-1)

    @wraps(command)
    def with_files(*, source: Source, arguments: tuple[str, ...], **values: Any) -> Any:
        return command(source=replace(source, files=(*source.files, *arguments)), **values)

    return positional(with_source(*ALL_OBJECTS, *settings)(with_files))  # type: ignore[return-value]


def with_source(*options: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Return a decorator that gives a command some of the options of a Source, which it takes as `source`."""

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def decorated(**values: Any) -> Any:
            stated = {field.name: values.pop(field.name) for field in fields(Source) if field.name in values}
            return command(source=Source(**stated), **values)

        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[return-value]

    return decorate


_SECONDS = {"": 1, "s": 1, "m": 60}


def _seconds_in(_context: click.Context, _option: click.Parameter, value: str) -> int:
    number = value.rstrip("sm")
    unit = _SECONDS.get(value.removeprefix(number))
    if unit is None or not (number.isascii() and number.isdecimal() and int(number)):
        raise click.BadParameter(f"{quoted(value)} is no time such as 90s or 2m")
    return int(number) * unit


def timeout_option(default: str, of: str) -> Callable[[Decorated], Decorated]:
    """Return the option that says how long something is waited for; the command takes the `seconds`."""
    return click.option(
        "--timeout",
        "seconds",
        metavar="TIME",
        default=default,
        show_default=True,
        callback=_seconds_in,
        help=f"{of}: 90s or 2m.",
    )


output_option = click.option(
    "-o", "--output", type=click.Choice(FORMATS), default="yaml", show_default=True, help="The format of the objects."
)
