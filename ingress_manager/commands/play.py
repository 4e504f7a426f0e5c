"""`ingress-manager play`: a page in a browser that shows what becomes of what is typed, Services and settings.

It is what `render` prints: the same function decides. Any text has a result.
"""

import gc
import json
import logging
import socket
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingress_manager.commands.printing import Message, as_yaml, counted, note
from ingress_manager.commands.reading.manifests import SERVICE, of_kind, read
from ingress_manager.commands.reading.options import settings_option
from ingress_manager.commands.reading.settings import settings_of_file
from ingress_manager.commands.reasons import REASONS
from ingress_manager.commands.render import rendered
from ingress_manager.core.errors import Reason, SettingsError
from ingress_manager.core.settings import parse
from ingress_manager.core.text import one_line

if TYPE_CHECKING:
    from flask import Flask

ADDRESS = "127.0.0.1"
PAGE = Path(__file__).with_name("page")

LARGEST_BODY = 1024 * 1024
"""Bytes. A Service has at most some hundred thousand."""

HEADERS = {
    # The page's own files alone, and no script makes markup of text.
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@click.command(short_help="Show in a browser what Services become, as you type.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=8090,
    show_default=True,
    help="The port of the page on 127.0.0.1; 0: any free port.",
)
@settings_option("the defaults")
def play(port: int, settings: str | None) -> None:
    """Show in a browser what Services become, while you type them and the settings.

    It prints the address of the page. Only this machine can open the page, and the page asks no other. Ctrl-C ends it.

    Exit status: 0 after Ctrl-C, 2 for wrong use, or if the port is taken.

    \b
    Examples:
      ingress-manager play
      ingress-manager play --settings settings.yaml
      ingress-manager play --port 0
    """  # noqa: D301 - \b keeps click from joining lines
    # The other commands end soon, and work without it.
    gc.enable()
    text = settings_of_file(settings).text if settings is not None else ""
    try:
        from werkzeug.serving import make_server  # noqa: PLC0415 - it takes long, and no other command needs it
    except ImportError as error:
        raise click.UsageError("it needs Flask: run `pip install '.[hook]'` in a clone of ingress-manager") from error
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    try:
        listening = socket.create_server((ADDRESS, port))
    except OSError as error:
        raise click.UsageError(f"the port {port} can't be used: {error.strerror}") from error
    with listening, make_server(ADDRESS, port, app_of(text), threaded=True, fd=listening.fileno()) as server:
        click.echo(f"http://{ADDRESS}:{server.port}/")
        note("Open it in a browser. Ctrl-C ends it.")
        server.serve_forever()


def app_of(settings: str) -> "Flask":
    """Return the app of the page, in which `settings` stand at first.

    It answers neither a name of somebody else that leads here, nor what another page asks.
    """
    from flask import Flask, Response, abort, request  # noqa: PLC0415

    app = Flask(__name__, static_folder=PAGE, static_url_path="")
    app.config.update(TRUSTED_HOSTS=["localhost", ADDRESS], MAX_CONTENT_LENGTH=LARGEST_BODY)

    @app.get("/")
    def page() -> Response:
        return app.send_static_file("page.html")

    @app.get("/start.json")
    def start() -> dict[str, object]:
        return {"settings": settings, "examples": json.loads((PAGE / "examples.json").read_bytes())}

    @app.post("/result")
    def result() -> dict[str, Any]:
        if request.headers.get("Origin") != request.host_url.rstrip("/"):
            abort(403)
        return result_of(request.form["service"], request.form["settings"])

    @app.after_request
    def with_headers(response: Response) -> Response:
        response.headers.update(HEADERS)
        return response

    return app


def result_of(service: str, settings: str) -> dict[str, Any]:
    """Return what the Services in a text of YAML or JSON become with the settings in another. Never raises.

    The `state` is fine, refused, nothing (is wanted) or settings (which can't be used); beside the `headline` there are
    the `mistakes`, each with the `field`, service or settings, its `line`, 0 where none can be named, and what it is
    `about`; and the `objects`, each with its `name` and its `text`.
    """
    try:
        policy = parse(settings)
    except SettingsError as error:
        mistake = {"field": "settings", "line": error.line, "about": "", "sentence": error.sentence, "remedy": ""}
        headline = "The settings are wrong: the hook would not start with them."
        return {"state": "settings", "headline": headline, "mistakes": [mistake], "objects": []}
    manifests = read(service, "service")
    becomes = rendered(manifests.items, policy.without_pause())
    mistakes = list(mistakes_of([*manifests.unreadable, *becomes.messages]))
    kinds = Counter(each["kind"] for each in becomes.objects)
    made = " and ".join(counted(count, kind) for kind, count in kinds.items())
    if mistakes:
        rest = f" Beside that, it becomes {made}." if made else ""
        state, headline = "refused", f"Refused: {counted(len(mistakes), 'mistake')}.{rest}"
    elif made:
        state, headline = "fine", f"Fine: it becomes {made}."
    else:
        lacking = "has the annotation ingress/http" if of_kind(manifests.items, SERVICE) else "is here"
        state, headline = "nothing", f"Nothing wanted: no Service {lacking}."
    if policy.pauses:
        headline += f" The settings pause {policy.pauses}: nothing changes there until paused is false."
    objects = [
        {"name": f"{each['kind']} {each['metadata']['namespace']}/{each['metadata']['name']}", "text": as_yaml(each)}
        for each in becomes.objects
    ]
    return {"state": state, "headline": headline, "mistakes": mistakes, "objects": objects}


def mistakes_of(messages: Iterable[Message]) -> Iterator[dict[str, object]]:
    """Yield what is wrong with the Services. What helps against several mistakes is said once."""
    said = {""}
    for message in messages:
        remedy = REASONS[Reason(message.reason)] if message.reason else ""
        # What is about a text is the end of a sentence, before which other commands name the file.
        sentence = one_line(message.told if message.about else f"The text {message.sentence}")
        about = {"field": "service", "line": message.line, "about": one_line(message.about), "sentence": sentence}
        yield {**about, "remedy": "" if remedy in said else remedy}
        said.add(remedy)
