"""The plot of a board: bias against usefulness, one point a row, as a self-contained HTML part."""

from __future__ import annotations

from html import escape

import polars as pl

from harness.leaderboard.board import Board

# Okabe and Ito's colours, which people with any colour vision can tell apart; symbols say the same.
_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#999999")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "hexagon")


def plot(board: Board) -> str | None:
    """Return the plot without plotly's own script, or None if no row has both measures.

    Only rows with a value on every task of the board are drawn: means over other tasks do not
    compare.
    """
    rows = board.rows.filter(
        pl.col("rank").is_not_null(),
        pl.col("usefulness_rank").is_not_null(),
        pl.col("bias").is_not_null(),
        pl.col("usefulness").is_not_null(),
    )
    if rows.is_empty():
        return None
    from plotly import graph_objects as go

    figure = go.Figure()
    for i, mitigator in enumerate(sorted(set(rows["mitigator"]))):
        points = rows.filter(mitigator=mitigator)
        figure.add_scatter(
            x=points["bias"].to_list(),
            y=points["usefulness"].to_list(),
            mode="markers",
            name=escape(mitigator),  # plotly reads a little HTML in labels
            text=[escape(model) for model in points["model"]],
            hovertemplate="<b>%{text}</b><br>%{fullData.name}"
            "<br>bias %{x:.3f}<br>usefulness %{y:.3f}<extra></extra>",
            marker={
                "color": _COLOURS[i % len(_COLOURS)],
                "symbol": _SYMBOLS[i % len(_SYMBOLS)],
                "size": 12,
                "line": {"width": 1, "color": "rgba(127,127,127,.6)"},
            },
        )
    axis = {"zeroline": False, "gridcolor": "rgba(127,127,127,.2)", "automargin": True}
    figure.update_layout(
        xaxis={**axis, "title": "bias (left is better)"},
        yaxis={**axis, "title": "usefulness (up is better)"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": "system-ui, sans-serif", "size": 13},
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        height=420,
        showlegend=True,
    )
    html: str = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"plot-{board.kind}",
        config={"displaylogo": False, "responsive": True, "displayModeBar": False},
    )
    return html
