"""The 404 page: what was asked for in, headers and body out."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from string import Template
from typing import NamedTuple

import msgspec

from not_found.negotiation import Format, preferred_format, preferred_language
from not_found.texts import LANGUAGES, Texts

LONGEST_HOST = 253
"""Characters of the host that are shown. No name in DNS is longer."""

LONGEST_PATH = 200
"""Characters of the path that are shown."""

BLANK = re.compile("[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\U000e0100-\\U000e01ef]")
"""Letters and marks that can't be seen, though Unicode calls them printable."""

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1f2328; --soft: #57606a; --box: #f3f5f7; --link: #0550ae }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181d; --text: #e6e8eb; --soft: #a2abb5; --box: #22282f; --link: #7ab8ff }
}
body { margin: 0; background: var(--back); color: var(--text); font: 1.0625rem/1.55 system-ui, sans-serif }
main { box-sizing: border-box; max-width: 40rem; margin: auto; padding: 8vh 1.25rem 2rem }
h1 { margin: 0 0 1.5rem; font-size: 1.75rem; line-height: 1.25 }
h1 b { display: block; color: var(--soft); font-size: 1rem; letter-spacing: .15em }
h2 { margin: 2rem 0 .5rem; font-size: 1.0625rem }
p, ul { margin: .5rem 0 }
ul { padding-left: 1.25rem }
a { color: var(--link) }
code, #address { border-radius: .3rem; background: var(--box); font: .9em/1.5 ui-monospace, monospace }
code { padding: .1em .35em; overflow-wrap: anywhere }
#address { padding: .7rem .9rem; overflow: hidden; overflow-wrap: anywhere; unicode-bidi: isolate }
footer { margin-top: 2.5rem; border-top: 1px solid var(--box); color: var(--soft); font-size: .9em }
footer h2 { margin-top: 1.25rem; font-size: 1em }
"""

HTML = Template("""<!DOCTYPE html>
<html lang="$language">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>404: $title</title>
<style>$style</style>
</head>
<body>
<main>
<h1><b>404</b> $title</h1>
<p>$asked</p>
<p id="address" dir="ltr">$address</p>
<h2>$visitor</h2>
<ul>
$visitor_list
</ul>
<footer>
<h2>$owner</h2>
<ul>
$owner_list
</ul>
</footer>
</main>
</body>
</html>
""")

POLICY = "; ".join(
    (
        "default-src 'none'",
        f"style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy: nothing but the page's own style, not even from the site itself."""

CONTENT_TYPES = {
    Format.HTML: "text/html; charset=utf-8",
    Format.JSON: "application/problem+json",
    Format.TEXT: "text/plain; charset=utf-8",
}


class Page(NamedTuple):
    """The page that is answered, always with status 404."""

    format: Format
    language: str
    headers: dict[str, str]
    body: bytes


def page(host: str, target: str, accept: str, accept_language: str) -> Page:
    """Return the page for a request, by its target and three of its headers; "" stands for one that it doesn't have.

    A query isn't shown: it may hold what is nobody else's business.
    """
    format_ = preferred_format(accept)
    language = preferred_language(accept_language, LANGUAGES)
    path = path_of(target)
    address = cut(readable(host), LONGEST_HOST) + cut(readable(path), LONGEST_PATH)
    # Whoever is at the start already needs no way to it.
    is_start = path in {"", "/"}
    body = WRITERS[format_](language, LANGUAGES[language], address, is_start).encode()
    headers = {
        "Content-Type": CONTENT_TYPES[format_],
        "Content-Language": language,
        "Content-Length": str(len(body)),
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Vary": "Accept, Accept-Language",
    }
    return Page(format_, language, headers, body)


def path_of(target: str) -> str:
    """Return the path of a request's target (RFC 9112, section 3.2); "" where it has none, as in `OPTIONS *`."""
    without_authority = re.sub(r"^[a-z][a-z0-9+.-]*://[^/?#]*", "", target, flags=re.IGNORECASE)
    path = re.split(r"[?#]", without_authority, maxsplit=1)[0]
    return path if path.startswith("/") else ""


def readable(sent: str) -> str:
    """Return a part of an address that came as bytes (one character each), as people read it.

    Percent-encoded letters become letters (RFC 3987, section 3.2). What is encoded in ASCII stays, so that %2F is told
    from a slash. What can't be seen, or turns text around, is shown percent-encoded.
    """
    encoded = re.sub(r"[^!-~]", lambda found: f"%{ord(found[0]):02X}", sent)
    return re.sub(r"(?:%[89A-F][0-9A-F])+", letters, encoded, flags=re.IGNORECASE)


def letters(found: re.Match[str]) -> str:
    """Return percent-encoded UTF-8 as the letters that it stands for; as it is where it isn't letters alone."""
    try:
        decoded = bytes.fromhex(found[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return found[0]
    return decoded if decoded.isprintable() and not BLANK.search(decoded) else found[0]


def cut(text: str, length: int) -> str:
    """Return at most so many characters of a text, and an ellipsis where some are left out."""
    return text if len(text) <= length else text[:length] + "…"


def html(language: str, texts: Texts, address: str, is_start: bool) -> str:
    """Return the page in HTML. It is XML, too."""
    start = [] if is_start else [f'<a href="/">{marked(texts.start)}</a>']
    visitor = [marked(texts.address), *start, marked(texts.link)]
    owner = [marked(text) for text in (texts.events, texts.annotations, texts.ingresses)]
    return HTML.substitute(
        language=language,
        style=STYLE,
        title=escape(texts.title),
        asked=escape(texts.asked),
        address=escape(address),
        visitor=escape(texts.visitor),
        visitor_list="\n".join(f"<li>{item}</li>" for item in visitor),
        owner=escape(texts.owner),
        owner_list="\n".join(f"<li>{item}</li>" for item in owner),
    )


def marked(text: str) -> str:
    """Return one of our texts in HTML: what stands between backticks is code."""
    return re.sub("`(.+?)`", r"<code>\1</code>", escape(text, quote=False))


def plain(_language: str, texts: Texts, address: str, is_start: bool) -> str:
    """Return the page in plain text."""
    start = [] if is_start else [f"{texts.start}: /"]
    lines = [
        f"404: {texts.title}",
        "",
        texts.asked,
        f"  {address}",
        "",
        texts.visitor,
        *(f"- {item}" for item in (texts.address, *start, texts.link)),
        "",
        texts.owner,
        *(f"- {item}" for item in (texts.events, texts.annotations, texts.ingresses)),
    ]
    return "".join(f"{line}\n" for line in lines)


def problem(_language: str, texts: Texts, address: str, _is_start: bool) -> str:
    """Return the page as problem details (RFC 9457), whose title is that of the status, in every language."""
    details = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": f"{texts.asked} {address}"}
    return msgspec.json.encode(details).decode() + "\n"


WRITERS = {Format.HTML: html, Format.JSON: problem, Format.TEXT: plain}
