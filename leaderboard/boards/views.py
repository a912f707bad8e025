"""What a board says on each benchmark, by each concept of bias, and in each language.

Means, differences and ranges of ranks are those of `harness.results.estimator`; here they are put
beside the rows. Computes no statistic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from harness import errors
from harness.results import estimator
from harness.results.estimator import Cells
from harness.results.ratios import LESS, MEANING, MORE, OVERALL
from harness.results.record import VOID
from harness.results.verdict import TOWARDS

from ..claims.reading import REFERENCE
from .cells import NONE, OF_MEANING
from .findings import ONE_ROW, finding
from .prompts import prompt_errors

ENDS = estimator.RANK
"""Columns of a rank with its range, after the prefix of what is ranked."""
PREFIXES = {"bias": "", "usefulness": "usefulness_"}
"""Prefix of these columns, by what a task measures."""
DECIMALS = 6
"""Decimals of a base and a model, of which a difference is that of the two."""
LISTED = 3
"""Most models that a line names."""


@dataclass(frozen=True)
class View:
    """What was computed for a benchmark, a concept of bias and a language.

    Parameters
    ----------
    benchmark
        Name of the benchmark.
    concept
        Category of its bias tasks that count; empty for all.
    language
        Code of the language of its tasks that count; empty for all of them.
    tasks
        Names of the tasks that count.
    rows
        One line a row of the board: `row`; `bias`, `bias_low`, `bias_high`, its mean over its own
        tasks that count, `methods` and `bias_tasks`, their number, and `direction`, of `TOWARDS`;
        `rank`, `rank_low`, `rank_high` of the models that are ranked by bias, and of the others
        `unranked`, the reason; `usefulness` with the same names, and `usefulness_rank` and so on.
    effects
        One line a mitigated row that can be compared with its model: `row`; on the tasks of both
        `base` and `model`, the bias without and with the mitigator, `difference`, the model less
        its base, `difference_low` and `difference_high`; `verdict`, `less`, `more`, `not clear` or
        `equal`, and `reason`, what a verdict lacks; `agree`, how many of the `compared` methods
        have the sign of the difference, and `depends_on`, the one that turns it; and
        `usefulness_difference`.
    mitigators
        One line a mitigator: `mitigator`; `models` it ran on, and `usable`, on how many it is
        usable and compared; on how many of these it is shown to leave `less` or `more` bias; mean
        changes of bias and of usefulness, `change` and `usefulness`; `over`, these models; `note`.
    finding
        The answer of the first screen.
    notices
        Warnings.
    """

    benchmark: str
    concept: str
    language: str
    tasks: tuple[str, ...]
    rows: pl.DataFrame
    effects: pl.DataFrame
    mitigators: pl.DataFrame
    finding: str
    notices: tuple[str, ...] = ()

    def ranked(self, measures: str = "bias") -> int:
        """Return the number of ranked models."""
        return self.rows[f"{PREFIXES[measures]}rank"].count()


def cells_of(chosen: pl.DataFrame, tasks: pl.DataFrame) -> Cells:
    """Return the cells of a board for the estimator: on ranked tasks, and on controls of meaning.

    Parameters
    ----------
    chosen
        The cells of the board, as of `cells.measured`.
    tasks
        As of `board.tasks_of`.
    """
    is_meaning = (pl.col("measures") == "control") & pl.col("family").str.ends_with(OF_MEANING)
    counts = pl.col("not_ranked").is_null() | is_meaning
    facts = tasks.with_columns(pl.col("task").cast(pl.String)).filter(counts)
    facts = facts.select(
        "task",
        *REFERENCE,
        measures=pl.when(is_meaning).then(pl.lit(MEANING)).otherwise("measures"),
        concept="category",
        method="family",
    )
    left_out = pl.when(pl.col("gap").is_null()).then(pl.coalesce("aside", pl.lit(VOID)))
    own = chosen.select(
        pl.col("row", "task", "digest").cast(pl.String),
        *("gap", "gap_error", "yardstick", "yardstick_error", "deviations"),
        pl.col("power").fill_null(1),
        left_out=left_out.cast(pl.String),
        of=pl.coalesce(pl.col("of").cast(pl.String), pl.col("task").cast(pl.String)),
        is_evidence=pl.col("t").is_not_null(),
    )
    frame = own.join(facts, on="task").select(*estimator.SCHEMA).cast(pl.Schema(estimator.SCHEMA))
    return Cells.of(frame)


class Estimated(NamedTuple):
    """What is known of the rows of a board.

    Parameters
    ----------
    cells
        As of `cells_of`.
    rows
        The rows of the board, with `unusable`, why one is not usable, else null.
    tasks
        As of `board.tasks_of`.
    draws
        The cells of models under other prompts, as of `cells.under_prompts`.
    """

    cells: Cells
    rows: pl.DataFrame
    tasks: pl.DataFrame
    draws: pl.DataFrame


def views_of(
    known: Estimated,
    benchmark: str,
    tasks: pl.DataFrame,
    notices: Sequence[str],
    language: str = "",
) -> Iterator[View]:
    """Yield what is computed on some tasks of a benchmark: for all concepts, then for each.

    Of tasks in several languages it is computed for each language, too: a score in one is on no
    scale of another.

    Parameters
    ----------
    known
        What is known of the rows.
    benchmark
        Its name.
    tasks
        Its ranked tasks, as of `board.tasks_of`.
    notices
        Warnings, for the view of all concepts and languages.
    language
        The language that a reader chooses to have these tasks; empty for all of the benchmark.
    """
    cells = known.cells.filter(pl.col("task").is_in(tasks["task"].implode()))
    usable = known.rows.filter(pl.col("unusable").is_null())
    means = estimator.means(cells, prompt_errors(cells, known.draws, known.rows))
    ranks = estimator.ranks(means, usable.filter(role="model")["row"])
    pairs = pairs_of(known.rows)
    changes = estimator.differences(cells, [(base, [row]) for row, base in pairs]).frame
    mitigated = pl.Series([row for row, _ in pairs], dtype=pl.String)
    changes = changes.with_columns(row=mitigated.gather(changes["pair"]))
    for concept in ["", *sorted(set(tasks.filter(measures="bias")["category"]))]:
        is_own = (pl.col("measures") != "bias") | (pl.lit(concept) == "")
        own = tasks.filter(is_own | (pl.col("category") == concept))
        rows = _rows(known.rows, means.frame, ranks, concept)
        effects = _effects(changes, concept)
        yield View(
            benchmark=benchmark,
            concept=concept,
            language=language,
            tasks=tuple(own["task"]),
            rows=rows,
            effects=effects,
            mitigators=_mitigators(known.rows, effects),
            finding=finding(rows.join(known.rows, on="row"), own),
            notices=() if concept else tuple(notices),
        )
    languages = sorted(set(tasks["language"]))
    for code in languages if len(languages) > 1 else []:
        yield from views_of(known, benchmark, tasks.filter(language=code), (), code)


def pairs_of(rows: pl.DataFrame) -> list[tuple[str, str]]:
    """Return each mitigated row with the row of its model without a mitigator, if there is one."""
    model = ["name", "fingerprint"]
    bases = (
        rows.filter(mitigator=NONE)
        .sort(pl.col("params").str.len_chars(), "params", "row")  # that with fewest settings
        .unique(model, keep="first", maintain_order=True)
        .select(*model, base="row")
    )
    both = rows.filter(role="mitigated").join(bases, on=model, maintain_order="left")
    return list(both.select("row", "base").iter_rows())


def _of_line(frame: pl.DataFrame, measures: str, name: str) -> pl.DataFrame:
    return frame.filter(measures=measures, name=name).drop("measures", "name")


def _rows(
    rows: pl.DataFrame, means: pl.DataFrame, ranks: pl.DataFrame, concept: str
) -> pl.DataFrame:
    """Return `View.rows`."""
    frame = rows.select("row", "role", "unusable")
    for measures, prefix in PREFIXES.items():
        name = (concept if measures == "bias" else "") or OVERALL
        mean = _of_line(means, measures, name).select(
            "row",
            pl.col("value").alias(measures),
            *(pl.col(end).alias(f"{measures}_{end}") for end in ("low", "high")),
            pl.col("tasks").alias(f"{measures}_tasks"),
            *([pl.col("methods"), _direction()] if measures == "bias" else []),
        )
        of_line = _of_line(ranks, measures, name)
        own = of_line.rename({end: prefix + end for end in ENDS} | {"unranked": "why"})
        if own[f"{prefix}rank"].count() < 2:
            own = own.with_columns(pl.lit(None, pl.Int64).alias(prefix + end) for end in ENDS)
        reason = (
            pl.when(pl.col("role") != "model")
            .then(None)
            .when(pl.col("unusable").is_not_null())
            .then(pl.lit("not usable: ") + pl.col("unusable"))
            .when(pl.col(f"{prefix}rank").is_null())
            .then(
                pl.coalesce(
                    "why",
                    pl.when(pl.col(measures).is_null())
                    .then(pl.lit("no task counts"))
                    .otherwise(pl.lit(ONE_ROW)),
                )
            )
        )
        frame = (
            frame.join(mean, on="row", how="left", maintain_order="left")
            .join(own, on="row", how="left", maintain_order="left")
            .with_columns(reason.alias(f"{prefix}unranked"))
            .drop("why")
        )
    return frame.drop("role", "unusable")


def _direction() -> pl.Expr:
    return pl.col("toward").replace_strict(TOWARDS, return_dtype=pl.String).alias("direction")


def _effects(changes: pl.DataFrame, concept: str) -> pl.DataFrame:
    """Return `View.effects`."""
    bias = _of_line(changes, "bias", concept or OVERALL).with_columns(
        pl.col("base", "model").round(DECIMALS)
    )
    bias = bias.select(
        *("row", "base", "model"),
        (pl.col("model") - pl.col("base")).round(DECIMALS).alias("difference"),
        *(pl.col(end).alias(f"difference_{end}") for end in ("low", "high")),
        "verdict",
        pl.coalesce("lacks", "reason").alias("reason"),
        "agree",
        pl.col("methods").alias("compared"),
        *("depends_on", "tasks"),
    )
    usefulness = _of_line(changes, "usefulness", OVERALL)
    return bias.join(
        usefulness.select("row", usefulness_difference="difference"),
        on="row", how="full", coalesce=True, maintain_order="left_right",
    )  # fmt: skip


def _mitigators(rows: pl.DataFrame, effects: pl.DataFrame) -> pl.DataFrame:
    """Return `View.mitigators`, those that lower bias most first."""
    unusable = rows.filter(pl.col("unusable").is_not_null())["row"].to_list()
    base = dict(pairs_of(rows))
    mitigated = rows.filter(role="mitigated").select(
        "row",
        "label",
        "control",
        shown="model",
        usable=~pl.col("row").is_in(unusable)
        & ~pl.col("row").replace_strict(base, default=None, return_dtype=pl.String).is_in(unusable),
    )
    counted = pl.col("usable") & pl.col("difference").is_not_null() & ~pl.col("control")
    lines = mitigated.join(effects, on="row", how="left", maintain_order="left").with_columns(
        counted=counted.fill_null(value=False)
    )
    own = pl.col("counted")
    return (
        lines.group_by(mitigator="label", maintain_order=True)
        .agg(
            models=pl.len().cast(pl.Int64),
            usable=own.sum().cast(pl.Int64),
            less=(own & (pl.col("verdict") == LESS)).sum().cast(pl.Int64),
            more=(own & (pl.col("verdict") == MORE)).sum().cast(pl.Int64),
            change=pl.col("difference").filter(own).mean(),
            usefulness=pl.col("usefulness_difference").filter(own).mean(),
            over=pl.col("shown").filter(own),
            note=pl.when(pl.col("control").all())
            .then(pl.lit("a control, no mitigation"))
            .when(~pl.col("usable").any())
            .then(pl.lit("usable on no model"))
            .when(~own.any())
            .then(pl.lit("no bias task to compare on")),
        )
        .with_columns(
            pl.col("over").map_elements(
                lambda names: errors.listed(sorted(set(names)), LISTED), return_dtype=pl.String
            )
        )
        .sort("change", "mitigator", nulls_last=True)
    )
