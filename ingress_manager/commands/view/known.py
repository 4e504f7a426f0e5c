"""What is known of a cluster, or of files: what could not be read isn't the same as what isn't there."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

SETTINGS = "settings"
"""What `Known.unread` calls the settings."""


class Unknown(Enum):
    """What stands in the place of something that could not be read.

    So `X | Unknown | None` is an X that is there, UNKNOWN where nobody can say whether there is one, or None where it
    is known that there is none.
    """

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


@dataclass(slots=True)
class Known:
    """How far one could look.

    A dump in files may have been made without a kind, so that one of which it holds no object is unread, too.
    """

    unread: dict[str, str] = field(default_factory=dict)
    """What could not be read, a kind or SETTINGS, with the sentence that says why."""

    lacking: set[str] = field(default_factory=set)
    """The kinds that the cluster doesn't know, so that Metacontroller can't look after any."""

    optional: set[str] = field(default_factory=set)
    """The kinds that are unread, which matters only where a Service asks for one."""
