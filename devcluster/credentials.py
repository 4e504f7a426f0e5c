"""Keys, tokens and kubeconfigs, made with the standard library alone."""

import base64
import secrets
from pathlib import Path

import yaml

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def new_token() -> str:
    """Return a random bearer token."""
    return secrets.token_urlsafe(24)


def new_signing_key() -> str:
    """Return a new ECDSA P-256 private key as PEM, for signing ServiceAccount tokens.

    The private key is a random number below the order of the curve. RFC 5915 makes the public key optional, so no
    cryptography is needed here. The encoding is the integer 1, an octet string of 32 bytes, and the curve's name.
    """
    number = secrets.randbelow(P256_ORDER - 1) + 1
    der = (
        bytes.fromhex("3031 020101 0420")
        + number.to_bytes(32, "big")
        + bytes.fromhex("a00a 0608 2a8648ce3d030107")  # prime256v1
    )
    return f"-----BEGIN EC PRIVATE KEY-----\n{base64.encodebytes(der).decode()}-----END EC PRIVATE KEY-----\n"


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
