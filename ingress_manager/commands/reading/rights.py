"""The rights that each command needs on a cluster. rights.yaml lists them for the help, the docs and the tests.

Sources: the kubectl calls of each command, and Kubernetes' RBAC, which names rights by verb and resource.
"""

from pathlib import Path

import msgspec


class Right(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    right: str  # verbs, and a resource with its group, as kubectl names it
    purpose: str
    commands: tuple[str, ...]
    option: str = ""  # the option that needs the right; "" if the commands always need it


RIGHTS = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, list[Right]])
"""The rights that commands need, by scope, such as "each namespace". With `-f`, no rights are needed."""


def rights_of(command: str, *places: str) -> list[Right]:
    return [right for place in places or RIGHTS for right in RIGHTS[place] if command in right.commands]


def rights_help(command: str) -> str:
    width = max((len(right.right.partition(".")[0]) for right in rights_of(command)), default=0)
    lines = []
    for place in RIGHTS:
        rights = rights_of(command, place)
        lines += [f"  In {place}:"] if rights else []
        for right in rights:
            option = f"{right.option}: " if right.option else ""
            lines.append(f"    {right.right.partition('.')[0]:<{width}}  {option}{right.purpose}")
    return "\n".join(["\b", "Rights that it needs on a cluster:", *lines] if lines else [])
