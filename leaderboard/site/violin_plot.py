"""The distributions of a study as shapes for a static drawing: no script draws them.

One line is a row of the study under one criterion: the density of its values over the folds, a
point for each fold, and their mean. Only places things; the template draws them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.study.cells import RESOLUTION
from harness.study.summary import Summary
from harness.study.violins import ANY, BEFORE, axis, groups

WIDTH, MARGIN, TOP = 480, 12, 8
LABEL, LANE, FOOT = 20, 28, 40
"""Heights of a line's label, of its drawing, and of the axis."""
LONGEST = 60
"""Letters of a label; a longer one is cut, since it stands in full in the table of changes."""
_DENSE = 4  # fewest different values that a density is drawn of


@dataclass(frozen=True)
class Line:
    """A row under a criterion.

    Parameters
    ----------
    label
        Row and criterion.
    y
        Middle of the line.
    outline
        Corners of the density, as the points of a polygon; empty without one.
    points
        Places of the folds.
    mean
        Place of their mean; None without values.
    number
        The mean.
    """

    label: str
    y: float
    outline: str
    points: tuple[tuple[float, float], ...]
    mean: float | None
    number: float


@dataclass(frozen=True)
class Drawing:
    """The distributions of a measure.

    Parameters
    ----------
    title
        The measure, its unit and its direction.
    lines
        By row of the study.
    ticks
        Places and texts of the axis.
    height
        Height of the drawing; it is `WIDTH` wide.
    """

    title: str
    lines: tuple[Line, ...]
    ticks: tuple[tuple[float, str], ...]
    height: int

    @property
    def bottom(self) -> int:
        """Return the place of the axis."""
        return self.height - FOOT + 8


def drawings(summary: Summary) -> list[Drawing]:
    """Return the distributions of each measure, in the study's order."""
    return [_drawing(summary, measure) for measure in summary.study.measures]


def _drawing(summary: Summary, measure: str) -> Drawing:
    values = []
    for row in summary.study.rows:
        for group in groups(summary):
            if row in group.rows:
                label = row if group.name in (BEFORE, ANY) else f"{row}, chosen by {group.name}"
                of_folds = np.array(summary.cells[group.criterion, row, measure].values)
                values.append((label, of_folds[np.isfinite(of_folds)]))
    ticks = _ticks(np.concatenate([of_folds for _, of_folds in values] or [np.zeros(0)]))
    low, high = ticks[0], ticks[-1]

    def place(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return MARGIN + (x - low) / (high - low) * (WIDTH - 2 * MARGIN)

    lines = tuple(
        _line(label, of_folds, place(of_folds), TOP + i * (LABEL + LANE) + LABEL + LANE / 2)
        for i, (label, of_folds) in enumerate(values)
    )
    texts = [f"{tick:.6g}".replace("-", "−") for tick in ticks]
    places = place(np.array(ticks)).round(1).tolist()
    return Drawing(
        axis(summary.study, measure),
        lines,
        tuple(zip(places, texts, strict=True)),
        TOP + len(lines) * (LABEL + LANE) + FOOT,
    )


def _line(label: str, values: NDArray[np.float64], x: NDArray[np.float64], y: float) -> Line:
    cut = label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
    # Folds with about the same value lie above each other; the order of the folds is no chance.
    heights = y + LANE * 0.3 * np.array([0, -1, 1, -0.5, 0.5])[np.arange(len(x)) % 5]
    points = tuple(zip(x.round(1).tolist(), heights.round(1).tolist(), strict=True))
    mean = round(float(x.mean()), 1) if len(x) else None
    number = float(values.mean()) if len(values) else math.nan
    return Line(cut, y, _outline(x, y), points, mean, number)


def _outline(x: NDArray[np.float64], y: float) -> str:
    """Return the outline of a density over the places of values, as wide as the line is high."""
    if len(set(x.round(1).tolist())) < _DENSE:
        return ""
    from scipy.stats import gaussian_kde

    grid = np.linspace(x.min(), x.max(), 41)
    density = gaussian_kde(x)(grid)
    density *= LANE / 2 / density.max()
    upper, lower = zip(grid, y - density, strict=True), zip(grid, y + density, strict=True)
    corners = [*upper, *reversed(list(lower))]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)


def _ticks(values: NDArray[np.float64]) -> list[float]:
    """Return round numbers from below the least value to above the greatest."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if high - low < RESOLUTION:
        low, high = low - 0.5, high + 0.5
    power = 10 ** math.floor(math.log10((high - low) / 4))
    step = next(n * power for n in (1, 2, 5, 10) if n * power >= (high - low) / 5)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [i * step for i in range(first, last + 1)]
