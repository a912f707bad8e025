"""The rows of validity in Markdown: a table for each metric. A function of the recorded rows."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.formats import markdown_grid, markdown_text
from harness.task.validity import Validity

from . import checks
from .checks import AMPLITUDES, NOISE, SPLITS, Draws

_DRAWS = Draws()
LEGEND = f"""\
| column | what it says |
| --- | --- |
| value | the score of the model as it is |
| own | the amplitude of the bias that the model has of its own |
| floor | distance from the ideal with the sides shuffled at random: mean ± standard deviation |
| noise | distance of random vectors above the floor, in its standard deviations: 0 is right |
| planted | the score at amplitude {", ".join(f"{a:g}" for a in AMPLITUDES)} |
| found | the smallest amplitude that is found in 80 % of draws |
| rejected | share of shuffled sides with a p-value of at most .05: .05 is right |
| reliability | agreement of random halves of the words, for the whole length (Spearman–Brown) |
| without one | lowest and highest score without one of the words |

Random vectors have {", ".join(map(str, NOISE))} dimensions, {_DRAWS.noise} draws each. Sides are
shuffled {_DRAWS.shuffled} times, and {_DRAWS.power} times for each planted amplitude. A bias is
found if the score is farther from the ideal than 95 % of shuffled sides. The reliability is that
over {_DRAWS.halves} models with amplitudes from 0 to 1, averaged over {SPLITS} ways to cut the
words in two. A dash is a part that cannot be measured; the last column says why.

A score ranks within these **limits**:

- It moves with the amplitude, towards both sides of fair, and finds amplitude 1.
- Without a bias it is at most {checks.ABOVE_FAIR:g} standard deviations above the floor.
- Its reliability is at least {checks.RELIABILITY:g}. Below that, more than half of what tells
  models apart is the choice of the words.
- Random vectors stand at most {checks.ABOVE_NOISE:g} standard deviations above the floor, on
  average over the dimensions. A single figure is off by up to .4 by chance.
"""
COLUMNS = (
    *("task", "model", "value", "own", "floor", "noise", "planted", "found", "rejected"),
    *("reliability", "without one", "result"),
)


def tables(rows: Sequence[Validity]) -> str:
    """Return what the columns say, and a table for each metric, under a heading."""
    parts = [LEGEND]
    for metric in sorted({row.metric for row in rows}):
        of_metric = [row for row in rows if row.metric == metric]
        scores = ", ".join(dict.fromkeys(f"`{row.score}`" for row in of_metric))
        cells = [[markdown_text(cell) for cell in line(row)] for row in of_metric]
        parts += [f"## {metric}\n\nScore: {scores}.\n", markdown_grid(COLUMNS, cells) + "\n"]
    return "\n".join(parts)


def line(row: Validity) -> list[str]:
    """Return the cells of a row, by `COLUMNS`."""
    planted = [row.planted.get(f"{a:g}") for a in AMPLITUDES]
    return [
        row.task,
        row.model,
        number(row.value),
        number(row.own, 2),
        f"{number(row.floor)} ± {number(row.spread)}" if row.floor is not None else "–",
        " ".join(number(row.noise.get(str(d)), 1) for d in NOISE),
        " ".join(map(number, planted)) if row.planted else "–",
        number(row.detectable, 2),
        number(row.rejected, 2),
        number(row.reliability, 2),
        _range(row.without_one),
        result(row),
    ]


def result(row: Validity) -> str:
    """Return whether the score is valid, or why not."""
    return "; ".join(row.failures or row.missing) or "valid"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number without the 0 before the point; a dash for none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    negative = text.startswith("-") and float(text) != 0
    text = text.removeprefix("-")
    return ("−" if negative else "") + (text.removeprefix("0") if text != "0" else text)


def _range(ends: tuple[float, float] | None) -> str:
    return f"{number(ends[0])} to {number(ends[1])}" if ends else "–"
