"""Runs the stand-in: follows the DecoratorControllers of a cluster and keeps each of them at work."""

import logging
import os
import sys
from pathlib import Path

import click

from devcluster.api import Api, ApiError, Object, Resource
from devcluster.credentials import read_kubeconfig
from devcluster.standin.controller import Controller
from devcluster.standin.events import Recorder
from devcluster.standin.informer import Informer
from devcluster.standin.objects import SELF, Key
from devcluster.standin.workqueue import WorkQueue

DECORATOR_CONTROLLERS = Resource(
    "metacontroller.k8s.io/v1alpha1", "decoratorcontrollers", "DecoratorController", namespaced=False
)

log = logging.getLogger("devcluster.standin")


def follow(api: Api) -> None:
    """Start a controller for each DecoratorController. When one that is at work changes or goes, begin anew."""
    recorder, queue, at_work = Recorder(api), WorkQueue(), dict[Key, Object]()
    documents = Informer(api, DECORATOR_CONTROLLERS)
    documents.subscribe(lambda key, _before, _after: queue.add(key))
    while True:
        key = queue.get()
        dc = documents.get(key)
        if key in at_work and (dc is None or dc["spec"] != at_work[key]):
            log.info("beginning anew: %s has changed", key.name)
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - it is this program
        if dc and key not in at_work:
            try:
                Controller(dc, api, recorder).start()
            except (ValueError, LookupError, ApiError) as error:
                recorder.record(dc, "Warning", "CreateError", f"Cannot create new controller: {error}")
                queue.add_rate_limited(key)
            else:
                at_work[key] = dc["spec"]
                recorder.record(dc, "Normal", "Started", f"Started controller: {key.name}")
        queue.done(key)


@click.command(help=__doc__)
@click.option("--kubeconfig", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(kubeconfig: Path) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # Go reads JSON of 10,000 levels, which the API server can hold.
    sys.setrecursionlimit(20_000)
    log.info("this is the stand-in for Metacontroller, a development tool (%s)", __package__)
    url, ca_file, token = read_kubeconfig(kubeconfig)
    # Not strict: Metacontroller's client is not, either.
    follow(Api(url, token, ca_file, strict=False, agent=SELF))


if __name__ == "__main__":
    main()
