"""The examples of `ingress-manager play`: some of the cases in tests/cases. `make cases` writes them into the package.

So whatever somebody chooses on the page is a Service of which the tests say what it becomes.
"""

import json
import textwrap
from typing import NamedTuple

from devcluster.build import REPOSITORY
from ingress_manager.commands.printing.objects import as_yaml
from tests import golden

FILE = REPOSITORY / "ingress_manager/commands/page/examples.json"

WIDTH = 60
"""Characters of a comment. On the page, there is room for that many."""


class Example(NamedTuple):
    """A case, and what the page calls it."""

    group: str
    title: str
    case: str


EXAMPLES = (
    Example("To begin with", "A host and a certificate", "host-and-tls"),
    Example("To begin with", "One annotation, and the defaults", "http-true"),
    Example("To begin with", "No annotation, and no Ingress", "http-absent"),
    Example("To begin with", "Every annotation", "every-annotation"),
    Example("Hosts, paths and ports", "Several hosts", "host-several"),
    Example("Hosts, paths and ports", "A wildcard", "host-wildcard"),
    Example("Hosts, paths and ports", "One exact path", "path-type-exact"),
    Example("Hosts, paths and ports", "A port by its name", "port-by-name"),
    Example("Hosts, paths and ports", "Several routes", "routes-take-the-rest-from-the-annotations"),
    Example("Mistakes", "An annotation with a slip of the pen", "annotation-unknown-refused"),
    Example("Mistakes", "Every annotation is wrong", "every-annotation-wrong-refused"),
    Example("Mistakes", "Which of the ports?", "port-ambiguous-refused"),
    Example("Mistakes", "A port that speaks HTTPS", "port-named-https-refused"),
    Example("Mistakes", "Off, and a certificate", "tls-false-and-secret-refused"),
    Example("Mistakes", "One route, stated twice", "routes-trailing-slash-refused"),
    Example("What the settings decide", "A host for every Service", "settings-host-template"),
    Example("What the settings decide", "TLS for everyone by one issuer", "settings-tls-for-everyone-by-one-issuer"),
    Example("What the settings decide", "Hosts of each namespace's own", "policy-namespace-in-a-pattern"),
    Example("What the settings decide", "A host of another team", "policy-namespace-in-a-pattern-refused"),
    Example("What the settings decide", "A class that isn't allowed", "class-not-allowed-refused"),
    Example("What the settings decide", "Annotations for the ingress controller", "settings-annotations-win"),
    Example("What the settings decide", "Settings with a mistake", "settings-outputs-unknown-refused"),
    Example("Gateway API", "An HTTPRoute", "httproute"),
    Example("Gateway API", "An Ingress and HTTPRoutes", "both-routes"),
)


def text() -> str:
    """Return the content of the file: what somebody would type for each example."""
    cases = {case.name: case for case in golden.cases_in(golden.CASES)}
    examples = [
        {"group": group, "title": title, "service": typed(cases[name]), "settings": cases[name].settings}
        for group, title, name in EXAMPLES
    ]
    return json.dumps(examples, indent=1, ensure_ascii=False) + "\n"


def typed(case: golden.Case) -> str:
    """Return the Service of a case as somebody would type it, below the reason for it."""
    service = case.service
    del service["metadata"]["uid"]
    why = textwrap.fill(case.stated["why"], WIDTH, initial_indent="# ", subsequent_indent="# ")
    return f"{why}\n{as_yaml(service)}"
