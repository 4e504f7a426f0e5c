"""The 404 page: what was asked for in, headers and body out. Browsers get HTML, everybody else one line."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from string import Template
from typing import NamedTuple

LONGEST_HOST = 253
"""Characters of the host that are shown. No name in DNS is longer."""

LONGEST_PATH = 200
"""Characters of the path that are shown."""

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1f2328; --soft: #57606a; --box: #f3f5f7 }
@media (prefers-color-scheme: dark) { :root { --back: #14181d; --text: #e6e8eb; --soft: #a2abb5; --box: #22282f } }
body { margin: 0; background: var(--back); color: var(--text); font: 1.0625rem/1.55 system-ui, sans-serif }
main { box-sizing: border-box; max-width: 40rem; margin: auto; padding: 8vh 1.25rem 2rem }
h1 b { display: block; color: var(--soft); font-size: 1rem }
code { padding: .1em .35em; border-radius: .3rem; background: var(--box); overflow-wrap: anywhere }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .9em }
"""

HTML = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>404: There is no page here</title>
<style>$style</style>
</head>
<body>
<main>
<h1><b>404</b> There is no page here</h1>
<p>Nothing is served at this address:</p>
<p><code id="address" dir="ltr">$address</code></p>
<p>Is every letter right? Else ask whoever gave you the link.</p>
<footer>
<p>For the owner of the Service:</p>
<ul>
<li><code>kubectl describe service NAME</code> says under Events what is wrong.</li>
<li>The annotation <code>ingress/http</code> has to be <code>"true"</code>, and <code>ingress/host</code> and
<code>ingress/path</code> have to match this address.</li>
<li><code>kubectl get ingress,httproute</code> lists the hosts that are served.</li>
</ul>
</footer>
</main>
</body>
</html>
""")

POLICY = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: nothing but the page's own style, not even from the site itself."""


class Page(NamedTuple):
    """The page that is answered, always with status 404."""

    format: str
    """html or text."""

    headers: dict[str, str]
    body: bytes


def page(host: str, target: str, accept: str) -> Page:
    """Return the page for a request, by its target and two of its headers; "" stands for one that it doesn't have.

    A query isn't shown: it may hold what is nobody else's business.
    """
    address = shown(host, LONGEST_HOST) + shown(path_of(target), LONGEST_PATH)
    # Every browser names it. Who doesn't, as curl, reads it on a terminal, or is a program.
    is_html = "text/html" in accept.lower()
    line = f"404: There is no page here: {address}\n"
    body = (HTML.substitute(style=STYLE, address=escape(address)) if is_html else line).encode()
    headers = {
        "Content-Type": f"text/{'html' if is_html else 'plain'}; charset=utf-8",
        "Content-Length": str(len(body)),
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Vary": "Accept",
    }
    return Page("html" if is_html else "text", headers, body)


def path_of(target: str) -> str:
    """Return the path of a request's target (RFC 9112, section 3.2); "" where it has none, as in `OPTIONS *`."""
    without_authority = re.sub(r"^[a-z][a-z0-9+.-]*://[^/?#]*", "", target, flags=re.IGNORECASE)
    path = re.split(r"[?#]", without_authority, maxsplit=1)[0]
    return path if path.startswith("/") else ""


def shown(sent: str, length: int) -> str:
    """Return a part of an address, which came as bytes (one character each), in ASCII, and cut where it is too long."""
    text = re.sub(r"[^!-~]", lambda found: f"%{ord(found[0]):02X}", sent)
    return text if len(text) <= length else text[:length] + "…"
