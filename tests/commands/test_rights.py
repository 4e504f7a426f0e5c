"""The rights that a command's help names. That they are right is shown on a cluster: tests/e2e."""

from ingress_manager.commands.main import commands
from ingress_manager.commands.reading.rights import CONTROLLERS, RIGHTS, Where
from tests.commands.commands import run


def test_the_table_has_every_command_and_its_help_names_each_of_its_rights() -> None:
    assert set(RIGHTS) == set(commands.commands)
    for name, rights in RIGHTS.items():
        text = run(name, "--help").out
        assert ("Rights that it needs on a cluster" in text) == bool(rights)
        for right in rights:
            _, _, there = text.partition(f"  In {right.where}:\n")
            lines = [line.strip() for line in there.partition("\n  In ")[0].splitlines()]
            starts = f"{right.verbs} {right.resource.partition('.')[0]} "
            assert any(line.startswith(starts) and line.endswith(right.purpose) for line in lines), right


def test_the_pages_that_name_the_rights_of_another_command_need_no_others() -> None:
    needed = {name: {(each.verbs, each.resource, each.where) for each in rights} for name, rights in RIGHTS.items()}
    assert needed["status"] == needed["audit"] - {("get", CONTROLLERS, Where.ALL)}
