"""The program: two names, version, help, completion and colours, and the imports that other programs can do without."""

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
import yaml
from click.shell_completion import ShellComplete

from devcluster.build import REPOSITORY
from devcluster.programs import find_kubectl
from ingress_manager.commands import terminal
from ingress_manager.commands.main import commands
from ingress_manager.commands.reading.permissions import permissions_of
from tests.commands.commands import Cluster, run

BIN = Path(sys.executable).parent
BAD = "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations: {ingress/http: 'yes'}\nspec: {ports: []}\n"


def started(*command: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a program as a user would, and return its result."""
    path = os.pathsep.join((str(BIN), str(find_kubectl().parent), os.environ["PATH"]))
    variables = {**os.environ, "PATH": path, **environment}
    return subprocess.run(command, cwd=REPOSITORY, env=variables, capture_output=True, text=True, check=False)


def test_kubectl_runs_it_as_a_plugin() -> None:
    ended = started("kubectl", "ingress-manager", "render", "manifests/sample/hello.yaml")
    assert (ended.returncode, ended.stdout.splitlines()[1]) == (0, "kind: Ingress")
    assert started("kubectl", "ingress-manager", "--help").stdout.startswith("Usage: kubectl ingress-manager ")


def test_an_output_that_lacks_a_character_gets_a_plain_one(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{apiVersion: v1, kind: Service, metadata: {name: ✓→中}}", encoding="utf-8")
    ended = started("ingress-manager", "render", tmp_path, PYTHONUTF8="0", PYTHONIOENCODING="cp1252")
    assert '"ok->\\u4e2d" must be' in ended.stderr


EXAMPLE = re.compile(r"(?:^ +|[|;] )ingress-manager ([^>|;\n]*?)(?: {3}.*| [>|;].*)?$", re.MULTILINE)


@pytest.mark.parametrize("command", ["", *sorted(commands.commands)])
def test_every_help_text_has_valid_examples_exit_statuses_and_permissions(command: str) -> None:
    text = run(*filter(None, [command]), "--help").out
    help_text = " ".join(text.split())
    assert bool(command) == ("Exit status: 0" in help_text)
    of_files = "a file is invalid; 2 for a usage error, if a file can't be opened, "
    assert (of_files in help_text) == ("--filename" in help_text)
    if settings := re.search(r"Without this option: the cluster's([^.]*)", help_text):
        takes_files = "--filename" in text and command != "audit"
        assert settings[1] == ("; with files, the defaults" if takes_files else ""), "unknown ones end it, or are told"
    examples = EXAMPLE.findall(text)
    assert [example for example in examples if example.startswith(command)], "it has some of its own"
    for example in examples:
        name, *words = shlex.split(example)
        with click.Context(commands) as group:
            # Raises click.UsageError for an unknown word or option.
            commands.commands[name].make_context(name, words, group).close()
    # tests/e2e checks on a cluster that these are right.
    _, _, lines = text.partition("Permissions that it needs on a cluster")
    assert bool(lines) == bool(permissions_of(command))
    for needed in permissions_of(command):
        shown = needed.permission.partition(".")[0]
        assert re.search(rf"^ +{shown} .*{re.escape(needed.purpose)}$", lines, re.MULTILINE)


def on_a_terminal(*command: str, **environment: str) -> str:
    ours, theirs = pty.openpty()
    variables = {**os.environ, "NO_COLOR": "", "TERM": "xterm", **environment}
    process = subprocess.Popen(command, cwd=REPOSITORY, env=variables, stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass  # how Linux reports the end
    finally:
        os.close(ours)
        process.wait()
    return shown.decode()


def test_colour_is_for_terminals_that_want_it_and_no_word_of_a_message_is_broken(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD)
    command = (str(BIN / "ingress-manager"), "render", str(tmp_path / "bad.yaml"))
    assert "\x1b[" in on_a_terminal(*command)
    assert "\x1b[" not in started(*command).stderr
    shown = on_a_terminal(*command, NO_COLOR="1", COLUMNS="30")
    assert "\x1b[" not in shown
    assert "Using the default settings;\r\n    --settings FILE uses\r\n    others.\r\n" in shown
    assert '\r\n    "yes" is not "true" or\r\n    "false" [invalid-value]\r\n' in shown


def test_slow_steps_are_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(terminal, "SILENCE", 0.001)
    with terminal.waiting("waiting for the test"):
        while not (shown := capsys.readouterr().err):
            time.sleep(0.001)
    assert shown == "… waiting for the test\n"


def test_the_commands_start_without_the_hooks_dependencies_and_rich() -> None:
    others = {"flask", "gevent", "gunicorn", "prometheus_client", "rich", "structlog"}
    script = f"import sys, ingress_manager.commands.main; sys.exit(bool({others} & set(sys.modules)))"
    assert started(sys.executable, "-c", script).returncode == 0


def test_pre_commit_calls_it_with_file_names(tmp_path: Path) -> None:
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (tmp_path / "bad.yaml").write_text(BAD)
    hook, of_settings = hooks
    assert (hook["language"], of_settings["language"]) == ("python", "python")
    assert started(*of_settings["entry"].split(), "docs/commands/examples/settings.yaml").returncode == 0
    assert started(*of_settings["entry"].split(), str(tmp_path / "bad.yaml")).returncode == 1
    good = "manifests/sample/hello.yaml"
    # pre-commit splits the entry like a shell, and appends the file names.
    assert started(*hook["entry"].split(), good).returncode == 0
    ended = started(*hook["entry"].split(), good, str(tmp_path / "bad.yaml"))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f'{tmp_path}/bad.yaml:5: default/a: ingress/http: "yes" is not' in ended.stderr


def test_pre_commit_rejects_subjects_of_commits_in_old_habits() -> None:
    [local] = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    patterns = [re.compile(hook["entry"].encode(), re.MULTILINE | re.DOTALL) for hook in local["hooks"]]
    good = ["Process a number\n\nThe reason.\n", f"Show {'ü' * 67}\n", f"Merge {'x' * 80}\n"]
    bad = [f"Show {'ü' * 68}\n", "Fix docs.\n", "Say that\n", "What is\n", "Fixes docs\n", "Fixed docs\n"]
    assert [text for text in good + bad if any(pattern.search(text.encode()) for pattern in patterns)] == bad


def completed(*arguments: str) -> list[str]:
    shell = ShellComplete(commands, {}, "ingress-manager", "_INGRESS_MANAGER_COMPLETE")
    return [item.value for item in shell.get_completions([*arguments[:-1]], arguments[-1])]


def test_namespaces_and_services_complete(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster(monkeypatch, {"namespaces": "namespace/team-a\nnamespace/web\n", "services": "service/shop\n"})
    assert completed("audit", "--context=prod", "-n", "te") == ["team-a"]
    assert completed("status", "-n", "team-a", "") == completed("release", "-n", "team-a", "s") == ["shop"]
    assert completed("status", "team-b/") == ["team-b/shop"]
    get = "get --output=name --request-timeout=1s"
    team_a, team_b = (f"{get} --namespace={namespace} -- services" for namespace in ("team-a", "team-b"))
    assert cluster.calls == [f"{get} --context=prod -- namespaces", team_a, team_a, team_b]
    cluster.says({})
    assert completed("status", "") == completed("audit", "-n", "") == []
    assert capfd.readouterr() == ("", "")
