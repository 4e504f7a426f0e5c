"""Runs the stand-in: follows the DecoratorControllers of a cluster and keeps each of them at work."""

import logging
import os
import signal
import sys
import threading
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


class Manager:
    """Starts, restarts and stops controllers as DecoratorControllers come, change and go."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._recorder = Recorder(api)
        self._queue: WorkQueue[str] = WorkQueue()
        self._controllers: dict[str, Controller] = {}
        self._documents = Informer(api, DECORATOR_CONTROLLERS)
        self._documents.subscribe(self._on_document)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """End; return when the last sync is done, or after that many seconds for each controller."""
        self._queue.stop()
        self._thread.join(seconds)
        for controller in list(self._controllers.values()):
            controller.stop(seconds)

    def _on_document(self, key: Key, _before: Object | None, _after: Object | None) -> None:
        self._queue.add(key.name)

    def _work(self) -> None:
        while (name := self._queue.get()) is not None:
            try:
                self._follow(name)
            except (ValueError, LookupError, ApiError):
                self._queue.add_rate_limited(name)
            else:
                self._queue.forget(name)
            finally:
                self._queue.done(name)

    def _follow(self, name: str) -> None:
        """Start, restart or stop the controller of that name, as its document says.

        Raises as Controller does, after an Event.
        """
        dc, running = self._documents.get(self._documents.key("", name)), self._controllers.get(name)
        if dc and running and dc["spec"] == running.dc["spec"]:
            return
        if running:
            del self._controllers[name]
            running.stop(seconds=60)
        if dc:
            try:
                controller = Controller(dc, self._api, self._recorder)
            except (ValueError, LookupError, ApiError) as error:
                self._recorder.record(dc, "Warning", "CreateError", f"Cannot create new controller: {error}")
                raise
            controller.start()
            self._controllers[name] = controller
            self._recorder.record(dc, "Normal", "Started", f"Started controller: {name}")


@click.command(help=__doc__)
@click.option("--kubeconfig", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(kubeconfig: Path) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # Go reads JSON of 10,000 levels, which the API server can hold.
    sys.setrecursionlimit(20_000)
    log.info("this is the stand-in for Metacontroller, a development tool (%s)", __package__)
    # Blocked before any thread is started, so that all inherit it and only sigwait sees them.
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    url, ca_file, token = read_kubeconfig(kubeconfig)
    # Not strict: Metacontroller's client is not, either.
    manager = Manager(Api(url, token, ca_file, strict=False, agent=SELF))
    log.info("ending on %s", signal.Signals(signal.sigwait(ends)).name)
    manager.stop(seconds=0.4)
    # Not by returning: the threads of the watches still run, and one that logs while Python shuts down would crash it.
    os._exit(0)


if __name__ == "__main__":
    main()
