"""`check`, of the admission webhook: check/admission.yaml has what is otherwise in each case."""

import copy
import functools
from base64 import b64encode
from datetime import datetime
from typing import Any, NamedTuple

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from devcluster.build import REPOSITORY
from ingress_manager.commands.check import admission
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.view import certificates
from ingress_manager.core.kubernetes import Object
from tests.commands.commands import run
from tests.commands.test_check import HERE, Cluster, said, seen_of

CASES = yaml.safe_load((HERE / "admission.yaml").read_text(encoding="utf-8"))
HOST = "ingress-manager-admission.ingress-manager.svc"
BEGINS, ENDS = datetime(2020, 1, 1), datetime(2099, 1, 1)


class Signer(NamedTuple):
    """A certificate, and the key that it is of."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def signed(
    name: str, by: Signer | None = None, host: str = HOST, end: datetime = ENDS, begin: datetime = BEGINS
) -> Signer:
    """Return a new certificate with a common name, signed by another one or by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = x509.CertificateBuilder().subject_name(subject).public_key(key.public_key()).serial_number(1)
    builder = builder.issuer_name(by.certificate.subject if by else subject)
    builder = builder.not_valid_before(begin).not_valid_after(end)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    return Signer(builder.sign(by.key if by else key, hashes.SHA256()), key)


def pem(*signers: Signer) -> str:
    """Return certificates as Kubernetes' objects have them."""
    return b64encode(b"".join(each.certificate.public_bytes(Encoding.PEM) for each in signers)).decode()


AUTHORITY = signed("authority")
CERTIFICATES = {
    "good": pem(signed("ours", AUTHORITY)),
    "expired": pem(signed("ours", AUTHORITY, end=datetime(2026, 1, 3))),
    "soon": pem(signed("ours", AUTHORITY, end=datetime(2026, 1, 11))),
    "for another name": pem(signed("ours", AUTHORITY, "other.tools.svc")),
}


@functools.cache
def sound() -> list[Object]:
    """Return the objects of a sound webhook."""
    folder = REPOSITORY / "manifests/admission"
    deployment, service, *_ = yaml.safe_load_all((folder / "deployment.yaml").read_text())
    webhook = yaml.safe_load((folder / "webhook.yaml").read_text())
    deployment["status"] = {"readyReplicas": deployment["spec"]["replicas"]}
    about = {"name": "ingress-manager-admission-tls", "namespace": "ingress-manager"}
    return [deployment, service, webhook, {"kind": "Secret", "metadata": about, "data": {"tls.crt": ""}}]


def installed(crt: str = "good") -> list[Object]:
    """Return the objects of a sound webhook, with a certificate."""
    objects = copy.deepcopy(sound())
    objects[-1]["data"]["tls.crt"] = CERTIFICATES[crt]
    return objects


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_thing_about_the_webhook_that_is_otherwise_is_named(case: dict[str, Any]) -> None:
    assert said(case, seen_of(case, installed(case.get("crt", "good")))) == case["says"]


def test_without_the_library_no_certificate_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "can_be_read", lambda: False)
    [line] = said({}, seen_of({}, installed("expired"))).splitlines()
    assert line.endswith(f"tls could not be looked at: {certificates.NOT_INSTALLED}")


# The shell.


class WithWebhook(Cluster):
    """Answers in the place of kubectl, from an installation that has the webhook."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(monkeypatch)
        self.objects += installed()

    def run(self, arguments: tuple[str, ...], stdin: str) -> str:
        if arguments[-1] == "secret/ingress-manager-admission-tls":
            self.calls.append(" ".join(arguments))
            if "secrets" in self.forbidden:
                raise KubectlFailed("forbidden")
            return CERTIFICATES["good"]
        return super().run(arguments, stdin)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> WithWebhook:
    return WithWebhook(monkeypatch)


def unwell() -> list[str]:
    """Return the lines of `check` about what is not well, without what to do."""
    return [line for line in run("check").out.splitlines() if line[:2] in {"! ", "✗ ", "? "}]


def test_no_private_key_is_printed(cluster: WithWebhook) -> None:
    cluster.objects[-1]["metadata"]["name"] = "not read as JSON"
    assert unwell() == []
    [read] = [call for call in cluster.calls if "secret" in call]
    jsonpath = "--output=jsonpath={.data.tls\\.crt}"
    assert read == (
        f"get --namespace=ingress-manager --ignore-not-found {jsonpath} -- secret/ingress-manager-admission-tls"
    )


def test_a_secret_that_may_not_be_read_is_named(cluster: WithWebhook) -> None:
    cluster.forbidden = {"secrets"}
    where = "ingress-manager/ingress-manager-admission-tls"
    assert unwell() == [f"? the certificate in the Secret {where} could not be looked at: forbidden"]
