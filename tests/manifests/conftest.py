"""Builds kustomizations that are not in a folder of this repository."""

import os
import re
from pathlib import Path

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from tests.manifests.objects import Build, Object, built

CRDS = "https://raw.githubusercontent.com/metacontroller/metacontroller/v4.17.2/manifests/production/"
"""Where Metacontroller's own CRDs are. The tests don't reach it: they have CRDs of the same kinds."""


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that builds a kustomization as if its folder were beside those in here."""

    def build_one(kustomization: Object) -> list[Object]:
        own = tmp_path / "own"
        own.mkdir(exist_ok=True)
        repository = os.path.relpath(REPOSITORY, own.resolve())
        text = yaml.safe_dump(kustomization).replace(f"{CRDS}metacontroller-crds-v1.yaml", "crds.yaml")
        text = re.sub(r"\.\./(?:(?:\.\./)?ingress-manager/)?(?=[a-z])", f"{repository}/", text)
        crds = CRD_FILE.read_text(encoding="utf-8")
        for name, content in {"kustomization.yaml": text, "crds.yaml": crds}.items():
            (own / name).write_text(content, encoding="utf-8")
        return built(own)

    return build_one
