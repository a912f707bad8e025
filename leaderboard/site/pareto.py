"""The plot of bias against usefulness as HTML, without plotly's script: the Pareto front of models.

A point is a model without a mitigator, with its intervals. A mitigated row stands at its model's
point plus its paired effects, and is connected to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import polars as pl

from harness.leaderboard.boards.board import Board
from harness.leaderboard.boards.cells import BASELINES
from harness.leaderboard.site.plot_style import COLOURS, GREY, GRID, LAYOUT, SYMBOLS, plot_html

_MIN_RANGE = 0.1
"""Smallest range of an axis, so that a difference of .001 does not look like one of 1."""
_HOVER = "<b>%{fullData.name}</b><br>%{text}<br>bias %{x:.3f}<br>usefulness %{y:.3f}<extra></extra>"


def pareto_plot(board: Board) -> str | None:
    """Return the plot as HTML; None if no model has a value on every ranked task.

    Means over different tasks cannot be compared, so that other models are not drawn.
    """
    models = board.rows.filter(
        pl.col("complete"),
        pl.col("usefulness_complete"),
        pl.col("bias").is_not_null(),
        pl.col("usefulness").is_not_null(),
        role="model",
    )
    if models.is_empty():
        return None
    from plotly import graph_objects as go

    mitigated = shifted(board, models)
    references = board.rows.filter(
        pl.col("bias").is_not_null() & pl.col("usefulness").is_not_null(),
        role="reference",
        mitigator=BASELINES[0],
    )
    figure = go.Figure()
    _add_front(figure, models)
    mitigators = sorted(set(mitigated["mitigator"]))
    symbols = {mitigator: _symbol(i) for i, mitigator in enumerate(mitigators)}
    for i, row in enumerate(models.sort("model").iter_rows(named=True)):
        _add_model(figure, i, row, mitigated.filter(base=row["row"]), symbols)
    for mitigator, symbol in symbols.items():  # for the legend only
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=escape(mitigator),
            legend="legend2",
            marker={"color": GREY, "symbol": symbol, "size": 11},
        )
    _add_references(figure, references)
    ends = {
        "bias": (*models["bias_low"], *models["bias_high"], *mitigated["bias"], 0.0),
        "usefulness": (
            *(*models["usefulness_low"], *models["usefulness_high"]),
            *mitigated["usefulness"],
        ),
    }
    axis = {"zeroline": False, "gridcolor": GRID, "automargin": True}
    legend = {"orientation": "h", "x": 0, "yref": "container"}
    figure.update_layout(
        **LAYOUT,
        xaxis={
            **axis,
            "title": "bias above the floor (left is better)",
            "range": _range([*models["bias"], *references["bias"], *ends["bias"]]),
        },
        yaxis={
            **axis,
            "title": "usefulness (up is better)",
            "range": _range(
                [*models["usefulness"], *references["usefulness"], *ends["usefulness"]]
            ),
        },
        legend={**legend, "tracegroupgap": 0, "y": 1, "yanchor": "top", "title": {"text": "Model"}},
        legend2={
            **legend,
            "y": 0,
            "yanchor": "bottom",
            "title": {"text": "Mitigator"},
            "itemclick": False,
            "itemdoubleclick": False,
        },
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        height=520,
        showlegend=True,
    )
    return plot_html(figure, f"plot-{board.kind}")


def front(models: pl.DataFrame) -> pl.DataFrame:
    """Return the usable models that no other one beats on both bias and usefulness, by bias."""
    usable = models.filter(pl.col("unusable").is_null()).sort(
        "bias", "usefulness", descending=[False, True]
    )
    best_before = pl.col("usefulness").cum_max().shift(1)
    return usable.filter(best_before.is_null() | (pl.col("usefulness") > best_before))


def shifted(board: Board, models: pl.DataFrame) -> pl.DataFrame:
    """Return the mitigated rows of `models`: `bias` and `usefulness` of the model plus the effects.

    Columns also `base`, the row of the model, `mitigator` and `unusable`.
    """
    base = models.select(
        "model", "fingerprint", base="row", base_bias="bias", base_usefulness="usefulness"
    )
    return (
        board.effects.filter(pl.col("bias").is_not_null(), pl.col("usefulness").is_not_null())
        .filter(baseline=BASELINES[0])
        .join(board.rows.select("row", "fingerprint"), on="row")
        .join(base, on=["model", "fingerprint"])
        .select(
            "base",
            "mitigator",
            "unusable",
            bias=pl.col("base_bias") + pl.col("bias"),
            usefulness=pl.col("base_usefulness") + pl.col("usefulness"),
        )
        .sort("base", "mitigator")
    )


def _add_front(figure: Any, models: pl.DataFrame) -> None:
    line = front(models)
    if line.is_empty():
        return
    figure.add_scatter(
        x=line["bias"].to_list(),
        y=line["usefulness"].to_list(),
        mode="lines",
        name="Pareto front",
        line={"shape": "hv", "width": 2, "dash": "dot", "color": GREY},
        hoverinfo="skip",
    )


def _add_model(
    figure: Any,
    i: int,
    row: Mapping[str, Any],
    mitigated: pl.DataFrame,
    symbols: Mapping[str, str],
) -> None:
    """Draw the `i`th model with its intervals and its mitigated rows, and its legend entry."""
    repeat, index = divmod(i, len(COLOURS))
    colour, name, group = COLOURS[index], escape(row["model"]), f"model {i}"  # plotly renders HTML
    edge = {"width": 1 + 2 * repeat, "color": GREY}  # a colour that is used again: a thick edge
    lines: dict[str, list[float | None]] = {"x": [], "y": []}
    for x, y in mitigated.select("bias", "usefulness").iter_rows():
        lines["x"] += [row["bias"], x, None]
        lines["y"] += [row["usefulness"], y, None]
    if lines["x"]:
        figure.add_scatter(
            **lines, mode="lines", legendgroup=group, showlegend=False, hoverinfo="skip",
            line={"color": colour, "width": 1},
        )  # fmt: skip
        figure.add_scatter(
            x=mitigated["bias"].to_list(),
            y=mitigated["usefulness"].to_list(),
            mode="markers",
            name=name,
            legendgroup=group,
            showlegend=False,
            text=[
                escape(mitigator) + _fault(unusable)
                for mitigator, unusable in mitigated.select("mitigator", "unusable").iter_rows()
            ],
            hovertemplate=_HOVER,
            marker={
                "color": colour,
                "symbol": [
                    symbols[mitigator] + ("-open" if unusable else "")
                    for mitigator, unusable in mitigated.select("mitigator", "unusable").iter_rows()
                ],
                "size": 10,
                "opacity": 0.85,  # points may overlap
            },
        )
    figure.add_scatter(
        x=[row["bias"]],
        y=[row["usefulness"]],
        mode="markers",
        name=name,
        legendgroup=group,
        text=["none" + _fault(row["unusable"])],
        hovertemplate=_HOVER,
        error_x=_error(row, "bias", colour),
        error_y=_error(row, "usefulness", colour),
        marker={
            "color": colour,
            "symbol": "circle" + ("-open" if row["unusable"] else ""),
            "size": 14,
            "line": {**edge, "color": colour, "width": 2} if row["unusable"] else edge,
        },
    )


def _add_references(figure: Any, references: pl.DataFrame) -> None:
    """Draw the lines of what chance shows: the floor, and the reference models."""
    figure.add_vline(x=0, line={"width": 1, "color": GREY})
    figure.add_annotation(
        x=0, y=0, yref="paper", yanchor="bottom", xanchor="left", text="floor", showarrow=False
    )
    for row in references.iter_rows(named=True):
        line = {"width": 1, "dash": "dash", "color": GREY}
        figure.add_vline(x=row["bias"], line=line)
        figure.add_hline(y=row["usefulness"], line=line)
        figure.add_annotation(
            x=1, xref="paper", xanchor="right", y=row["usefulness"], yanchor="bottom",
            text=escape(row["model"]), showarrow=False,
        )  # fmt: skip


def _fault(unusable: str | None) -> str:
    return f"<br>not usable: {escape(unusable)}" if unusable else ""


def _error(row: Mapping[str, Any], measures: str, colour: str) -> dict[str, Any]:
    """Return plotly's error bar of the interval of a mean."""
    value, low, high = (row[f"{measures}{end}"] for end in ("", "_low", "_high"))
    if low is None or high is None:
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value],
        "arrayminus": [value - low],
        "color": colour,
        "thickness": 1,
        "width": 4,
    }


def _symbol(i: int) -> str:
    return SYMBOLS[i % len(SYMBOLS)] + ("-dot" if i // len(SYMBOLS) % 2 else "")


def _range(values: Iterable[float | None]) -> list[float]:
    """Return the ends of an axis that holds the values, with a margin."""
    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    half = max(_MIN_RANGE, 1.16 * (high - low)) / 2
    return [(low + high) / 2 - half, (low + high) / 2 + half]
