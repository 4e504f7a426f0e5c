"""A whole node, with all images that the manifests name, and with Debian's programs where they aren't installed.

`python -m tools.node` gives it to a person, until Ctrl-C. Nothing is installed on it.
"""

import contextlib
import os
import shutil
import time

import click

from devcluster.build import Progress
from devcluster.cluster import CRD_FILE
from devcluster.console import Command, end_on_signals, keep, progress
from devcluster.errors import MissingProgram
from devcluster.node import namespaces
from devcluster.node.node import Node
from tools import debian, node_images


def whole(report: Progress) -> Node:
    """Return a node, which starts when it is entered. The first time, what it needs takes minutes.

    Raises MissingProgram for what is neither here nor can be had, BuildFailed and CommandFailed.
    """
    runc, plugins, nft = (debian.get(package, report) for package in (debian.RUNC, debian.PLUGINS, debian.NFT))
    libraries = (program.environment().get("LD_LIBRARY_PATH", "") for program in (runc, nft))
    return Node(
        node_images.archives(report),
        system=[runc.path.parent, nft.path.parent],
        plugins=plugins.path.parent,
        libraries=os.pathsep.join(filter(None, libraries)),
        progress=report,
    )


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Start a Kubernetes node, on which Pods run, and keep it until Ctrl-C. It takes root on Linux.

    All of it is in namespaces of its own, which end with this command. No other machine reaches it, and it reaches
    none. The first start builds its programs and its images, which takes some minutes; later ones take seconds.
    Several can run at once.

    \b
    Examples:
      sudo .venv/bin/python -m tools.node
    """  # noqa: D301 - \b keeps click from joining lines
    if reason := namespaces.lacking():
        raise MissingProgram(reason)
    started = time.monotonic()
    with contextlib.ExitStack() as exits:
        with progress() as report:
            node = exits.enter_context(whole(report))
        click.echo(welcome(node, time.monotonic() - started))
        keep(node.check_alive)
    click.echo("Nothing of it is left.", err=True)


def welcome(node: Node, seconds: float) -> str:
    """Return what a person needs to know to use the node."""
    kubectl = node.control_plane.programs.kubectl
    path = "" if shutil.which("kubectl") == str(kubectl) else f' PATH="{kubectl.parent}:$PATH"'
    return f"""
Up after {seconds:.1f} s: a node with Kubernetes {node.control_plane.version()}.
Logs and data are in {node.folder}.

In another terminal, in this folder:
  export KUBECONFIG={node.kubeconfig}{path}

For example:
  make install IMAGE={node_images.HOOK} METACONTROLLER_CRDS={CRD_FILE}
  kubectl get pods --all-namespaces
  kubectl create deployment web --image={node_images.HOOK} --port=8083 -- python -m http.server 8083
  kubectl rollout status deployment web
  kubectl expose deployment web --type=NodePort
  kubectl annotate service web ingress/http=true ingress/host=web.example.com
  kubectl get ingress web --output=yaml
  curl "http://{node.address}:$(kubectl get service web --output=jsonpath='{{.spec.ports[0].nodePort}}')/"

Each NodePort is at {node.address}. No registry can be reached from there: a Pod finds the images {node_images.HOOK},
and those that metacontroller/install/ and gateway/ name.

Ctrl-C ends it."""


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tools.node")
