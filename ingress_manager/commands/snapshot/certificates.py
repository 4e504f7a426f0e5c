"""Certificates: whether they are valid, and for which hosts. The pip extra `certificates` installs the parser.

Sources: RFC 9525, 6.3 (a wildcard stands for one label); RFC 5280, 6.1 (each certificate of a path signs the next).
"""

from base64 import b64decode
from collections.abc import Iterable
from datetime import datetime, timedelta

from ingress_manager.core.text import listed

try:
    from cryptography import x509
except ImportError:
    x509 = None  # type: ignore[assignment]

NOT_INSTALLED = "cryptography isn't installed; run `pip install '.[certificates]'` in a clone of ingress-manager"
TIME = "%Y-%m-%dT%H:%M:%SZ"


def can_be_read() -> bool:
    return x509 is not None


def cert_problem(crt: str, hosts: Iterable[str], now: datetime) -> str:
    """Return why a certificate isn't valid for `hosts`, or "" if it is. `crt` is a Secret's tls.crt, in base64."""
    try:
        certificate = first_certificate(crt)
    except ValueError:
        return "tls.crt holds no certificate"
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if end < now or start > now:
        problem = f"expired at {end:{TIME}}" if end < now else f"isn't valid before {start:{TIME}}"
        return f"the certificate {problem}"
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, x509.DuplicateExtension, x509.UnsupportedGeneralNameType, ValueError):
        return "the certificate has no readable host name in its subjectAltName"
    covered = [name.lower() for name in names.get_values_for_type(x509.DNSName)]
    missing = [host for host in hosts if not {host.lower(), f"*.{host.lower().partition('.')[2]}"} & {*covered}]
    return f"the certificate doesn't cover {listed(missing)}; it names {listed(covered) or 'none'}" if missing else ""


def near_expiry(crt: str, now: datetime, soon: timedelta) -> datetime | None:
    """Return when a certificate expires if that is within `soon` and in the last third of its lifetime, else None."""
    certificate = first_certificate(crt)
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    # cert-manager renews when a third remains. With `soon` alone, a six-day certificate would always be reported.
    return end if end - now < min(soon, (end - start) / 3) else None


def first_certificate(crt: str) -> "x509.Certificate":
    """Return the server's certificate, which is the first in `crt`. Raises ValueError if there is none."""
    return x509.load_pem_x509_certificates(b64decode(crt, validate=True))[0]
