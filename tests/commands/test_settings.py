"""`ingress-manager settings`: it checks whether the hook would start with a file."""

from pathlib import Path

import yaml

from ingress_manager.commands.printing import as_yaml
from tests.commands.commands import run

BAD = "limits:\n  hosts:\n  - A\ndefaults: {host: B}\n"
EVERY_HOST = "limits.hosts is any, so a namespace without its own limits may claim every host."


MISTAKE = '{}:{}: limits.hosts[0]: "A" must be lowercase\n'


def test_the_first_mistake_is_reported_with_its_line_and_the_other_files_are_checked(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("")
    bad.write_text(BAD)
    out = f"{good}: the hook would start with these settings: 0 profiles, 0 under `namespaces`\n"
    assert run("settings", bad, good) == (1, out, f"{MISTAKE.format(bad, 3)}{good}: {EVERY_HOST}\n")


def test_a_limit_of_hosts_lifted_for_a_namespace_on_purpose_is_not_reported() -> None:
    lifted = "limits: {hosts: [a.example.com]}\nnamespaces: {team-a: {limits: {hosts: any}}}\n"
    assert run("settings", "-", stdin=lifted).err == ""


def test_in_the_manifest_of_a_configmap_the_line_is_that_of_the_text() -> None:
    head, inside = "apiVersion: v1\nkind: ConfigMap\n", "".join(f"    {line}\n" for line in BAD.splitlines())
    manifest = f"{head}---\n{head}data:\n  settings.yaml: |\n{inside}"
    assert run("settings", "-", stdin=manifest) == (1, "", MISTAKE.format("stdin", 7))


def test_an_unreadable_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    assert run("settings", path)[:2] == (2, "")
    path.write_text("{}", encoding="utf-16")  # a ConfigMap can't hold such a text
    assert run("settings", path) == (1, "", f"{path}:1: is not UTF-8 text\n")


def test_the_policies_of_the_limits_deny_or_warn_and_there_are_none_without_limits(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("limits: {hosts: ['*.{namespace}.example.com']}")
    assert run("settings", "--policies", file) == run("settings", file, "--policies=deny")
    objects = [*yaml.safe_load_all(run("settings", "--policies=warn", file).out)]
    assert [obj["spec"].get("validationActions") for obj in objects] == [None, ["Warn", "Audit"]] * 3
    assert run("settings", "--policies", "-") == (
        0,
        "",
        "stdin: the settings have no limits, so no policies are needed.\n",
    )
    assert "name exactly one FILE" in run("settings", "--policies").err


def test_limits_that_exceed_a_policy_are_reported() -> None:
    for namespaces, hosts in ((1, 1500), (60, 100)):
        limits = {"hosts": [f"{number}.apps.example.com" for number in range(hosts)]}
        text = as_yaml({"namespaces": {f"team-{number}": {"limits": limits} for number in range(namespaces)}})
        ended = run("settings", "--policies", "-", stdin=text)
        assert (ended.status, ended.out) == (2, "")
        assert ": namespaces.team-0.limits: the limits are too long for admission policies" in ended.err
