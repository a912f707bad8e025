"""Two rows item by item: what the samples of a score say under one model and under another.

Figure 4 of Bolukbasi et al. (2016) is one use: professions' projections in one embedding against
those in another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from harness.errors import UnknownName, UsageError
from harness.results import resampling, samples
from harness.results.comparison import Comparison, Pair
from harness.results.record import Record, finite


@dataclass(frozen=True)
class Items:
    """One column of the samples of both records of a pair, for the items that both have.

    Parameters
    ----------
    context
        What both rows share, as in a comparison: a model, a mitigator, or both.
    pair
        The two records.
    column
        Name of the column.
    texts
        The n items.
    a, b
        Their n values in each record.
    """

    context: str
    pair: Pair
    column: str
    texts: tuple[str, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]

    @property
    def spearman(self) -> float | None:
        """Rank correlation of both; None for fewer than three items, or where all are equal."""
        from scipy.stats import spearmanr

        if len(self.texts) < 3 or 1 in (len(set(self.a)), len(set(self.b))):
            return None
        return finite(float(spearmanr(self.a, self.b).statistic))

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping per item."""
        values = zip(self.texts, self.a, self.b, strict=True)
        return [{"text": text, "a": a, "b": b} for text, a, b in values]

    def figure(self, a: str, b: str) -> dict[str, Any]:
        """Return a Plotly figure of the items; `a` and `b` name the axes."""
        points = {
            "type": "scatter",
            "mode": "markers",
            "x": list(self.a),
            "y": list(self.b),
            "text": [escape(text) for text in self.texts],  # Plotly interprets some HTML
            "hovertemplate": "%{text}<br>%{x:.3f}, %{y:.3f}<extra></extra>",
        }
        rho = "" if self.spearman is None else f", Spearman {self.spearman:.3f}"
        title = f"{self.pair.a.task.name}: {self.column} of {len(self.texts)} items{rho}"
        return {
            "data": [points],
            "layout": {
                "title": {"text": escape(title)},
                "xaxis": {"title": {"text": escape(a)}},
                "yaxis": {"title": {"text": escape(b)}},
            },
        }


def items_of(
    comparisons: Mapping[str, Comparison],
    column: str,
    folder: Path,
    folder_b: Path | None = None,
) -> list[Items]:
    """Return the items of each pair of records that has samples with a column of numbers.

    Parameters
    ----------
    comparisons
        Comparisons of two rows, by what both share.
    column
        Name of the column, such as `projection` or `contribution`.
    folder, folder_b
        The results folder, and that of the second records if it is another one.

    Raises
    ------
    UsageError
        If no pair has samples.
    UnknownName
        If no samples have the column.
    """
    chosen: list[Items] = []
    known: set[str] = set()
    pairs = [(context, pair) for context, of in comparisons.items() for pair in of.pairs]
    for context, pair in pairs:
        rows = _by_item(pair.a, folder), _by_item(pair.b, folder_b or folder)
        shared = [key for key in rows[0] if key in rows[1]]
        for key in shared[:1]:
            known |= {name for name, value in rows[0][key].items() if _is_number(value)}
        both = [(key, rows[0][key].get(column), rows[1][key].get(column)) for key in shared]
        numbers = [(key, a, b) for key, a, b in both if _is_number(a) and _is_number(b)]
        if numbers:
            keys, a, b = zip(*numbers, strict=True)
            texts = tuple(rows[0][key].get("text") or " : ".join(key) for key in keys)
            chosen.append(Items(context, pair, column, texts, tuple(a), tuple(b)))
    if not known:
        raise UsageError("these scores have no samples in common; run `harness eval --samples`")
    if not chosen:
        raise UnknownName("column", column, known)
    return chosen


def _by_item(record: Record, folder: Path) -> Mapping[tuple[str, ...], Mapping[str, Any]]:
    """Return the samples of a record by item: its input and text, or the texts of a pair."""
    rows: Sequence[Mapping[str, Any]] = ()
    if samples.exist(folder, record):
        rows = record.read_samples(folder)
    return {tuple(resampling.item(row).values()): row for row in rows}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
