"""Models under several neutral prompts (`harness eval --prompts`): what a prompt changes.

The value of a row is that under the model's own prompt: what its users get, what other tables
show, and what mitigators and usefulness are measured under. What another prompt would change is
an error of it: the root mean square of the changes, which covers an own prompt that was chosen
for its low bias, too. It enters the interval, and so the ranges of ranks.
"""

from __future__ import annotations

import polars as pl

from harness.results import estimator
from harness.results.estimator import Cells

from .findings import count


def prompt_errors(cells: Cells, draws: pl.DataFrame, rows: pl.DataFrame) -> dict[str, float]:
    """Return by row what another prompt changes in its mean bias, where others were tried.

    Parameters
    ----------
    cells
        The cells of the board.
    draws
        As of `cells.under_prompts`.
    rows
        `row`, `name`, `fingerprint` and `role`. Mitigated rows have the error of their model.
    """
    errors = estimator.prompt_errors(cells, draws)
    model = ["name", "fingerprint"]
    of_model = rows.filter(pl.col("row").is_in(list(errors)), role="model")
    mitigated = rows.filter(role="mitigated").join(of_model.select(*model, base="row"), on=model)
    return errors | {row: errors[of] for row, of in mitigated.select("row", "base").iter_rows()}


def under_several(cells: Cells, draws: pl.DataFrame, rows: pl.DataFrame) -> list[str]:
    """Return a line where some models ran under several prompts, and others did not.

    Parameters are those of `prompt_errors`, with the cells of a benchmark.
    """
    models = set(rows.filter(role="model")["row"])
    every = models.intersection(cells.counting.filter(measures="bias")["row"])
    several = every.intersection(draws["row"])
    if not several or several == every:
        return []
    return [
        f"what prompts change is part of the intervals of {len(several)} of "
        f"{count(len(every), 'model')}: the others ran under their own prompt alone"
    ]
