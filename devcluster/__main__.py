"""The development cluster's commands, which `python -m devcluster --help` lists."""

import contextlib
import shutil
import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from devcluster.api import NAMESPACES, ApiError
from devcluster.build import get
from devcluster.cluster import DevCluster
from devcluster.console import end_on_signals, engine_option, progress
from devcluster.errors import DevClusterError, MissingProgram
from devcluster.gateway import LOOPBACK, why_unavailable
from devcluster.programs import find_programs, find_traefik, gateway_api
from devcluster.story import Stage, Step, steps_for

HOST = "web.localhost"
"""The host in the example that `up` prints. Browsers resolve *.localhost to loopback without DNS."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """A real Kubernetes control plane on a laptop, without containers.

    It listens on loopback only, keeps its files in one temporary folder, and stops when the command ends.

    \b
    Examples:
      python -m devcluster demo                  show and check how an Ingress follows its Service
      python -m devcluster up                    run a cluster with ingress-manager until Ctrl-C
      python -m devcluster up --engine standin   use the stand-in for Metacontroller
      python -m devcluster build                 only find or build the programs
    """  # noqa: D301 - \b keeps click from joining lines


@main.command()
@engine_option
def up(engine: str) -> None:
    """Start a cluster with ingress-manager and keep it until Ctrl-C.

    The first start builds the control plane with Go, which takes some minutes; later starts take seconds.
    """
    started = time.monotonic()
    with contextlib.ExitStack() as exits:
        with progress() as report:
            served = not why_unavailable()
            cluster = exits.enter_context(DevCluster(engine, gateway=served, admission=served, progress=report))
            if cluster.gateway:
                cluster.gateway.give_address(cluster.api)
            cluster.apply_deployments()
        click.echo(welcome(cluster, time.monotonic() - started))

        with contextlib.suppress(KeyboardInterrupt):
            while True:
                time.sleep(0.5)
                cluster.control_plane.check_alive()
                with contextlib.suppress(ApiError):  # for example, a changed object has just been deleted
                    cluster.apply_deployments()
        click.echo("\nStopping.", err=True)
    click.echo("Stopped. The temporary folder has been removed.", err=True)


def welcome(cluster: DevCluster, seconds: float) -> str:
    """Return the text that `up` prints: how many `seconds` the start took, and commands to try."""
    kubectl, gateway = cluster.control_plane.programs.kubectl, cluster.gateway
    exported = {"KUBECONFIG": str(cluster.kubeconfig)}
    if shutil.which("kubectl") != str(kubectl):
        exported["PATH"] = f'"{kubectl.parent}:$PATH"'
    requests = ""
    if gateway:  # with a local web server in place of the Pods
        exported["GATEWAY"] = f"http://{LOOPBACK}:{gateway.http_port}"
        requests = f"""\
  python3 -m http.server 8083 --bind "$(kubectl get service web --output=jsonpath={{.spec.clusterIP}})" &
  curl http://{HOST}:{gateway.http_port}/        # or in a browser
  curl --insecure https://{HOST}:{gateway.https_port}/
  curl {exported["GATEWAY"]}/            # no Ingress has this host: the 404 page answers
  kubectl annotate service web ingress/tls=5  # kubectl prints a warning about the bad value
"""
    return f"""
Up after {seconds:.1f} s: Kubernetes {cluster.control_plane.version()}, driven by {cluster.engine_name}.
Logs and data are in {cluster.folder}.

In another terminal:
  export {" ".join(f"{name}={value}" for name, value in exported.items())}

For example:
  kubectl create service clusterip web --tcp=8083
  kubectl annotate service web ingress/http=true ingress/host={HOST}
  kubectl get ingress web --output=yaml
{requests}\
  kubectl describe service web                # Events explain refused requests
  kubectl delete service web                  # deletes its Ingress, too

To change the settings, which every Service follows within some minutes:
  kubectl edit configmap --namespace ingress-manager
  kubectl rollout restart deployment --namespace ingress-manager

Ctrl-C stops the cluster."""


@main.command()
@engine_option
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Also save the output to an SVG file.")
def demo(engine: str, picture: Path | None) -> None:
    """Show and check, step by step, how an Ingress follows its Service.

    Exit status: 0 if every step had the expected effect, 1 if a step or the cluster failed, 2 if a program is missing.
    """
    with contextlib.ExitStack() as exits:
        with progress() as report:
            cluster = exits.enter_context(DevCluster(engine, gateway=not why_unavailable(), progress=report))
        click.echo(f"On Kubernetes {cluster.control_plane.version()}, driven by {cluster.engine_name}:\n")
        if reason := why_unavailable():
            click.echo(f"{reason} The two steps that send requests are skipped.\n")
        width = None if sys.stdout.isatty() and not picture else 116
        out = Console(highlight=False, width=width, record=bool(picture))
        succeeded = play_story(cluster, out)
        if picture:
            out.save_svg(str(picture), title="make demo", unique_id="demo")
    raise SystemExit(0 if succeeded else 1)


@main.command()
@click.option("--if-possible", is_flag=True, help="Exit with 0 if a program is missing and can't be built without Go.")
@click.option("--helm", is_flag=True, help="Also build Helm, which the chart's tests need.")
def build(if_possible: bool, helm: bool) -> None:
    """Find or build the control plane's programs, and print their paths.

    etcd, kube-apiserver and kube-controller-manager are taken from $KUBEBUILDER_ASSETS or built into .build/.
    The CRDs of the Gateway API are downloaded with Go, unless $GATEWAY_API_CRDS names their folder.

    \b
    Examples:
      python -m devcluster build
      KUBEBUILDER_ASSETS="$(setup-envtest use --print path)" python -m devcluster build
    """  # noqa: D301 - \b keeps click from joining lines
    try:
        with progress() as report:
            paths = [*find_programs(report), find_traefik(), *([get("helm", report)] if helm else []), gateway_api()]
    except MissingProgram as error:
        if not if_possible:
            raise
        click.echo(str(error), err=True)
        return
    for path in paths:
        click.echo(path)


NAMESPACE = "demo"
INDENT = 17


def play_story(cluster: DevCluster, out: Console) -> bool:
    """Play the story in the namespace `demo`, print each step, and stop if one fails. Return whether all succeeded."""
    cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    with contextlib.closing(Stage(cluster.api, NAMESPACE, cluster.gateway, cluster.ingress_class)) as stage:
        steps = steps_for(stage)
        for number, step in enumerate(steps, start=1):
            try:
                seen = step.play(stage)
            except DevClusterError as failure:
                out.print(step_line("✘", "red", number, step, "failed"), soft_wrap=True)
                out.print(Padding(Text(str(failure), style="red"), (0, 0, 1, INDENT), expand=False))
                out.print(f"Step {number} of {len(steps)} failed; the story ends here.", style="bold red")
                return False
            took = f"{(time.perf_counter() - stage.acted_at) * 1000:.0f} ms"
            out.print(step_line("✔", "green", number, step, took), soft_wrap=True)
            if seen:
                out.print(Padding(Text(seen, style="dim"), (0, 0, 0, INDENT), expand=False))
    out.print(f"\nAll {len(steps)} steps had their effect.", style="bold green")
    return True


def step_line(mark: str, colour: str, number: int, step: Step, took: str) -> Text:
    return Text.assemble(
        (mark, colour), f" {number:2}.", (f"{took:>10}  ", "dim"), (step.done, "bold"), f" → {step.happens}"
    )


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m devcluster")
