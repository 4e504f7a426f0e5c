"""The docs: generated parts are up to date, and examples are correct."""

import json
import re
from datetime import datetime
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.programs import GATEWAY_API
from devcluster.sync_requests import body, service, sync_request
from hooks.app import create_app
from hooks.sync import answer
from ingress_manager.commands.check.provided import MINIMUM_VERSIONS
from ingress_manager.commands.main import commands
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import parse
from ingress_manager.core.vocabulary import KNOWN, NGINX, is_lost_in_httproutes
from tests import golden
from tools import docs, markdown


@pytest.mark.parametrize("path", docs.paths(), ids=lambda path: path.name)
def test_generated_docs_are_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == docs.made(path), "`make docs` writes it"


@pytest.mark.parametrize("name", commands.commands)
def test_a_page_shows_each_command(name: str) -> None:
    pages = [page.read_text(encoding="utf-8") for page in docs.DOCS.rglob("*.md")]
    assert any(re.search(f"ingress-manager {name}\\b", page) for page in pages)


PINNED = [
    ("Kubernetes", "devcluster/controlplane/go.mod", r"k8s\.io/kubernetes v([\d.]+)"),
    ("Metacontroller", "metacontroller/install/deployment.yaml", r"metacontroller:v([\d.]+)"),
    ("CRDs of the Gateway API", "docs/httproute.md", r"gateway-api/releases/download/v([^/]+)/"),
    ("Traefik", "gateway/deployment.yaml", r"traefik:v([\d.]+)"),
]


def test_the_page_on_installing_has_the_pinned_versions_and_the_minimums_of_check() -> None:
    tested = dict(re.findall("^- (.*): (.*)$", (docs.DOCS / "install.md").read_text(encoding="utf-8"), re.MULTILINE))
    for what, path, pattern in PINNED:
        [version] = set(re.findall(pattern, (REPOSITORY / path).read_text(encoding="utf-8")))
        assert version in re.split("[,;] ", tested[what]), what
        assert f"v{version}" == GATEWAY_API or "gateway-api" not in pattern
    chart = yaml.safe_load((REPOSITORY / "charts/ingress-manager/Chart.yaml").read_text(encoding="utf-8"))
    assert chart["kubeVersion"] == f">={MINIMUM_VERSIONS['Kubernetes']}.0-0"
    assert {name: tested[name].rpartition("; at least ")[2] for name in MINIMUM_VERSIONS} == MINIMUM_VERSIONS


def blocks(page: str, language: str) -> list[str]:
    fences = markdown.fences((docs.DOCS / page).read_text(encoding="utf-8"))
    return [fence.text for fence in fences if fence.info == language]


@pytest.mark.parametrize("page", ["annotations.md", "tls.md"])
def test_every_example_of_annotations_is_accepted(page: str) -> None:
    ports = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}, {"name": "admin", "port": 8080}]
    examples = [yaml.safe_load(block)["metadata"] for block in blocks(page, "yaml") if block.startswith("metadata:")]
    assert examples
    for metadata in examples:
        asking = service(metadata["annotations"], ports=ports)
        assert answer(body(sync_request(asking)), Settings()).status == 200


def test_the_example_of_a_refusal_is_accurate() -> None:
    shown = next(block for block in blocks("annotations.md", "") if block.startswith("ingress/hots"))
    annotations = {"ingress/http": "true", "ingress/hots": "x", "ingress/port": "grpc"}
    ports = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}]
    assert answer(body(sync_request(service(annotations, ports=ports))), Settings()).body.decode() == shown


def test_every_example_of_settings_is_accepted() -> None:
    for page in ("settings.md", "httproute.md", "profiles.md", "tenants.md", "tls.md"):
        examples = [block for block in blocks(page, "yaml") if "kind:" not in block and "metadata:" not in block]
        assert examples, page
        for settings in examples:
            parse(settings)


def test_the_page_on_switching_names_every_known_annotation_that_changes_an_answer() -> None:
    page = (docs.DOCS / "switching.md").read_text(encoding="utf-8")
    assert [key for key in KNOWN if is_lost_in_httproutes(key) and f"`{key.removeprefix(NGINX)}`" not in page] == []


FIXTURES = REPOSITORY / "tests/fixtures"
ANSWERS = yaml.safe_load((FIXTURES / "answers.yaml").read_text(encoding="utf-8"))
SECONDS = datetime.fromisoformat("2026-11-21T10:55:53Z").timestamp()
"""One second after the fixtures' Service was created."""


def test_the_readme_shows_a_case_and_an_answer_of_the_hook() -> None:
    service, ingress = (yaml.safe_load(block) for block in blocks("../README.md", "yaml") if "kind:" in block)
    [case] = [case for case in golden.cases_in(golden.CASES) if case.name == "host-and-tls"]
    service["metadata"]["uid"] = case.service["metadata"]["uid"]
    assert (service, [ingress]) == (case.service, case.objects)
    [shown] = map(json.loads, blocks("../README.md", "json"))
    assert shown["attachments"] == ANSWERS["new"]["attachments"]


@pytest.mark.parametrize("request_file", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.name)
def test_the_hook_answers_as_the_file_says(request_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: SECONDS)
    monkeypatch.delenv("INGRESS_MANAGER_SETTINGS", raising=False)
    response = create_app().test_client().post("/sync", data=request_file.read_bytes())
    said = ANSWERS[request_file.stem]
    status = 422 if isinstance(said, str) else 200
    assert (response.status_code, response.json or response.text) == (status, said)


def test_the_page_of_the_hook_names_every_request_and_answer() -> None:
    page = (docs.DOCS / "hook.md").read_text(encoding="utf-8")
    assert [path.name for path in FIXTURES.iterdir() if f"(../tests/fixtures/{path.name})" not in page] == []


INDEX = REPOSITORY / "docs/README.md"
FOLDERS = [path for path in REPOSITORY.iterdir() if path.is_dir() and (path.name[0] != "." or path.name == ".github")]
PAGES = sorted([*REPOSITORY.glob("*.md"), *(page for folder in FOLDERS for page in folder.rglob("*.md"))])


def prose(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)


def links_of(page: Path) -> list[str]:
    """Return the targets of a page's links and pictures, including those in HTML."""
    return re.findall(r'(?:\]\(|\b(?:href|src|srcset)=")([^)"\s]+)', prose(page))


def leads_somewhere(link: str, page: Path) -> bool:
    """Return whether a link resolves to a file or folder of the repository, and its fragment to a heading."""
    path, _, fragment = link.partition("#")
    target = page.parent.joinpath(unquote(path)).resolve() if path else page
    if not (target.exists() and target.is_relative_to(REPOSITORY)):
        return False
    shown = target / "README.md" if target.is_dir() else target
    return not fragment or (shown.suffix == ".md" and fragment in anchors(shown))


@cache
def anchors(page: Path) -> list[str]:
    """Return the fragments that links to a page can have: GitHub's names for the headings, and ids in HTML.

    Source: https://docs.github.com/en/get-started/writing-on-github/getting-started-with-writing-and-formatting-on-github/basic-writing-and-formatting-syntax#section-links
    """
    headings = re.findall(r"^#+ (.*)$", re.sub(r"\]\([^)]*\)", "", prose(page)), re.MULTILINE)
    named = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings]
    return named + re.findall(r'\b(?:id|name)="([^"]+)"', prose(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_resolves_to_a_file_and_a_heading_in_it(page: Path) -> None:
    links = [link for link in links_of(page) if ":" not in link]
    assert [link for link in links if not leads_somewhere(link, page)] == []


def test_every_page_is_in_the_index_once() -> None:
    linked = [INDEX.parent.joinpath(link).resolve() for link in links_of(INDEX)]
    pages = [page for page in PAGES if page.is_relative_to(INDEX.parent) and page != INDEX]
    folders = [page for page in PAGES if page.name == "README.md" and page.parent not in {REPOSITORY, INDEX.parent}]
    folders = [page for page in folders if not page.is_relative_to(REPOSITORY / "tests")]
    assert pages
    assert folders
    assert [str(page.relative_to(REPOSITORY)) for page in [*pages, *folders] if linked.count(page) != 1] == []
