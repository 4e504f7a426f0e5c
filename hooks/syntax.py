"""The syntax of hosts, paths and names: checks that say what would be right.

Each check returns None when the text is right, or else the rest of a sentence that begins with the text itself.
Sources: RFC 1123 and RFC 1035 (hosts), RFC 3986 section 3.3 (paths), Kubernetes' validation of Ingresses (1.36), and
the CVEs of controllers that write what they read into their configuration (CVE-2021-25745, -25746, CVE-2023-5043).
"""

import re

_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_NUMBER_LIKE = r"(?:[0-9]+|0x[0-9a-f]*)"
_HOST = re.compile(rf"(?:\*\.)?(?:{_LABEL}\.)*(?!{_NUMBER_LIKE}$){_LABEL}")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_PATH = re.compile(r"/(?:[A-Za-z0-9/._~!&()*+,=:@-]|%[0-9A-Fa-f]{2})*")
# A server may decode these before it looks: a slash, a backslash, a dot, a percent sign, and control characters.
_DISGUISE = re.compile(r"%(?:[01][0-9A-Fa-f]|7[Ff]|2[EeFf5]|5[Cc])")
_HARMLESS = re.compile(r"[A-Za-z0-9 !%&()*+,./:=?@\[\]^_|~-]*")
LONGEST_HOST = 253
LONGEST_LABEL = 63
LONGEST_PATH = 1024


def host_problem(host: str) -> str | None:
    """Return what is wrong with a host of a rule: a lower-case DNS-1123 name, whose first label may be `*`."""
    if len(host) <= LONGEST_HOST and _HOST.fullmatch(host):
        return None
    name = host.removeprefix("*.")
    labels = name.split(".")
    checks = (
        (not host.isascii(), "must be written in ASCII; an internationalized name is written as xn--…"),
        (host != host.lower(), "must be lower case"),
        (len(host) > LONGEST_HOST, f"has {len(host)} characters; {LONGEST_HOST} is the most"),
        (not name or host == "*", "must name a domain"),
        (host.endswith("."), "must not end with a dot"),
        ("*" in name, "may hold * only as its whole first label, as in *.example.com"),
        (":" in name or re.fullmatch(_NUMBER_LIKE, labels[-1]), "must be a name: no URL, no IP address, no port"),
        (any(len(label) > LONGEST_LABEL for label in labels), f"has a label of more than {LONGEST_LABEL} characters"),
        (True, "must be a DNS name: letters, digits and -, with dots between"),
    )
    return next(problem for wrong, problem in checks if wrong)


def path_problem(path: str) -> str | None:
    """Return what is wrong with a path of a rule: absolute, of RFC 3986's characters, and the same to every reader."""
    segments = path.split("/")
    checks = (
        (not path.startswith("/"), "must start with /"),
        (len(path) > LONGEST_PATH, f"has {len(path)} characters; {LONGEST_PATH} is the most"),
        ("//" in path, "must not hold //"),
        ("." in segments or ".." in segments, "must not hold . or .. as a segment"),
        (_DISGUISE.search(path), "must not disguise a slash, dot, percent sign, backslash or control character as %…"),
        (not _PATH.fullmatch(path), "may hold only letters, digits, and /._~!&()*+,=:@- or %…"),
    )
    return next((problem for wrong, problem in checks if wrong), None)


def value_problem(value: str) -> str | None:
    """Return what is wrong with the value of an annotation that an ingress controller is to read."""
    if _HARMLESS.fullmatch(value):
        return None
    return "may hold only one line of ASCII, without quotes, braces, ; $ # \\ < and >"


def name_problem(name: str) -> str | None:
    """Return what is wrong with the name of an IngressClass or a Secret: a DNS-1123 subdomain."""
    if len(name) <= LONGEST_HOST and _NAME.fullmatch(name):
        return None
    return f"must be a name of at most {LONGEST_HOST} lower-case letters, digits, - and ."
