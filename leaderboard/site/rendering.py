"""Templates and number formats of the pages that Python writes; templates escape every text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import harness

if TYPE_CHECKING:
    import jinja2

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


def short(value: float, *, sign: bool = False) -> str:
    """Return a number with three decimals and a minus sign (not a hyphen); never `−0.000`."""
    text = format(round(value, 3) + 0.0, "+.3f" if sign else ".3f")
    return text.replace("-", "−")
