"""Templates, styles and number formats of all pages; templates escape every text of a record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import harness

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

GENERATOR = "Embedding Bias Harness leaderboard"
"""Text in the head of every page, by which a page of ours is known from any other."""
MADE_BY = f"{GENERATOR} {harness.__version__}"

_FOLDER = Path(__file__).parent / "templates"


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
