"""The examples of `ingress-manager play`: some of the cases in tests/cases. `make cases` writes them into the package.

So whatever somebody chooses on the page is a Service of which the tests say what it becomes.
"""

import json
import textwrap

from devcluster.build import REPOSITORY
from ingress_manager.commands.printing.objects import as_yaml
from tests import golden

FILE = REPOSITORY / "ingress_manager/commands/page/examples.json"

WIDTH = 60
"""Characters of a comment. On the page, there is room for that many."""


EXAMPLES = {
    "To begin with": {
        "A host and a certificate": "host-and-tls",
        "One annotation, and the defaults": "http-true",
        "No annotation, and no Ingress": "http-absent",
        "Every annotation": "every-annotation",
    },
    "Hosts, paths and ports": {
        "Several hosts": "host-several",
        "One exact path": "path-type-exact",
        "A port by its name": "port-by-name",
        "Several routes": "routes-take-the-rest-from-the-annotations",
    },
    "Mistakes": {
        "An annotation with a slip of the pen": "annotation-unknown-refused",
        "Which of the ports?": "port-ambiguous-refused",
        "Off, and a certificate": "tls-false-and-secret-refused",
        "One route, stated twice": "routes-trailing-slash-refused",
    },
    "What the settings decide": {
        "A host for every Service": "settings-host-template",
        "TLS for everyone by one issuer": "settings-tls-for-everyone-by-one-issuer",
        "Hosts of each namespace's own": "policy-namespace-in-a-pattern",
        "A host of another team": "policy-namespace-in-a-pattern-refused",
        "Settings with a mistake": "settings-outputs-unknown-refused",
    },
    "Gateway API": {"An HTTPRoute": "httproute", "An Ingress and HTTPRoutes": "both-routes"},
}
"""Of each group, what the page calls a case."""


def text() -> str:
    """Return the content of the file: what somebody would type for each example."""
    cases = {case.name: case for case in golden.cases_in(golden.CASES)}
    examples = [
        {"group": group, "title": title, "service": typed(cases[name]), "settings": cases[name].settings}
        for group, cases_of in EXAMPLES.items()
        for title, name in cases_of.items()
    ]
    return json.dumps(examples, indent=1, ensure_ascii=False) + "\n"


def typed(case: golden.Case) -> str:
    """Return the Service of a case as somebody would type it, below the reason for it."""
    service = case.service
    del service["metadata"]["uid"]
    why = textwrap.fill(case.stated["why"], WIDTH, initial_indent="# ", subsequent_indent="# ")
    return f"{why}\n{as_yaml(service)}"
