"""`harness validate-metric`: the command line. Reads the options and prints; others measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.commands import arguments
from harness.folders import Place
from harness.results.formats import markdown_grid, markdown_text
from harness.task.validity import Validity

from . import checks
from .checks import AMPLITUDES, NOISE, SPLITS, Draws


@click.command("validate-metric")
@click.argument(
    "metrics", nargs=-1, metavar="[METRIC]...", shell_complete=arguments.complete("metric")
)
@click.option(
    "--task",
    "-t",
    "tasks",
    multiple=True,
    help="Task, glob, benchmark, tag, category or file; repeatable.  [default: the tasks of bias "
    "that METRIC is primary in]",
    shell_complete=arguments.complete(arguments.SELECTION),
)
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    help="Model; repeatable.  [default: glove-6b-50d for words, all-MiniLM-L6-v2 for texts]",
    shell_complete=arguments.complete("model"),
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="Seed of all draws.")  # fmt: skip
@click.option("--recorded", is_flag=True, help="Measure nothing: show the recorded rows.")
@click.option("--record", is_flag=True, help="Keep the rows beside the tasks, in validity.json.")
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Page to write, in Markdown.",
)
@arguments.cache
@arguments.include
@arguments.trust
@arguments.as_json
def command(**options: Any) -> int:
    """Check whether a metric sees planted bias, and what it shows by chance.

    Reads the score of each task on random vectors, on bias planted at rising amplitudes, on
    shuffled sides, on constant vectors, on halves of its words and of its templates. Without
    METRIC: the primary scores of all tasks of bias.

    \b
    harness validate-metric weat
    harness validate-metric weat --task weat-7 --model en-core-web-md
    harness validate-metric --recorded

    Exit code 1: something could not be measured.
    """  # noqa: D301  # click keeps the lines after a backspace
    return run(Options(**options))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the command, as click parses them; `--help` describes each."""

    metrics: tuple[str, ...]
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    seed: int
    recorded: bool
    record: bool
    out: Path | None
    cache: Place | None
    include: tuple[Path, ...]
    trust: tuple[Path, ...]
    as_json: bool


def run(options: Options) -> int:
    """Measure or read the rows, print them, and write what was asked for."""
    from harness import folders, progress
    from harness.commands import output
    from harness.errors import UsageError
    from harness.registry.registry import Registry

    from . import measuring

    registry = Registry(include=options.include, trust=options.trust)
    skipped: list[str] = []
    if options.recorded:
        if options.record:
            raise UsageError("--recorded measures nothing: omit it or --record")
        rows = _recorded(registry, options)
    else:
        measured = measuring.measure(
            registry,
            options.metrics,
            tasks=options.tasks,
            models=options.models,
            seed=options.seed,
            cache=options.cache,
            progress=progress.for_terminal(),
        )
        rows, skipped = measured.rows, measured.skipped
        if not rows and not skipped:
            skipped = ["no task is made for such a model, in a language of its card"]
    if options.as_json:
        output.as_json([measuring.as_json(row) for row in rows])
    else:
        _show(rows)
    if options.record and rows:
        for path in measuring.write_recorded(registry, rows):
            click.echo(f"wrote {path}", err=True)
    if options.out is not None:
        folders.write_atomically(options.out, render_page(rows).encode())
        click.echo(f"wrote {options.out}", err=True)
    for line in skipped:
        click.echo(f"not measured: {line}", err=True)
    return int(bool(skipped))


def _recorded(registry: Any, options: Options) -> list[Validity]:
    """Return the recorded rows of the named metrics, tasks and models."""
    from harness.run.tasks import select

    from . import measuring

    for name in options.metrics:
        registry.metric(name)  # raises if it is unknown
    tasks = {entry.file.name for entry in select(registry, options.tasks or ["all"])}
    return [
        row
        for row in measuring.recorded(registry)
        if row.task in tasks
        and (not options.metrics or row.metric in options.metrics)
        and (not options.models or row.model in options.models)
    ]


def _show(rows: list[Validity]) -> None:
    from harness.commands import output

    for metric in sorted({row.metric for row in rows}):
        lines = [line(row) for row in rows if row.metric == metric]
        output.table(
            COLUMNS,
            lines,
            title=metric,
            shorten=("result",),
            drop=("templates", "without one", "noise", "planted", "own"),
        )
    failed = sum(bool(row.failures) for row in rows)
    untested = sum(bool(row.missing and not row.failures) for row in rows)
    counts = [f"{len(rows) - failed - untested} valid", f"{failed} not valid"]
    click.echo(", ".join([*counts, *([f"{untested} not fully measured"] if untested else [])]))


# The page of validity in Markdown: a table for each metric. A function of the recorded rows.


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


def render_page(rows: Sequence[Validity]) -> str:
    """Return the page."""
    parts = [INTRODUCTION, WITHOUT_ROWS]
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
