"""Keys, tokens and kubeconfigs."""

from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec


def new_signing_key() -> str:
    """Return a new ECDSA P-256 private key as PEM, for signing ServiceAccount tokens."""
    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def write_kubeconfig(path: Path, *, url: str, ca_file: Path, user: str, token: str) -> None:
    """Write a kubeconfig that only this user can read. It names the file with the certificate authority."""
    name = "ingress-manager"
    cluster = {"server": url, "certificate-authority": str(ca_file)}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    }
    write_private(path, yaml.safe_dump(content, sort_keys=False))


def read_kubeconfig(path: Path) -> tuple[str, Path, str]:
    """Return the URL, the file with the certificate authority, and the token of a kubeconfig as written here."""
    content = yaml.safe_load(path.read_text())
    [cluster], [user] = content["clusters"], content["users"]
    return cluster["cluster"]["server"], Path(cluster["cluster"]["certificate-authority"]), user["user"]["token"]


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read."""
    path.touch(mode=0o600)
    path.write_text(text)
