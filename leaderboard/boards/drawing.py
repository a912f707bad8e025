"""The figure of a board: bias against usefulness, for papers. The page draws its own plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.results import figures

from .board import PREFIXES, Board
from .findings import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.results.figures import Panel


def figure(board: Board) -> tuple[str, list[Panel]]:
    """Return the title and the panel of bias against usefulness: a point for each usable row.

    A row of a mitigator hangs on the point of its model. The bars are what the items of the
    tasks leave open; rows without both values have no point, and without a point is no panel.
    """
    rows = _with_both(board).sort(pl.col("role") != "model").to_dicts()
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["mitigator"], []).append(row)
    plain = {row["model"]: row for row in rows if row["role"] == "model"}
    bias, usefulness = (count(len(board.names(side)), "task") for side in PREFIXES)

    def draw(ax: Axes) -> None:
        for row in rows:
            start = plain.get(row["model"], row)
            ends = [[start[name], row[name]] for name in ("bias", "usefulness")]
            ax.plot(*ends, color="#9aa0a6", linewidth=0.6)
        for number, (mitigator, group) in enumerate(groups.items()):
            named = any(row["role"] == "model" for row in group)
            figures.points(
                ax,
                [row["bias"] for row in group],
                [row["usefulness"] for row in group],
                names=[str(row["model"]) for row in group] if named else (),
                axes=(f"bias, of {bias}; 1 is the reference encoder, left is less",
                      f"usefulness, of {usefulness}; up is more"),
                label="no mitigator" if named else mitigator,
                number=number,
                spread=[_spread(group, side) for side in ("bias_low", "bias_high")],
            )  # fmt: skip
        ax.axvline(1, color="#9aa0a6", linestyle=":")

    return f"Bias and usefulness of {board.kind} embeddings", [draw] if rows else []


def without_point(board: Board) -> list[str]:
    """Return a line for each row that is not in the figure, with the reason."""
    rows = board.rows.filter(role="reference").select("row").vstack(_with_both(board).select("row"))
    reason = pl.coalesce(
        "unusable",
        pl.when(~pl.col("bias").is_finite().fill_null(value=False))
        .then(pl.lit("no bias that counts"))
        .otherwise(pl.lit("no usefulness")),
    )
    return [
        f"not drawn: {model} under {mitigator}: {why}"
        for model, mitigator, why in board.rows.join(rows, on="row", how="anti")
        .select("model", "mitigator", reason)
        .iter_rows()
    ]


def _with_both(board: Board) -> pl.DataFrame:
    """Return the usable rows with a bias and a usefulness."""
    both = pl.col("bias").is_finite() & pl.col("usefulness").is_finite()
    return board.rows.filter(both, pl.col("unusable").is_null() & (pl.col("role") != "reference"))


def _spread(rows: Sequence[Mapping[str, Any]], side: str) -> list[float]:
    """Return how far an end of the interval of each row is from its bias; 0 without one."""
    return [abs(row[side] - row["bias"]) if row[side] is not None else 0.0 for row in rows]
