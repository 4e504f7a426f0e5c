"""`make run` and the curl command, word for word as in CONTRIBUTING.md, except for the port."""

import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator

import pytest

from devcluster.build import REPOSITORY
from ingress_manager.core.policy import Policy
from tests.docs.test_readme import CONTRIBUTING, RUN_BY
from tests.hooks.test_server import free_port


@pytest.fixture
def port() -> Iterator[int]:
    """Yield a port on which `make run` serves: gunicorn listens before its worker starts."""
    free = free_port()
    command = ["make", "run", f"PORT={free}", "SETTINGS=manifests/settings.yaml"]
    process = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stderr is not None
        told = []
        for line in process.stderr:
            told.append(line)
            if '"event": "started"' in line:
                assert json.loads(line)["settings"]["defaults"]["host"] == Policy().defaults.host
                break
        else:
            pytest.fail(f"`make run` has ended: {''.join(told)}")
        yield free
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.communicate(timeout=30)


@pytest.mark.skipif(
    shutil.which("curl") is None, reason="There is no curl, so its command in CONTRIBUTING.md was not run."
)
def test_curl_gets_the_ingress_of_the_fixture(port: int) -> None:
    command = next(command for command in RUN_BY if command.startswith("curl"))
    assert command in CONTRIBUTING
    words = shlex.split(command.replace("8080", str(port)))
    answer = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    (ingress,) = json.loads(answer)["attachments"]
    assert (ingress["kind"], ingress["metadata"]["name"]) == ("Ingress", "shop")
