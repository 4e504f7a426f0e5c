"""The rights that each command takes on a cluster: the one table, rights.yaml, from which its help and tests are made.

Sources: what each command asks kubectl for, and Kubernetes' RBAC, which names rights by verb and resource.
"""

from pathlib import Path

import msgspec


class Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody may do who runs some commands."""

    right: str
    """Verbs, and a resource as kubectl names it, with its group."""

    purpose: str
    commands: tuple[str, ...]
    option: str = ""
    """The option that needs it; empty: the command does, in any case."""


RIGHTS = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, list[Right]])
"""By where they are needed. With `-f`, a command that takes it needs none."""


def rights_of(command: str, *places: str) -> list[Right]:
    """Return the rights that a command takes in some places; if none is named, in all."""
    return [each for where in places or RIGHTS for each in RIGHTS[where] if command in each.commands]


def told(command: str) -> str:
    """Return the rights of a command as its help shows them; empty where it needs none."""
    width = max((len(each.right.partition(".")[0]) for each in rights_of(command)), default=0)
    lines = []
    for where in RIGHTS:
        found = rights_of(command, where)
        lines += [f"  In {where}:"] if found else []
        for each in found:
            option = f"{each.option}: " if each.option else ""
            lines.append(f"    {each.right.partition('.')[0]:<{width}}  {option}{each.purpose}")
    return "\n".join(["\b", "Rights that it needs on a cluster:", *lines] if lines else [])
