"""`ingress-manager play`: the shell."""

import errno
import gc
import json
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from ingress_manager.commands.play.answer import play as result_of
from ingress_manager.commands.printing.console import note
from ingress_manager.commands.reading.options import settings_option
from ingress_manager.commands.reading.settings import settings_of_file

PORT = 8090
PAGE = Path(__file__).with_name("page")

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Typed(msgspec.Struct):
    """What the page asks with."""

    service: str
    settings: str


@click.command(short_help="Show in a browser what Services become, as you type.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port of the page on 127.0.0.1; 0: any free port.",
)
@settings_option("the defaults")
def play(port: int, settings: str | None) -> None:
    """Show in a browser what Services become, while you type them and the settings.

    It prints the address of the page. Only this machine can open the page, and the page asks no other. Ctrl-C ends it.

    Exit status: 0 after Ctrl-C, 2 for wrong use or if the port is taken.

    \b
    Examples:
      ingress-manager play
      ingress-manager play --settings settings.yaml
      ingress-manager play --port 0
    """  # noqa: D301 - \b keeps click from joining lines
    # The other commands end soon, and work without it.
    gc.enable()
    # Importing it takes as long as importing half of the rest, and no other command needs it.
    from ingress_manager.commands.play.loopback import Loopback  # noqa: PLC0415

    files = page(settings_of_file(settings).text if settings is not None else "")
    try:
        server = Loopback(port, files, result)
    except OSError as error:
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"can't be used: {error.strerror}"
        raise click.UsageError(f"port {port} {reason}; --port N takes another, --port 0 any that is free") from error
    with suppress(KeyboardInterrupt), server:
        click.echo(server.url)
        note("Open it in a browser. Ctrl-C ends it.")
        server.serve_forever()


def page(settings: str) -> dict[str, tuple[str, bytes]]:
    """Return the files of the page: the type and the content of each, by its path. `settings` stand in it at first."""
    files = {f"/{file.name}": file.read_bytes() for file in PAGE.iterdir()}
    examples = json.loads(files.pop("/examples.json"))
    start = msgspec.json.encode({"settings": settings, "examples": examples})
    named = {path: (CONTENT_TYPES[Path(path).suffix], content) for path, content in files.items()}
    return {**named, "/": named["/page.html"], "/start.json": ("application/json", start)}


def result(body: bytes) -> bytes:
    """Return what the page shows, as JSON. Raises ValueError when it isn't asked for as the page does."""
    try:
        # A browser can send half of a character, which msgspec doesn't read.
        typed = msgspec.convert(json.loads(body), Typed)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise ValueError('it must be {"service": "…", "settings": "…"}') from error
    return msgspec.json.encode(result_of(typed.service, typed.settings))
