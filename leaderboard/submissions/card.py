"""The scores of a model for its page on a hub: `model-index`, and a table.

They have only scores that a board would count: those of registered tasks, with their scales.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from harness.errors import UsageError, suggestion
from harness.names import NONE
from harness.results.formats import markdown_grid, markdown_text, p_text
from harness.results.reading import SetAside
from harness.results.tables import judged_lines

TASK = "feature-extraction"
"""The hub's name for the task of every embedder."""
SOURCE = "Embedding Bias Harness"
DIGITS = 4
COLUMNS = ("Task", "Measures", "Score", "Value", "Interval", "p", "Ideal")


@dataclass(frozen=True)
class Scores:
    """The primary scores of a model.

    Parameters
    ----------
    rows
        A line a task, with the columns of `claims.reading.SCHEMA`.
    aside
        Records that a board would set aside.
    """

    rows: pl.DataFrame
    aside: tuple[SetAside, ...]


def scores_for_card(
    paths: Iterable[Path], model: str | None, mitigator: str, *, include: Sequence[Path] = ()
) -> Scores:
    """Return the primary scores of a model under a mitigator.

    Parameters
    ----------
    paths
        Results folders or files.
    model
        Name of the model; None if there is only one.
    mitigator
        Label of the mitigator.
    include
        Further folders of tasks.

    Raises
    ------
    UsageError
        If the model is unknown or has to be named, or no score counts.
    """
    from ..claims import facts, reading, trust

    read = reading.read(paths)
    tasks = read.frame["task"].cast(pl.String).unique().to_list()
    claims = trust.trusted(read, facts.known(tasks, include))
    frame = claims.frame.filter("primary", pl.col("value").is_not_null())
    if frame.is_empty():
        why = f": {claims.aside[0]}" if claims.aside else "; `harness eval` writes them"
        raise UsageError(f"no score of a registered task{why}")
    models = sorted(frame["model"].cast(pl.String).unique())
    if model is None and len(models) > 1:
        raise UsageError(f"{len(models)} models; choose one with --model: {', '.join(models)}")
    model = model or models[0]
    if model not in models:
        raise UsageError(f"no score of the model '{model}'{suggestion(model, models)}")
    frame = frame.filter(pl.col("model") == model)
    labels = sorted(frame["label"].cast(pl.String).unique())
    if mitigator not in labels:
        near = suggestion(mitigator, labels)
        raise UsageError(f"no score of '{model}' under the mitigator '{mitigator}'{near}")
    frame = frame.filter(pl.col("label") == mitigator)
    names = ("created", "task", "measures", "category")
    newest = frame.cast(dict.fromkeys(names, pl.String)).sort("created", "id")
    rows = newest.unique("task", keep="last").sort("measures", "category", "task")
    return Scores(rows, claims.aside)


def model_index(rows: pl.DataFrame, *, url: str | None) -> str:
    """Return the scores as YAML for the metadata of a model card: the key `model-index`.

    Parameters
    ----------
    rows
        Scores of one model, from `scores`.
    url
        Address of the board, as their source.
    """
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type=TASK,
            task_name=f"{row['measures']}: {row['category']}",
            dataset_type=row["task"],
            dataset_name=row["title"] or row["task"],
            dataset_revision=row["digest"],
            metric_type=row["metric"],
            metric_name=_score(row),
            metric_value=round(row["value"], DIGITS),
            source_name=SOURCE if url else None,
            source_url=url,
        )
        for row in _texts(rows)
    ]
    data = ModelCardData(model_name=rows["model"][0], eval_results=results)
    return data.to_yaml()


def table(rows: pl.DataFrame) -> str:
    """Return the scores as a table in Markdown; texts are escaped."""
    lines = [
        [
            markdown_text(row["title"] or row["task"]) + f" ({markdown_text(row['task'])})",
            f"{markdown_text(row['measures'])}, {markdown_text(row['category'])}",
            markdown_text(_score(row)),
            _number(row["value"]),
            "" if row["low"] is None else f"{_number(row['low'])} to {_number(row['high'])}",
            "" if row["p_value"] is None else p_text(row["p_value"]),
            row["ideal"].removesuffix(".0"),
        ]
        for row in _texts(rows)
    ]
    kinds = rows.filter(pl.col("mitigator") != NONE)["unseen"].drop_nulls().cast(pl.String)
    judged = judged_lines({rows["label"][0]: Counter(kinds)})
    return "\n\n".join([markdown_grid(COLUMNS, lines), *map(markdown_text, judged)])


def _texts(rows: pl.DataFrame) -> Sequence[dict[str, Any]]:
    names = [name for name, kind in rows.schema.items() if kind == pl.Categorical]
    return rows.cast(dict.fromkeys(names, pl.String)).to_dicts()


def _score(row: dict[str, Any]) -> str:
    scenario = "" if row["scenario"] == "default" else f", {row['scenario']}"
    return f"{row['metric']}: {row['score']}{scenario}"


def _number(value: float) -> str:
    return f"{value:.3f}"
