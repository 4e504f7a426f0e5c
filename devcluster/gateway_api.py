"""The CRDs of the Gateway API, from its published Go module.

GATEWAY_API_CRDS may name a folder with them, of another version.
"""

import os
from pathlib import Path

import yaml

from devcluster import build
from devcluster.api import Object

MODULE = "sigs.k8s.io/gateway-api"
VERSION = "v1.6.3"
"""v1.7 needs Go 1.27."""


def crds() -> list[Object]:
    """Return the CustomResourceDefinitions of the standard channel.

    Raises MissingProgram when Go is missing or too old, and BuildFailed when it can't download the module.
    """
    # The folder also holds an admission policy, for upgrades.
    objects = [each for path in sorted(folder().glob("*.yaml")) for each in yaml.safe_load_all(path.read_bytes())]
    return [each for each in objects if each["kind"] == "CustomResourceDefinition"]


def folder() -> Path:
    """Return where the files are: where somebody chose, or where Go keeps what it has downloaded. Raises as `crds`."""
    if chosen := os.environ.get("GATEWAY_API_CRDS"):
        return Path(chosen)
    module = build.downloaded(f"{MODULE}@{VERSION}", "to download the CRDs of the Gateway API")
    return module / "config/crd/standard"
