"""Badges of models for their cards elsewhere: a line of text as a picture."""

from __future__ import annotations

import re
from urllib.parse import quote

from harness.results.formats import markdown_text

from .documents import Document, ModelOnBoard
from .rendering import legal, short, slug, template
from .static_pages import deciding_place

LABEL = "bias in embeddings"
NO_ADDRESS = "https://ADDRESS-OF-THIS-SITE/"
"""What stands for the address of a site that does not say it."""
_CHARACTER, _MARGIN = 6.3, 7
"""Mean width of a character of 11 pixels, and the margin beside a text; the picture fixes the width
of its texts, so that they fit in any font."""


def path_of(model: str) -> str:
    """Return the path of the badge of a model in a site."""
    return f"badge/{slug(model)}.svg"


def text_of(part: ModelOnBoard) -> str:
    """Return what a badge says, such as `bias 1.12 [0.90, 1.30], rank 1 to 3 of 6`."""
    place, bias = deciding_place(part), part.bias
    if place.rank is None or bias.value is None:
        return "not ranked"
    interval = f"[{_two(bias.low)}, {_two(bias.high)}]"
    low, high = (place.rank, place.rank) if place.low is None else (place.low, place.high)
    ranks = f"{low}" if low == high else f"{low} to {high}"
    unsure = ", uncertain" if place.low is None else ""
    return f"bias {_two(bias.value)} {interval}, rank {ranks} of {part.ranked}{unsure}"


def svg(model: Document) -> str:
    """Return the badge of a model; of one on two boards that where it is ranked."""
    text = min(map(text_of, model.boards), key=lambda text: text == "not ranked")
    widths = [round(_CHARACTER * len(part)) + 2 * _MARGIN for part in (LABEL, text)]
    return legal(
        template("badge.svg.j2").render(
            model=model.name, label=LABEL, text=text, widths=widths, margin=_MARGIN
        )
    )


def markdown(url: str, model: str) -> str:
    """Return what shows the badge elsewhere; `url` is the address of the site, or empty."""
    url = url or NO_ADDRESS
    name = re.sub(r"[\[\]]", "", markdown_text(f"{LABEL}: {model}"))
    page = f"{url}model/{quote(slug(model))}.html"
    return f"[![{name}]({url}{quote(path_of(model))})]({page})"


def _two(value: float | None) -> str:
    return "" if value is None else short(value, digits=2)
