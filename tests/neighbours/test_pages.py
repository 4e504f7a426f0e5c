"""The pages say which versions of others were tried."""

import pytest

from tools import docs, golang


@pytest.mark.parametrize(
    ("page", "name", "program"),
    [
        ("dns.md", "external-dns", "externaldns"),
        ("tls.md", "cert-manager", "certificates"),
        ("gitops.md", "Argo CD", "health"),
    ],
)
def test_the_page_names_the_version_whose_code_is_tried(page: str, name: str, program: str) -> None:
    text = (docs.DOCS / page).read_text(encoding="utf-8")
    assert f"{name} {golang.version(program).removeprefix('v')}" in " ".join(text.split())
