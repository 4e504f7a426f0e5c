"""`make install DOMAIN=…`: what becomes of the settings."""

import pytest

from devcluster.errors import DevClusterError
from ingress_manager.core.settings import parse
from tools.install import SETTINGS, with_domain

TEXT = SETTINGS.read_text(encoding="utf-8")


def test_each_namespace_has_hosts_of_its_own_below_the_domain_and_twice_is_as_once() -> None:
    written = with_domain(TEXT, "web.acme.test")
    assert with_domain(written, "web.acme.test") == written
    defaults, limits = parse(written).defaults, parse(written).limits
    assert (defaults.host, limits.hosts) == ("{service}.{namespace}.web.acme.test", ("*.{namespace}.web.acme.test",))


@pytest.mark.parametrize(
    ("text", "domain", "says"),
    [
        (TEXT, "no domain", "DOMAIN must be a domain, such as DOMAIN=apps.example.com: "),
        (TEXT.replace("#host:", "host:"), "web.acme.test", "state the host there yourself, and leave DOMAIN out"),
    ],
)
def test_what_would_be_wrong_is_refused(text: str, domain: str, says: str) -> None:
    with pytest.raises(DevClusterError) as refused:
        with_domain(text, domain)
    assert says in str(refused.value)
