"""The program `ingress-manager`, which is also the plugin `kubectl ingress-manager`."""

import codecs
import gc
import os
import sys
from pathlib import Path
from typing import Any

import click

from ingress_manager.commands.adopt.command import adopt
from ingress_manager.commands.audit.command import audit
from ingress_manager.commands.check.command import check
from ingress_manager.commands.compare import compare
from ingress_manager.commands.printing import show
from ingress_manager.commands.reading.permissions import permissions_help
from ingress_manager.commands.release import release
from ingress_manager.commands.render import render
from ingress_manager.commands.settings import settings
from ingress_manager.commands.snapshot.items import Unreadable
from ingress_manager.commands.status.command import status
from ingress_manager.commands.terminal import plain
from ingress_manager.commands.uninstall import uninstall


class Program(click.Group):
    """The group of all commands. It handles Unreadable by printing the messages and exiting with status 1."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Unreadable as unreadable:
            show(unreadable.messages)
            ctx.exit(1)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="ingress-manager", message="%(package)s %(version)s")
@click.pass_context
def commands(context: click.Context) -> None:
    """Preview and inspect what ingress-manager does. The cluster changes only with --apply.

    \b
    Examples:
      ingress-manager render -f service.yaml      print the Ingress for a Service
      ingress-manager status --all-namespaces     list the URLs, and whether they are served
      ingress-manager adopt team-a/shop           bring a hand-written Ingress under management
      ingress-manager uninstall --keep            remove ingress-manager, and keep every Ingress

    \b
    Completion for bash (or zsh, fish), with the cluster's namespaces and Services:
      eval "$(_INGRESS_MANAGER_COMPLETE=bash_source ingress-manager)"
    """  # noqa: D301 - \b keeps click from joining lines
    # click disables colour only where output isn't a terminal. Source: https://no-color.org
    if os.environ.get("NO_COLOR"):
        context.color = False


for command in (adopt, audit, check, compare, release, render, settings, status, uninstall):
    command.epilog = permissions_help(command.name or "")
    commands.add_command(command)


def main() -> None:
    # Garbage collection would take a third of a command's short run time, or more if there are many objects.
    gc.disable()
    codecs.register_error("plain", plain)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="plain")  # type: ignore[union-attr]
    # kubectl finds a plugin by its file name, which has _ for each - in the plugin's name.
    name = "kubectl ingress-manager" if Path(sys.argv[0]).name == "kubectl-ingress_manager" else "ingress-manager"
    commands(prog_name=name, complete_var="_INGRESS_MANAGER_COMPLETE")
