"""Which versions are known to work: the one table of them, which docs/install.md shows. The pure part."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ingress_manager.commands.check.cluster import Line, unknown, warning, wrong


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


def by_version(name: str, stated: str, known: Known) -> Iterator[Line]:
    """Yield what is wrong with the major and minor version that a program states, as v1.36.3 or 4.17.2-distroless."""
    found = [_VERSION.fullmatch(each) for each in (stated, known.least, known.tested[-1])]
    version, least, newest = ((int(each[1]), int(each[2])) if each else (0, 0) for each in found)
    if not found[0]:
        yield unknown(f"the version of {name} can't be told from {stated}")
    elif version < least:
        yield wrong(f"{name} {stated} is too old: it takes {known.least} or later", f"Upgrade {name}.")
    elif version > newest:
        sentence = f"{name} {stated} is newer than {known.tested[-1]}, with which ingress-manager is tested"
        yield warning(sentence, "It may well work; nobody has tried it.")
