"""The two plots of a board as HTML: bias against usefulness, and bias against MTEB scores.

In the first plot a point is a row; its colour is the model and its shape the mitigator.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import polars as pl

from harness.leaderboard.board import Board
from harness.leaderboard.published import SCORE

# The palette of Okabe and Ito, for readers with any colour vision.
_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#999999")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "hexagon")
_LABEL = 28  # most characters of a label under an axis
_MIN_RANGE = 0.1
"""Smallest range of an axis, so that a difference of .001 does not look like one of 1."""


def plot(board: Board) -> str | None:
    """Return the plot of bias against usefulness as HTML, without plotly's script.

    Only rows with a value on every task of the board are drawn, since means over different tasks
    cannot be compared. Return None if there is no such row.
    """
    rows = board.rows.filter(
        pl.col("complete"),
        pl.col("usefulness_complete"),
        pl.col("bias").is_not_null(),
        pl.col("usefulness").is_not_null(),
    )
    if rows.is_empty():
        return None
    from plotly import graph_objects as go

    figure = go.Figure()
    mitigators = sorted(set(rows["mitigator"]))
    symbols = {mitigator: _symbol(i) for i, mitigator in enumerate(mitigators)}
    for i, model in enumerate(sorted(set(rows["model"]))):
        _add_model(figure, i, model, rows.filter(model=model), symbols)
    for mitigator, symbol in symbols.items():  # for the legend only
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=escape(mitigator),
            legend="legend2",
            marker={"color": "rgba(127,127,127,.9)", "symbol": symbol, "size": 11},
        )
    axis = {"zeroline": False, "gridcolor": "rgba(127,127,127,.2)", "automargin": True}
    legend = {"orientation": "h", "x": 0, "yref": "container"}
    figure.update_layout(
        xaxis={**axis, "title": "bias (left is better)", "range": _range(rows["bias"])},
        yaxis={**axis, "title": "usefulness (up is better)", "range": _range(rows["usefulness"])},
        legend={**legend, "tracegroupgap": 0, "y": 1, "yanchor": "top", "title": {"text": "Model"}},
        legend2={
            **legend,
            "y": 0,
            "yanchor": "bottom",
            "title": {"text": "Mitigator"},
            "itemclick": False,
            "itemdoubleclick": False,
        },
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13},
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        height=480,
        showlegend=True,
    )
    return _html(figure, f"plot-{board.kind}")


def published_plot(board: Board) -> str | None:
    """Return the plot of bias against published quality, or None if too few models have both.

    As figure 1 of Uriot (2024). Above: the AUC of concept directions (dashed) and their
    correlations with human labels. Below: the proportions of the association test, by scenario.
    """
    frame = board.published
    if frame.is_empty():
        return None
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
    models = frame["model"].unique(maintain_order=True).to_list()
    lines = frame.select("metric", "score", "scenario", "rho").unique(maintain_order=True)
    scenarios = list(dict.fromkeys(lines["scenario"]))
    for metric, score, scenario, rho in lines.rows():
        if score == "auc" and scenario != scenarios[0]:
            continue  # the AUC is the same in every scenario
        points = frame.filter(metric=metric, score=score, scenario=scenario)
        rho_text = "–" if rho is None else f"{rho:.2f}".replace("-", "−")
        label = score if score == "auc" else f"{score}, {scenario}"
        figure.add_scatter(
            x=[models.index(model) for model in points["model"]],
            y=points["value"].to_list(),
            mode="lines+markers",
            name=escape(f"{label} (ρ {rho_text})"),
            text=[escape(model) for model in points["model"]],
            customdata=points["published"].to_list(),
            hovertemplate=f"%{{text}}, {SCORE} %{{customdata:.2f}}<br>%{{y:.3f}}",
            line={
                "color": _COLOURS[scenarios.index(scenario) % len(_COLOURS)],
                "dash": "dash" if score == "auc" else "solid",
            },
            row=2 if metric == "association-test" else 1,
            col=1,
        )
    axis = {"zeroline": False, "gridcolor": "rgba(127,127,127,.2)"}
    labels = [escape(m if len(m) <= _LABEL else m[: _LABEL - 1] + "…") for m in models]
    figure.update_xaxes(**axis, tickvals=list(range(len(models))), ticktext=labels, tickangle=-35)
    figure.update_xaxes(title=f"models, best {SCORE} first", title_standoff=8, row=2)
    figure.update_yaxes(**axis, range=[-0.02, 1.05])
    figure.update_yaxes(title="AUC, |correlation|", row=1)
    figure.update_yaxes(title="proportion", row=2)
    figure.update_layout(
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13},
        margin={"l": 60, "r": 8, "t": 8, "b": 150},
        height=640,
        showlegend=True,
    )
    return _html(figure, f"published-{board.kind}")


def _add_model(
    figure: Any, i: int, model: str, points: pl.DataFrame, symbols: Mapping[str, str]
) -> None:
    """Draw the rows of the `i`th model, and its entry in the legend."""
    repeat, colour = divmod(i, len(_COLOURS))
    group = f"model {i}"
    # The legend shows a stroke, since symbols stand for mitigators.
    stroke = {"width": 7, "color": _COLOURS[colour], "dash": "dot" if repeat else "solid"}
    figure.add_scatter(
        x=[None], y=[None], mode="lines", name=escape(model), legendgroup=group, line=stroke
    )
    figure.add_scatter(
        x=points["bias"].to_list(),
        y=points["usefulness"].to_list(),
        mode="markers",
        name=escape(model),  # plotly renders some HTML in labels
        legendgroup=group,
        showlegend=False,
        text=[escape(mitigator) for mitigator in points["mitigator"]],
        hovertemplate="<b>%{fullData.name}</b><br>%{text}"
        "<br>bias %{x:.3f}<br>usefulness %{y:.3f}<extra></extra>",
        marker={
            "color": _COLOURS[colour],
            "symbol": [symbols[mitigator] for mitigator in points["mitigator"]],
            "size": 12,
            "opacity": 0.85,  # points may overlap
            # A colour that is used again gets a thick edge.
            "line": {"width": 1 + 2 * repeat, "color": "rgba(127,127,127,.8)"},
        },
    )


def _html(figure: Any, name: str) -> str:
    html: str = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displaylogo": False, "responsive": True, "displayModeBar": False},
    )
    return html


def _symbol(i: int) -> str:
    return _SYMBOLS[i % len(_SYMBOLS)] + ("-open" if i // len(_SYMBOLS) % 2 else "")


def _range(values: pl.Series) -> list[float]:
    """Return the ends of an axis that holds the values, with a margin."""
    low, high = min(values.to_list()), max(values.to_list())
    half = max(_MIN_RANGE, 1.16 * (high - low)) / 2
    return [(low + high) / 2 - half, (low + high) / 2 + half]
