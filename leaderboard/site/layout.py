"""Places of cells in the data files: (rows × tasks), the rows of a model after each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from harness.leaderboard.boards.board import Board
from harness.leaderboard.boards.cells import BASELINES

NONE = BASELINES[0]


@dataclass(frozen=True)
class Layout:
    """The order of rows, models, mitigators and tasks in the data files of a board.

    Parameters
    ----------
    rows
        The board's rows, those of a model after each other, `none` first.
    models
        The first row of each model.
    mitigators
        Labels of mitigators, `none` first.
    tasks
        Names of tasks.
    model, mitigator
        By row, the index of its model and of its mitigator.
    """

    rows: pl.DataFrame
    models: pl.DataFrame
    mitigators: list[str]
    tasks: list[str]
    model: list[int]
    mitigator: list[int]

    def places(self, frame: pl.DataFrame) -> Places:
        """Return where the lines of a frame with `row` and `task` stand."""
        return Places(
            shape=(self.rows.height, len(self.tasks)),
            row=_index(frame["row"], self.rows["row"].to_list()),
            task=_index(frame["task"], self.tasks),
        )


@dataclass(frozen=True)
class Places:
    """Where the lines of a frame stand in an array (rows × tasks).

    Parameters
    ----------
    shape
        Number of rows and of tasks.
    row, task
        (n,) by line.
    """

    shape: tuple[int, int]
    row: Any
    task: Any

    def spread(self, values: pl.Series, *, empty: float = np.nan) -> Any:
        """Return the values of the lines as an array; `empty` where there is none."""
        array = np.full(self.shape, empty)
        array[self.row, self.task] = values.cast(pl.Float64).fill_null(empty).to_numpy()
        return array


def layout_of(board: Board) -> Layout:
    """Return the order of everything in the data files of a board."""
    rows = board.rows.sort("model", "fingerprint", pl.col("mitigator") != NONE, "mitigator")
    key = ["model", "fingerprint"]
    models = rows.unique(key, keep="first", maintain_order=True)
    mitigators = sorted(set(rows["mitigator"]), key=lambda label: (label != NONE, label))
    index = models.select(*key).with_row_index("model_index")
    numbered = rows.join(index, on=key, how="left", maintain_order="left")
    return Layout(
        rows=rows,
        models=models,
        mitigators=mitigators,
        tasks=board.tasks["task"].to_list(),
        model=numbered["model_index"].to_list(),
        mitigator=_index(rows["mitigator"], mitigators).tolist(),
    )


def _index(values: pl.Series, names: list[str]) -> Any:
    """Return the place in `names` of each value."""
    return values.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
