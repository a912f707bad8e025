"""Badges of models for their cards elsewhere: a picture, and a small page for an iframe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import polars as pl

from harness.results.formats import NOTHING, markdown_text

from ..boards.board import Board
from .documents import Place
from .rendering import legal, short, slug, template
from .static_pages import Site, place_texts

LABEL = "bias in embeddings"
SIZE = (420, 190)
"""Width and height of the small page, in pixels."""
_CHARACTER, _MARGIN = 6.3, 7
"""Mean width of a character of 11 pixels, and the margin beside a text; the picture fixes the width
of its texts, so that they fit in any font."""


@dataclass(frozen=True)
class Badge:
    """What a board says of a model in one line.

    Parameters
    ----------
    model
        Its name.
    kind
        Kind of embeddings of the board.
    benchmark, title
        Name and title of the benchmark, the one that the board opens on.
    ranked
        Number of models that are ranked on it.
    bias
        Mean bias with its interval, null where it is not known.
    places
        The set of ranks that holds the true one; a rank alone if there is no set; empty if the
        model is not ranked.
    reference
        The model whose bias is 1.
    """

    model: str
    kind: str
    benchmark: str
    title: str
    ranked: int
    bias: tuple[float | None, float | None, float | None]
    places: str
    reference: str

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return slug(self.model)

    @property
    def text(self) -> str:
        """The line, such as `bias 1.12 [0.90, 1.30] · rank 1–3 of 6`."""
        if not self.places:
            return "not ranked"
        return f"bias {self.bias_text} · rank {self.places} of {self.ranked}"

    @property
    def bias_text(self) -> str:
        """The bias with its interval."""
        value, low, high = self.bias
        if value is None:
            return "not known"
        ends = "" if low is None or high is None else f" [{_two(low)}, {_two(high)}]"
        return _two(value) + ends

    def svg(self) -> str:
        """Return the badge as a picture."""
        widths = [round(_CHARACTER * len(text)) + 2 * _MARGIN for text in (LABEL, self.text)]
        return legal(
            template("badge.svg.j2").render(
                badge=self, label=LABEL, left=widths[0], right=widths[1], margin=_MARGIN
            )
        )

    def html(self, site: Site) -> str:
        """Return the small page."""
        low, high = self.bias[1], self.bias[2]
        ends = [0.0, 1.0, *(value for value in self.bias if value is not None)]
        span = max(ends) - min(ends)
        places = [
            None if value is None else round(300 * (value - min(ends)) / span, 1)
            for value in (0.0, 1.0, self.bias[0], low, high)
        ]
        return template("embed.html.j2").render(badge=self, site=site, places=places)

    def snippets(self, url: str) -> dict[str, str]:
        """Return what shows the badge and the small page elsewhere; `url` is that of the site."""
        page, picture = f"{url}model/{quote(self.slug)}.html", f"{url}badge/{quote(self.slug)}.svg"
        name = re.sub(r"[\[\]]", "", markdown_text(f"{LABEL}: {self.model}"))
        width, height = SIZE
        return {
            "Markdown": f"[![{name}]({picture})]({page})",
            "HTML": (f'<a href="{page}"><img src="{picture}" alt="{LABEL}" height="20"></a>'),
            "iframe": (
                f'<iframe src="{url}embed/{quote(self.slug)}.html" title="{LABEL}" '
                f'width="{width}" height="{height}" loading="lazy"></iframe>'
            ),
        }


def badges(boards: Sequence[Board]) -> dict[str, Badge]:
    """Return the badge of each model, by its slug; of a model on two boards that where it ranks."""
    found: dict[str, Badge] = {}
    for badge in (badge for board in boards for badge in _of_board(board)):
        known = found.get(badge.slug)
        if known is None or (badge.places and not known.places):
            found[badge.slug] = badge
    return found


def _of_board(board: Board) -> Iterator[Badge]:
    part = board.benchmarks[0]
    models = board.rows.filter(role="model").select("row", "model")
    ranks: list[dict[str, Any]] = models.join(part.ranks, on="row", how="left").to_dicts()
    ranked = part.ranks.filter(pl.col("rank").is_not_null()).height
    for line in ranks:
        place = Place(rank=line["rank"], low=line["rank_low"], high=line["rank_high"])
        rank, could_be = place_texts(place)
        places = rank if could_be == NOTHING else could_be
        yield Badge(
            model=line["model"],
            kind=board.kind,
            benchmark=part.name,
            title=part.title,
            ranked=ranked,
            bias=(line["bias"], line["bias_low"], line["bias_high"]),
            places=places if line["rank"] is not None else "",
            reference=board.reference,
        )


def _two(value: float) -> str:
    """Return a number with two decimals."""
    return short(value, digits=2)
