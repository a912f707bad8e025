"""Badges of models for their cards elsewhere: a picture, and a small page for an iframe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import polars as pl

from harness.results.formats import markdown_text

from ..boards.board import Board
from .documents import Place
from .rendering import legal, short, slug, template
from .static_pages import NO_LIMIT, Site

LABEL = "bias in embeddings"
LONGEST = 32
"""Most characters of the name of the reference."""
NO_ADDRESS = "https://ADDRESS-OF-THIS-SITE/"
"""What stands for the address of a site that does not say it."""
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
    place
        The rank and the set of ranks that holds the true one; null if it is not ranked.
    reference
        The model whose bias is 1; empty if it is not known.
    """

    model: str
    kind: str
    benchmark: str
    title: str
    ranked: int
    bias: tuple[float | None, float | None, float | None]
    place: Place
    reference: str

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return slug(self.model)

    @property
    def text(self) -> str:
        """The line, such as `bias 1.12 [0.90, 1.30], where 1 = ref · rank 1 to 3 of 6`."""
        if self.place.rank is None:
            return "not ranked"
        return f"bias {self.bias_text}, {self.unit} · {self.rank_text}"

    @property
    def bias_text(self) -> str:
        """The bias with its interval, or that it has no upper limit."""
        value, low, high = self.bias
        if value is None:
            return "not known"
        if low is None or high is None:
            return f"{_two(value)} ({NO_LIMIT})"
        return f"{_two(value)} [{_two(low)}, {_two(high)}]"

    @property
    def unit(self) -> str:
        """What a bias of 1 is."""
        if self.model == self.reference:
            return "the reference"
        name = self.reference or "the reference"
        return f"where 1 = {name if len(name) <= LONGEST else name[: LONGEST - 1] + '…'}"

    @property
    def rank_text(self) -> str:
        """The rank, and how sure it is."""
        of = f"of {self.ranked}"
        rank, low, high = self.place.rank, self.place.low, self.place.high
        if low is None:
            return f"rank {rank} {of}, uncertain"
        return f"rank {low} {of}" if low == high else f"rank {low} to {high} {of}"

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
        """Return what shows the badge and the small page elsewhere, as `snippets` does."""
        return snippets(url, self.model, self.slug)


def snippets(url: str, model: str, slug: str) -> dict[str, str]:
    """Return what shows a badge and the small page elsewhere, by the language of the text.

    Parameters
    ----------
    url
        Address of the site, with a slash at its end; empty if it is not known.
    model, slug
        Name of the model, and its name in addresses.
    """
    url = url or NO_ADDRESS
    page, picture = f"{url}model/{quote(slug)}.html", f"{url}badge/{quote(slug)}.svg"
    name = re.sub(r"[\[\]]", "", markdown_text(f"{LABEL}: {model}"))
    width, height = SIZE
    return {
        "Markdown": f"[![{name}]({picture})]({page})",
        "HTML": f'<a href="{page}"><img src="{picture}" alt="{LABEL}" height="20"></a>',
        "iframe": (
            f'<iframe src="{url}embed/{quote(slug)}.html" title="{LABEL}" '
            f'width="{width}" height="{height}" loading="lazy"></iframe>'
        ),
    }


def badges(boards: Sequence[Board]) -> dict[str, Badge]:
    """Return the badge of each model, by its slug; of a model on two boards that where it ranks."""
    found: dict[str, Badge] = {}
    for badge in (badge for board in boards for badge in _of_board(board)):
        known = found.get(badge.slug)
        if known is None or (known.place.rank is None and badge.place.rank is not None):
            found[badge.slug] = badge
    return found


def _of_board(board: Board) -> Iterator[Badge]:
    part = board.benchmarks[0]
    models = board.rows.filter(role="model").select("row", "model")
    ranks: list[dict[str, Any]] = models.join(part.ranks, on="row", how="left").to_dicts()
    ranked = part.ranks.filter(pl.col("rank").is_not_null()).height
    for line in ranks:
        yield Badge(
            model=line["model"],
            kind=board.kind,
            benchmark=part.name,
            title=part.title,
            ranked=ranked,
            bias=(line["bias"], line["bias_low"], line["bias_high"]),
            place=Place(rank=line["rank"], low=line["rank_low"], high=line["rank_high"]),
            reference=board.reference,
        )


def _two(value: float) -> str:
    """Return a number with two decimals."""
    return short(value, digits=2)
