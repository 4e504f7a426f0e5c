"""The permissions that each command needs on a cluster. permissions.yaml lists them for help, docs and tests.

Sources: the kubectl calls of each command, and Kubernetes' RBAC, which names permissions by verb and resource.
"""

from pathlib import Path

import msgspec


class Permission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    permission: str  # verbs, and a resource with its group, as kubectl names it
    purpose: str
    commands: tuple[str, ...]
    option: str = ""  # the option that needs the permission; "" if the commands always need it


PERMISSIONS = msgspec.yaml.decode(Path(__file__).with_suffix(".yaml").read_bytes(), type=dict[str, list[Permission]])
"""The permissions that commands need, by scope, such as "each namespace". With `-f`, no permissions are needed."""


def permissions_of(command: str, *places: str) -> list[Permission]:
    return [one for place in places or PERMISSIONS for one in PERMISSIONS[place] if command in one.commands]


def permissions_help(command: str) -> str:
    width = max((len(permission.permission.partition(".")[0]) for permission in permissions_of(command)), default=0)
    lines = []
    for place in PERMISSIONS:
        permissions = permissions_of(command, place)
        lines += [f"  In {place}:"] if permissions else []
        for permission in permissions:
            option = f"{permission.option}: " if permission.option else ""
            lines.append(f"    {permission.permission.partition('.')[0]:<{width}}  {option}{permission.purpose}")
    return "\n".join(["\b", "Permissions that it needs on a cluster:", *lines] if lines else [])
