"""Text that people read on a terminal: what others wrote is shown as it is, and cannot act.

Names, errors, reasons and texts come from servers, files and records. A control character in them
could clear a screen, hide a line or change its order. Each is shown as a replacement character.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Final, TextIO

LONGEST: Final = 2_000
"""Characters of a text of others in one line."""
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, also those of escape sequences
    r"\xad\u180e\u200b\u2060-\u2065\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # no glyph
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # change the order of what is read
    r"\u2028\u2029\ud800-\udfff"  # further ends of lines, and halves of characters
)
_IN_LINES = re.compile(f"[{_HIDDEN}]")
_IN_A_LINE = re.compile(rf"[\t\n{_HIDDEN}]")


def printable(text: str, longest: int | None = LONGEST) -> str:
    """Return a text of others in one line, without characters that act, and not too long.

    Joiners stay: words of some languages have them.

    Parameters
    ----------
    text
        Any text.
    longest
        Most characters; a longer text is cut, and ends with `…`. None for no limit.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[: longest - 1]}…"
    return _IN_A_LINE.sub("\N{REPLACEMENT CHARACTER}", text)


def printable_lines(text: str) -> str:
    """Return a text of any length without characters that act; ends of lines and tabs stay."""
    return _IN_LINES.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def printable_json(text: str) -> str:
    r"""Return the same JSON, in which characters that act are written such as `\u202e`."""
    return _IN_LINES.sub(lambda match: _escaped(match[0]), text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def echo(
    text: str | Path = "", *, err: bool = False, nl: bool = True, italic: bool = False
) -> None:
    """Print a text on standard output, without characters that act; all commands print by this.

    Parameters
    ----------
    text
        What is printed, in one line or more.
    err
        On standard error.
    nl
        With the end of a line.
    italic
        In italics, if it is a terminal.
    """
    import click

    line = printable_lines(str(text))
    line = click.style(line, italic=True) if italic else line
    click.echo(line, None if err else stdout(), err=err, nl=nl)  # noqa: TID251


_stdout: ContextVar[TextIO | None] = ContextVar("stdout", default=None)


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """Send what others print, such as models and metrics, to standard error; not what `echo` does.

    So standard output has what a command says and nothing else.
    """
    token = _stdout.set(stdout())
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _stdout.reset(token)


def stdout() -> TextIO:
    """Return standard output, also within `apart`."""
    return (sys.stdout is sys.stderr and _stdout.get()) or sys.stdout
