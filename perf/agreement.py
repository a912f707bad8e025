"""Whether the ranked number of each method agrees with the score that is shown.

    python perf/agreement.py all-MiniLM-L6-v2 bag-of-words:glove-6b-50d bag-of-words:en-core-web-md
    python perf/agreement.py glove-6b-50d en-core-web-md

Rows are the models as they are and changed: with noise, with planted and reversed bias, debiased,
without their first components, truncated. Prints for each method and metric the Spearman
correlation, over all rows, of the distance from fair of the shown score with the gap, and with its
ratio to the yardstick: the mean over tasks. A method ranks from `LEAST` on, in the larger of the
two: where the gap is the shown score, only the yardstick lies between the score and the ratio.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests import gaming  # tests are not installed

LEAST = 0.7
"""Least correlation with which a method ranks."""


def rows(bench: gaming.Bench) -> Iterator[tuple[gaming.Change, float | None]]:
    """Yield what is done to the vectors of a model, and the share of its bias that is planted."""
    yield gaming.same, None
    for size in (0.25, 0.5, 1, 2):
        yield gaming.nuisance(size=size), None
    for share in (-2, -1, 0, 0.25, 0.5, 1.5, 2):
        yield gaming.same, share
    for times in (0, 1, 2):
        yield gaming.reversed_gender(bench, times), None
    for n in (1, 2, 3, 5, 10):
        yield gaming.without_components(bench, n), None
    for part in (2, 4, 8):
        yield functools.partial(gaming.first_dimensions, share=part), None


def readings(model: str, only: Sequence[str] = ()) -> pl.DataFrame:
    """Return the distances of each ranked task in each row of a model; `only` names the tasks."""
    bench = gaming.Bench.of(model, only)
    known = [task.name for task in bench.tasks if bench.kind in task.references]
    frames = []
    for change, share in rows(bench):
        frame = bench.distances(change, share).filter(pl.col("task").is_in(known))
        frames.append(frame if share is None else frame.filter("can_plant"))
    return pl.concat(frames, how="vertical_relaxed")


def agreement(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a line a task: its method and metric, the correlations, and the number of rows."""
    known = frame.filter(pl.col("shown").is_finite(), pl.col("ratio").is_finite())
    return known.group_by("method", "metric", "task").agg(
        *(pl.corr("shown", name, method="spearman").alias(name) for name in ("gap", "ratio")),
        rows=pl.len(),
    )


def of_methods(tasks: pl.DataFrame) -> pl.DataFrame:
    """Return a line a method and metric: the mean correlations, and the fewest rows of a task."""
    return (
        tasks.group_by("method", "metric")
        .agg(pl.col("gap", "ratio").mean(), pl.col("rows").min(), tasks=pl.len())
        .with_columns(ranks=pl.max_horizontal("gap", "ratio") >= LEAST)
        .sort("ranks", "method")
    )


def of_models(models: Sequence[str]) -> pl.DataFrame:
    """Return a line a task over all rows of some models."""
    return agreement(pl.concat([readings(model) for model in models], how="vertical_relaxed"))


def main(models: Sequence[str]) -> None:
    """Print the tables of tasks and of methods."""
    tasks = of_models(models)
    with pl.Config(tbl_rows=-1, tbl_width_chars=120, fmt_str_lengths=50, float_precision=2):
        print(tasks.sort("method", "task"), of_methods(tasks), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
