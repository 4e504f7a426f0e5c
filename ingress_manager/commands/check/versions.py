"""Which versions are known to work: the one table of them, which docs/install.md shows. The pure part."""

import re
from typing import NamedTuple

from ingress_manager.commands.check.lines import Line, ok, unknown, warning, wrong


class Known(NamedTuple):
    """The versions of a program that are known to work."""

    least: str
    """The oldest that has all that is needed."""

    tested: tuple[str, ...]
    """Those that have been tried, the oldest first."""


KUBERNETES = Known("1.30", ("1.30.14", "1.36.3", "1.37.2"))
METACONTROLLER = Known("4.15", ("4.15.1", "4.17.2"))
GATEWAY_API = Known("1.0", ("1.6.3",))

_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:[.+-].*)?")


def version_of(text: str) -> tuple[int, int] | None:
    """Return the major and minor version that v1.36.3 or 4.17.2-distroless states, None for what states none."""
    found = _VERSION.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


def by_version(name: str, stated: str, known: Known) -> Line:
    """Return the line for a program, by the version that it states."""
    version = version_of(stated)
    if version is None:
        return unknown(f"the version of {name} can't be told from {stated}")
    if version < (version_of(known.least) or version):
        return wrong(f"{name} {stated} is too old: it takes {known.least} or later", f"Upgrade {name}.")
    newest = known.tested[-1]
    if version > (version_of(newest) or version):
        sentence = f"{name} {stated} is newer than {newest}, with which ingress-manager is tested"
        return warning(sentence, "It may well work; nobody has tried it.")
    if version not in map(version_of, known.tested):
        return ok(f"{name} {stated}: new enough; ingress-manager is tested with {', '.join(known.tested)}")
    return ok(f"{name} {stated}")
