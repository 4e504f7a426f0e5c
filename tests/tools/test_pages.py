"""What plays the pages whose commands need a cluster: it reads them, waits as people do, and hides what varies."""

import pytest

from tools import pages

PAGE = """\
# Title

```console
$ not on a cluster
```

```console cluster
$ echo one; echo two >&2
one
two
$ A=three
$ echo $A
```
"""


def test_the_commands_of_a_page_are_those_for_a_cluster_with_what_they_print() -> None:
    assert pages.commands(PAGE) == [("echo one; echo two >&2", "one\ntwo\n"), ("A=three", ""), ("echo $A", "")]


def test_a_shell_remembers_and_prints_both_streams() -> None:
    with pages.Shell() as shell:
        assert pages.played(PAGE, shell.see) == PAGE.replace("$ echo $A\n", "$ echo $A\nthree\n")


def test_a_command_that_looks_is_repeated_until_it_sees_what_the_page_shows() -> None:
    with pages.Shell() as shell:
        shell.run("n=0; kubectl() { n=$((n+1)); echo seen $n; }")
        assert shell.see(pages.Typed("kubectl get shop", "seen 3\n")) == "seen 3\n"
        assert shell.see(pages.Typed("kubectl annotate shop", "seen 9\n")) == "seen 4\n"


def test_patience_ends() -> None:
    with pages.Shell(patience=0) as shell:
        shell.run("curl() { echo 404; }")
        assert shell.see(pages.Typed("curl shop", "200\n")) == "404\n"


@pytest.mark.parametrize(
    ("printed", "another_time"),
    [
        ("shop   web     80      5s\n", "shop   web     80      2m10s\n"),
        ("5s   Warning   SyncError\n", "2s (x7 over 3m1s)   Warning   SyncError\n"),
        ("http://127.10.2.3:41234/\n", "http://127.10.77.1:50000/\n"),
        ("ingress-manager-settings-7695tkm572.\n", "ingress-manager-settings-abc12345de.\n"),
    ],
)
def test_what_is_different_each_time_is_not_compared(printed: str, another_time: str) -> None:
    assert pages.masked(printed) == pages.masked(another_time)


@pytest.mark.parametrize(
    ("printed", "another_time"),
    [
        ("shop   web   80   5s\n", "shop   web   81   5s\n"),
        ("502\n", "200\n"),
        ("shop.example.com\n", "shops.example.com\n"),
        ("ingress-manager   0/2\n", "ingress-manager   1/2\n"),
    ],
)
def test_all_else_is_compared(printed: str, another_time: str) -> None:
    assert pages.masked(printed) != pages.masked(another_time)
