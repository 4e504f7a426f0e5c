"""The image and the package fit the manifests. Built and run it is in tests/node."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import yaml
from packaging.metadata import Metadata
from trove_classifiers import classifiers

from devcluster.build import REPOSITORY
from ingress_manager import __version__
from tests.manifests.objects import container, rendered


def test_the_version_is_the_same_wherever_it_is_stated() -> None:
    assert container("manifests")["image"].endswith(f"/ingress-manager:{__version__}")
    for folder, name in (("gateway", "not-found"), ("manifests/admission", "ingress-manager-admission")):
        assert container(folder, name)["image"] == container("manifests")["image"]
    assert {item["metadata"]["labels"]["app.kubernetes.io/version"] for item in rendered("manifests")} == {__version__}
    chart = yaml.safe_load((REPOSITORY / "charts/ingress-manager/Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_pypi_takes_the_metadata() -> None:
    [path] = Path(sysconfig.get_path("purelib")).glob("ingress_manager-*.dist-info/METADATA")
    metadata = Metadata.from_email(path.read_bytes(), validate=True)
    assert {*(metadata.classifiers or ())} <= classifiers


START = """
from hooks import admission_conf, app, gunicorn_conf
app.create_webhook()
app.create_app()
from not_found import app, conf
app.create_app()
"""


def test_the_image_starts_with_nothing_but_what_is_pinned_and_what_it_copies(tmp_path: Path) -> None:
    """What only the developers have can't be imported: their packages, the commands, our own metadata."""
    for source in ("ingress_manager", "hooks", "not_found"):
        ignored = shutil.ignore_patterns("__pycache__", "commands")
        shutil.copytree(REPOSITORY / source, tmp_path / source, ignore=ignored)
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8")
    for name in re.findall(r"^([\w.-]+)==", lines, re.MULTILINE):
        pinned = importlib.metadata.distribution(name)
        for installed in {file.parts[0] for file in pinned.files or ()} - {".."}:
            if not (tmp_path / installed).exists():  # some have a folder together
                (tmp_path / installed).symlink_to(str(pinned.locate_file(installed)))
    # Without -S, it would find all that is installed here.
    command = [sys.executable, "-S", "-c", START]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
