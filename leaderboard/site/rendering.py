"""Templates, styles, cells and number formats of all pages; templates escape every text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import harness

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

GENERATOR = "Embedding Bias Harness leaderboard"
"""Text in the head of every page, by which a page of ours is known from any other."""
MADE_BY = f"{GENERATOR} {harness.__version__}"

LAST = 1e99
"""Sort key of an empty cell, so that it sorts last."""
_FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Parameters
    ----------
    text
        The text shown.
    order
        The sort key.
    tip
        The text shown on hover or tap.
    distance
        From 0, best, to 1, drawn as a tint and a bar; None draws neither.
    marks
        Symbols after the text.
    """

    text: str
    order: float | str
    tip: str = ""
    distance: float | None = None
    marks: str = ""


EMPTY = Cell("–", LAST)


def template(name: str) -> jinja2.Template:
    """Return a template of this package; it escapes every value but `Markup`."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)


def inline(name: str) -> Markup:
    """Return a style or script of this package, which is not escaped."""
    from markupsafe import Markup

    return Markup((_FOLDER / name).read_text("utf-8"))  # noqa: S704 -- our own file


def short(value: float, *, sign: bool = False) -> str:
    """Return a number with three decimals and a minus sign (not a hyphen); never `−0.000`."""
    text = format(round(value, 3) + 0.0, "+.3f" if sign else ".3f")
    return text.replace("-", "−")


def interval(low: float | None, high: float | None, *, sign: bool = False) -> Cell:
    """Return an interval as a cell, which sorts by its lower end."""
    if low is None or high is None:
        return EMPTY
    return Cell(f"{short(low, sign=sign)} to {short(high, sign=sign)}", low)


def count(n: int, noun: str, plural: str | None = None) -> str:
    """Return a number of things: `1 task`, `2 tasks`, `2 families`."""
    return f"{n} {noun if n == 1 else plural or noun + 's'}"
