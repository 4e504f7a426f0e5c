"""The CRDs of the Gateway API, from its published Go module.

They are kept in .build/, so Go is needed once, and the network with it. GATEWAY_API_CRDS may name another folder with
them, of another version.
"""

import os
import shutil
import tempfile
from pathlib import Path

import yaml

from devcluster import build
from devcluster.api import Object

MODULE = "sigs.k8s.io/gateway-api"
VERSION = "v1.6.3"
"""v1.7 needs Go 1.27."""


def crds(progress: build.Progress) -> list[Object]:
    """Return the CustomResourceDefinitions of the standard channel, getting them when they aren't there.

    Raises MissingProgram when Go is missing or too old, and BuildFailed when it can't download the module.
    """
    if not folder().exists():
        get(progress)
    # The folder also holds an admission policy, for upgrades.
    objects = [each for path in sorted(folder().glob("*.yaml")) for each in yaml.safe_load_all(path.read_bytes())]
    return [each for each in objects if each["kind"] == "CustomResourceDefinition"]


def folder() -> Path:
    """Return where the files are kept: another place for another version, or where somebody chose."""
    return Path(os.environ.get("GATEWAY_API_CRDS") or build.BUILD / f"gateway-api-{VERSION}")


def get(progress: build.Progress) -> None:
    """Download the module, and copy what is needed of it into `folder`."""
    build.BUILD.mkdir(exist_ok=True)
    with build.lock(build.BUILD / "lock", progress):
        if folder().exists():
            return
        progress(f"downloading the CRDs of the Gateway API {VERSION}")
        module = build.downloaded(f"{MODULE}@{VERSION}", "to download the CRDs of the Gateway API")
        with tempfile.TemporaryDirectory(dir=build.BUILD, prefix="tmp-") as temporary:
            copied = Path(temporary) / "crds"
            shutil.copytree(module / "config/crd/standard", copied, copy_function=shutil.copyfile)
            copied.chmod(0o755)  # Go's cache is read-only
            copied.rename(folder())
