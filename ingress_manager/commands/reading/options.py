"""The options that several commands share, such as those that select the source of objects and settings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from typing import Any, TypeVar

import click

from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import read_files
from ingress_manager.commands.reading.settings import settings_of_cluster, settings_of_file, usable_settings
from ingress_manager.commands.snapshot.items import Item, of_kind
from ingress_manager.commands.terminal import note
from ingress_manager.core.settings import Settings

Options = tuple[Callable[[Any], Any], ...]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Source:
    """The source of objects and settings: files, or the cluster that kubectl connects to."""

    files: tuple[str, ...] = ()  # files, folders, or - for standard input; empty for the cluster
    namespace: str | None = None
    all_namespaces: bool = False
    context: str | None = None
    kubeconfig: str | None = None
    settings: str | None = None
    """The path of the settings file. None means the cluster's settings or, if objects come from files, the defaults."""

    certificate_days: int = 14

    def read(self, resources: str, *options: str) -> list[Item]:
        """Return all objects in `files`. Without files, return the cluster's `resources`, such as "services,ingresses".

        `options` are passed to kubectl. Raises KubectlFailed, Unreadable, or click.UsageError for wrong files or flags.
        """
        if self.files and (self.all_namespaces or self.context is not None or self.kubeconfig is not None):
            raise click.UsageError("--all-namespaces, --context and --kubeconfig can't be used with files")
        if self.namespace is not None and self.all_namespaces:
            raise click.UsageError("--namespace and --all-namespaces can't be combined")
        if self.files:
            return read_files(self.files, self.namespace or "default")
        return self.kubectl.get(resources, *options, *self.scope)

    def read_with_managers(self) -> list[Item]:
        """Return the Services and Ingresses with their field managers, which show the tools that deploy them."""
        return self.read("services,ingresses", "--show-managed-fields")

    @property
    def kubectl(self) -> Kubectl:
        options = (("context", self.context), ("kubeconfig", self.kubeconfig))
        return Kubectl([f"--{name}={value}" for name, value in options if value is not None])

    @property
    def scope(self) -> list[str]:
        if self.all_namespaces:
            return ["--all-namespaces"]
        return [] if self.namespace is None else [f"--namespace={self.namespace}"]

    def read_settings(self, option: str = "--settings") -> Settings:
        """Return the settings: the settings file's, or else the defaults if there are `files`, or else the cluster's.

        Without a settings file, print which are used; messages suggest `option` for naming one. Raises KubectlFailed if
        the cluster's settings can't be read, and click.UsageError or Unreadable if settings are invalid.
        """
        if self.settings is not None:
            return usable_settings(settings_of_file(self.settings))
        if self.files:
            note(f"Using the default settings; {option} FILE uses others.")
            return Settings()
        try:
            settings = settings_of_cluster(self.kubectl)
        except KubectlFailed as failed:
            sentence = f"The settings could not be read: {failed.message}; name a file with {option} FILE"
            raise KubectlFailed(sentence) from failed
        note(f"Using the settings in {settings.file}.")
        return usable_settings(settings)


def complete(resource: str, context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the `resource` names that begin with `incomplete`, or [] if kubectl fails or a request takes over 1 s."""
    given = context.params
    prefix = incomplete[: incomplete.rfind("/") + 1]
    namespace = prefix.removesuffix("/") or given.get("namespace")
    source = Source((), namespace, context=given.get("context"), kubeconfig=given.get("kubeconfig"))
    scope = source.scope if resource != "namespaces" else ()
    try:
        printed = source.kubectl.run("get", "--output=name", "--request-timeout=1s", *scope, "--", resource)
    except KubectlFailed:
        return []
    names = (f"{prefix}{line.partition('/')[2]}" for line in printed.splitlines())
    return [name for name in names if name.startswith(incomplete)]


SERVICES, NAMESPACES = (partial(complete, resource) for resource in ("services", "namespaces"))


def settings_option(fallback: str, name: str = "--settings") -> Callable[[Decorated], Decorated]:
    """Return the option `name` for a settings file. `fallback` says in its help which settings apply without it."""
    text = f"A file with settings, or with a ConfigMap that contains settings. Without this option: {fallback}."
    return click.option(name, "settings", metavar="FILE", help=text)


_NAMESPACE_HELP = "The namespace to use or, with files, the namespace of objects that name none."
ONE_NAMESPACE = click.option("-n", "--namespace", metavar="NAME", shell_complete=NAMESPACES, help=_NAMESPACE_HELP)
CLUSTER: Options = (
    click.option("--context", metavar="NAME", help="The kubeconfig context, as for kubectl."),
    click.option("--kubeconfig", metavar="FILE", help="The kubeconfig, as for kubectl."),
)
_ALL_NAMESPACES = click.option("-A", "--all-namespaces", is_flag=True, help="Use all namespaces in the cluster.")
OF_CLUSTER: Options = (ONE_NAMESPACE, _ALL_NAMESPACES, *CLUSTER)
_FILES_HELP = "Read YAML or JSON from a file, a folder, or - (standard input), not from the cluster. Can be repeated."
_FILENAME = click.option("-f", "--filename", "files", metavar="FILE", multiple=True, help=_FILES_HELP)
ALL_OBJECTS: Options = (_FILENAME, *OF_CLUSTER)
PATHS = click.argument("paths", metavar="[FILE]...", nargs=-1)
FORMATS = click.Choice(["table", "json"])
OUTPUT = click.option("-o", "--output", type=FORMATS, default="table", show_default=True, help="The output format.")
SETTINGS_OR_DEFAULTS = settings_option("the cluster's; with files, the defaults")
_DAYS: dict[str, Any] = {"metavar": "DAYS", "type": click.IntRange(min=0), "default": 14, "show_default": True}
CERTIFICATE_DAYS = click.option("--certificate-days", **_DAYS, help="Report certificates that expire within this time.")


def with_source(*options: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """Return a decorator that adds `options` to a command and passes Source's fields as one argument, `source`."""

    def decorate(command: Decorated) -> Decorated:
        @wraps(command)
        def decorated(**values: Any) -> Any:
            values["files"] = (*values.get("files", ()), *values.pop("paths", ()))
            options = {field.name: values.pop(field.name) for field in fields(Source) if field.name in values}
            return command(source=Source(**options), **values)

        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[return-value]

    return decorate


def timeout_option(default: int, help_text: str) -> Callable[[Decorated], Decorated]:
    """Return the option --timeout, in seconds. The command receives its value as `seconds`."""
    shown: dict[str, Any] = {"metavar": "SECONDS", "default": default, "show_default": True, "help": help_text}
    return click.option("--timeout", "seconds", type=click.IntRange(min=1), **shown)


def read_named(source: Source, kind: str, names: Iterable[str]) -> tuple[list[Item], list[Item]]:
    """Return all Services and Ingresses in the namespaces of `names`, and the object of `kind` for each name.

    A name may include a namespace, as in team-a/shop. Raises click.UsageError if a name matches no object, or several.
    """
    namespaces = sorted({name.rpartition("/")[0] or source.namespace for name in names}, key=str)
    sources = [source] if source.files else [replace(source, namespace=namespace) for namespace in namespaces]
    items = [item for source in sources for item in source.read_with_managers()]
    # If a name includes kubectl's current namespace, objects may be read twice.
    items = [*{str(item): item for item in items}.values()]
    return items, [named(items, kind, name, source.namespace) for name in names]


def named(items: Iterable[Item], kind: str, name: str, namespace: str | None) -> Item:
    prefix, _, short = name.rpartition("/")
    namesakes = {item.full_name: item for item in of_kind(items, kind) if item.name == short}
    matches = [item for item in namesakes.values() if (prefix or namespace or item.namespace) == item.namespace]
    if not matches:
        raise click.UsageError(f"there is no {kind} {name}")
    if matches[1:]:
        raise click.UsageError(f"{kind} {name} exists in several namespaces: write NAMESPACE/{short}")
    return matches[0]
