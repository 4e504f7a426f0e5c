"""Image archives, as `docker save` writes them, for machines that no registry gives images to.

Sources: https://github.com/moby/docker-image-spec (v1.2: the manifest and the layers of an archive, the fields of an
image's configuration).
"""

import hashlib
import io
import json
import platform
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""What images call the machines that Python calls otherwise."""


def write(archive: Path, name: str, programs: Mapping[str, Path], config: Mapping[str, Any]) -> None:
    """Write an image of programs of this machine, by their paths in the image.

    `config` is what the image says of how to run it, for example {"Entrypoint": ["/pause"]}. The same programs make the
    same bytes.
    """
    with tempfile.TemporaryFile() as layer:
        write_layer(layer, programs)
        write_image(archive, name, layer, config)


def write_image(archive: Path, name: str, layer: io.BufferedIOBase, config: Mapping[str, Any]) -> None:
    """Write an image whose only layer is this tar file."""
    digest = hashlib.file_digest(layer, "sha256").hexdigest()
    size = layer.tell()
    layer.seek(0)
    machine = platform.machine()
    image = as_json(
        {
            "architecture": ARCHITECTURES.get(machine, machine),
            "os": "linux",
            "config": dict(config),
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
            "history": [{}],  # one for each layer: else buildah can't add layers
        }
    )
    stated = f"{hashlib.sha256(image).hexdigest()}.json"
    manifest = as_json([{"Config": stated, "RepoTags": [name], "Layers": ["layer.tar"]}])
    with tarfile.open(archive, "w") as tar:
        add(tar, "layer.tar", layer, size)
        for path, content in ((stated, image), ("manifest.json", manifest)):
            add(tar, path, io.BytesIO(content), len(content))


def write_layer(layer: io.BufferedIOBase, programs: Mapping[str, Path]) -> None:
    """Write programs as a tar file, and go back to its beginning."""
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for path, program in sorted(programs.items()):
            with program.open("rb") as file:
                add(tar, path.lstrip("/"), file, program.stat().st_size)
    layer.seek(0)


def add(tar: tarfile.TarFile, path: str, content: io.BufferedIOBase, size: int) -> None:
    """Add a file of root's that everybody may read and run, with nothing of this machine but its content."""
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o755
    tar.addfile(member, content)


def as_json(value: object) -> bytes:
    """Return a value as the bytes of JSON."""
    return json.dumps(value, sort_keys=True).encode()
