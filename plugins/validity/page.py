"""The page of validity in Markdown: a table for each metric. A function of the recorded rows."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results import tables
from harness.task.validity import Validity

from . import checks
from .checks import AMPLITUDES, NOISE, SPLITS, Draws

_DRAWS = Draws()
INTRODUCTION = f"""\
# Is a score a measure of bias?

A formula can equal the paper's and still rank noise first. So each score that ranks models is read
on vectors whose bias is known. `harness validate-metric METRIC` measures the tables below for a
metric, yours too. `--record` keeps the rows in the file `validity.json` of the tasks, and
`harness validate-metric --recorded --out docs/validity.md` makes this page from them.
`harness show task NAME` prints the rows of a task.

Bias is planted along the direction between the two groups of a task, after the bias of the texts
themselves is taken out. At **amplitude 1** the two sides are as far apart as the groups are.
Differences between the texts of a side stay. Where each text has two versions of its own, such as a
stereotype and its opposite, it is moved between these, and amplitude 1 is the standard deviation of
the texts between their versions. A bias within classes is shuffled within them. What is ranked for
a query is moved towards it, and amplitude 1 is the standard deviation in a ranking.

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
| templates | lowest and highest score with a random half of the templates |

Random vectors have {", ".join(map(str, NOISE))} dimensions, {_DRAWS.noise} draws each. Sides are
shuffled {_DRAWS.shuffled} times, and {_DRAWS.power} times for each planted amplitude. The
reliability is that over {_DRAWS.halves} models whose amplitudes spread evenly from 0 to 1 (shuffled
sides with a planted bias), averaged over {SPLITS} ways to cut the words in two. A bias is found if
the score is farther from the ideal than 95 % of shuffled sides.

A score that breaks one of these **limits** does not rank:

- It moves with the amplitude, towards both sides of fair, and finds amplitude 1.
- Without a bias it is at most {checks.ABOVE_FAIR:g} standard deviations above the floor.
- Its reliability is at least {checks.RELIABILITY:g}. Below that, more than half of what tells
  models apart is the choice of the words. Four tasks of {checks.RELIABILITY:g} together have .8.
- Random vectors stand at most {checks.ABOVE_NOISE:g} standard deviations above the floor, on
  average over the three dimensions: a single figure is off by up to .4 by chance, and a few among
  hundreds by more.

A share of rejected sides above .1 does not keep a score from its rank, since p-values rank
nothing. It would say that the p-value takes the words of the sides as they are, such as one that
shuffles the groups alone: it is evidence about these words, not about others like them.
Vectors that are all the same have no value in any task: the harness sees to that.

The file of such a task states `unranked` with the reason: it is shown, but not ranked. A dash is a
part that cannot be measured; the last column says why.
"""
WITHOUT_ROWS = """\
## Ranked without planted bias

The tasks of names contrast no two groups, so no bias can be planted between groups. Their bias is
that names count at all. They rank, with a check of another kind: in vectors that are mixed from a
meaning and a name, both scores move away from fair in step with the share of the name
(`tests/plugins/metrics/test_triplet_auc.py`, `test_perturbation_similarity.py`). On
all-MiniLM-L6-v2 the AUC of `name-triplets` is .09 as written and .99 without names.

| score | tasks |
| --- | --- |
| `triplet-auc` | `name-triplets`, `name-triplets-world` |
| `perturbation-similarity` | `name-perturbations-books`, `name-perturbations-books-corpus`, \
`name-perturbations-movies`, `name-perturbations-plots`, `name-sentences` |

These scores have no floor, since fair can be reached, and random vectors are not fair: their AUC is
.5, and other names move them by one unit, as far as another text. The AUC weighs names against
meaning. So noise, which has neither, is nearer to fair than a model that knows names better than
meaning, such as all-MiniLM-L6-v2. A row of noise does not rank, because it fails the controls. But
a mitigator that takes meaning away, too, moves .09 towards .5: read its usefulness beside it.
"""
COLUMNS = (
    *("task", "model", "value", "own", "floor", "noise", "planted", "found", "rejected"),
    *("reliability", "without one", "templates", "result"),
)


def render(rows: Sequence[Validity]) -> str:
    """Return the page."""
    parts = [INTRODUCTION, WITHOUT_ROWS]
    for metric in sorted({row.metric for row in rows}):
        of_metric = [row for row in rows if row.metric == metric]
        scores = ", ".join(dict.fromkeys(f"`{row.score}`" for row in of_metric))
        cells = [[tables.markdown_text(cell) for cell in line(row)] for row in of_metric]
        parts += [f"## {metric}\n\nScore: {scores}.\n", tables.markdown_grid(COLUMNS, cells) + "\n"]
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
        _range(row.templates),
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
