"""The syntax of hosts, paths, names and keys.

A check is a table of rules; the message comes from the first broken rule.

Hosts follow RFC 1123 and RFC 1035; paths follow RFC 3986, section 3.3. Kubernetes' validation of Ingresses (1.36)
restricts both. Controllers write paths into their configuration (CVE-2021-25745 and others).

Some controllers treat paths as patterns. AWS expands *. Cilium and Contour match regular expressions, as do Kong with
its traditional router or after /~, and ingress-nginx on hosts where any Ingress enables them.
"""

import re
from collections.abc import Callable

EVERY_HOST = "*"
"""Matches every host that no other rule names, like a rule without a host."""

LONGEST_NAME = 253
LONGEST_LABEL = 63
LONGEST_PATH = 1024

# Possessive quantifiers (`*+`, `{…}+`) don't backtrack: a label ends where its characters end.
_LABEL = r"[a-z0-9][-a-z0-9]{0,62}+(?<!-)"
_NUMBER_LIKE = r"(?:[0-9]+|0x[0-9a-f]*)"
_HOST = re.compile(rf"(?:\*\.)?(?:{_LABEL}\.)*+(?!{_NUMBER_LIKE}$){_LABEL}")
_NUMBER = re.compile(rf"(?:^|\.){_NUMBER_LIKE}\Z")
_LONG_LABEL = re.compile(rf"[^.]{{{LONGEST_LABEL + 1}}}")
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NAME = re.compile(_SUBDOMAIN)
_NAMESPACE = re.compile(_LABEL)
_WORD = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_KEY = re.compile(rf"({_SUBDOMAIN}/)?{_WORD}")
_LABEL_VALUE = re.compile(rf"({_WORD})?")
_PATH = re.compile(r"/(?:[A-Za-z0-9/._~!&,=:@-]|%[0-9A-Fa-f]{2})*")
_ANY_PATH = re.compile(r"/[A-Za-z0-9/._~!&,=:@%*+?()\[\]{}<>^$|\\-]*")
_PATTERN = re.compile(r"[*()+]")
# A server may decode these before it compares paths: slash, backslash, dot, percent sign, control characters.
_DISGUISE = re.compile(r"%(?:[01][0-9A-Fa-f]|7[Ff]|2[EeFf5]|5[Cc])")
_DOT_SEGMENT = re.compile(r"(?:^|/)\.\.?(?:/|$)")

Rule = tuple[Callable[[str], object], str]
"""A test for a mistake in a text, and the end of the message, where `{length}` is replaced with the text's length."""


def check(*rules: Rule, is_right: Callable[[str], object] = lambda _: False) -> Callable[[str], str]:
    """Return a check. It returns the first broken rule's message, or "" if `is_right` is true or no rule is broken."""
    return lambda text: (
        "" if is_right(text) else next((end.format(length=len(text)) for is_wrong, end in rules if is_wrong(text)), "")
    )


def _without_wildcard(host: str) -> str:
    return host.removeprefix("*.")


def _is_not_a_key(key: str) -> bool:
    return len(key.rpartition("/")[0]) > LONGEST_NAME or not _KEY.fullmatch(key)


wrong_host = check(
    (lambda host: len(host) > LONGEST_NAME, f"has {{length}} characters; the limit is {LONGEST_NAME}"),
    (lambda host: not host.isascii(), "must be ASCII; write an internationalized name as xn--…"),
    (lambda host: host != host.lower(), "must be lowercase"),
    (lambda host: not _without_wildcard(host), "must contain a domain, such as example.com"),
    (lambda host: host.endswith("."), "must not end with a dot"),
    (lambda host: "*" in _without_wildcard(host), "may contain * only as the whole first label, as in *.example.com"),
    (lambda host: ":" in host or _NUMBER.search(host), "must be a host name without a port, not a URL or IP address"),
    (_LONG_LABEL.search, f"must have at most {LONGEST_LABEL} characters between dots"),
    (
        lambda host: not _HOST.fullmatch(host),
        "must be a DNS name: labels of letters, digits and hyphens, joined by dots",
    ),
    # For speed: nearly every host is valid, and the rules only name the mistake.
    is_right=lambda host: (len(host) <= LONGEST_NAME and _HOST.fullmatch(host)) or host == EVERY_HOST,
)
"""Rejects all but `*` and lowercase DNS-1123 names, in which `*` may be the first label."""

_ABSOLUTE_PATH_RULES: tuple[Rule, ...] = (
    (lambda path: not path.startswith("/"), "must start with /"),
    (lambda path: len(path) > LONGEST_PATH, f"has {{length}} characters; the limit is {LONGEST_PATH}"),
)
_wrong_plain_path = check(
    *_ABSOLUTE_PATH_RULES,
    (lambda path: "//" in path, "must not contain //"),
    (_DOT_SEGMENT.search, "must not contain . or .. as a segment"),
    (_DISGUISE.search, "must not percent-encode a slash, dot, percent sign, backslash or control character"),
    (
        _PATTERN.search,
        "must not contain * ( ) or +, which some controllers interpret as a pattern",
    ),
    (lambda path: not _PATH.fullmatch(path), "may contain only letters, digits, /._~!&,=:@- and %XX"),
)
_wrong_free_path = check(
    *_ABSOLUTE_PATH_RULES,
    (
        lambda path: not _ANY_PATH.fullmatch(path),
        "must not contain quotes, white space, control characters, non-ASCII characters, or any of # ; `",
    ),
)

wrong_absolute_path = check(*_ABSOLUTE_PATH_RULES)
"""Checks only a path's start and length; `wrong_path` checks the rest."""

wrong_name = check(
    (
        lambda name: len(name) > LONGEST_NAME or not _NAME.fullmatch(name),
        f"must be a name of at most {LONGEST_NAME} lowercase letters, digits, dots and hyphens",
    )
)
"""Rejects all but DNS-1123 subdomains, as names of IngressClasses and Secrets are."""

wrong_annotation_key = check((_is_not_a_key, "must be an annotation key, such as cert-manager.io/issuer"))
wrong_label_key = check((_is_not_a_key, "must be a label key, such as team or example.com/team"))

_CHARS = f"at most {LONGEST_LABEL} letters, digits, dots, - and _, starting and ending with a letter or digit"
wrong_label_value = check((lambda value: not _LABEL_VALUE.fullmatch(value), f"must be a label value: {_CHARS}"))

_LABEL_CHARS = f"at most {LONGEST_LABEL} lowercase letters, digits and hyphens"
wrong_namespace = check((lambda name: not _NAMESPACE.fullmatch(name), f"must be a namespace name of {_LABEL_CHARS}"))
"""Rejects all but DNS-1123 labels."""


def wrong_path(path: str, path_type: str) -> str:
    """Return the mistake in a path, or "" if the path is absolute (RFC 3986) and means the same to every server.

    With ImplementationSpecific, the path may be a regular expression, but without characters that could end a word in a
    controller's configuration.
    """
    if path == "/":
        return ""  # the most common path
    return _wrong_free_path(path) if path_type == "ImplementationSpecific" else _wrong_plain_path(path)
