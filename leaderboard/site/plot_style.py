"""What the plots of a board have in common: colours, layout, and how they become HTML."""

from __future__ import annotations

from typing import Any

COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#999999")
"""The palette of Okabe and Ito, for readers with any colour vision."""
SYMBOLS = ("square", "diamond", "triangle-up", "cross", "star", "x", "hexagon", "pentagon")
"""Shapes of mitigators; a circle is a model without one."""
GREY = "rgba(127,127,127,.9)"
GRID = "rgba(127,127,127,.2)"
LAYOUT = {
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": "system-ui, sans-serif", "size": 13},
}
"""The page's own colours show through."""


def plot_html(figure: Any, name: str) -> str:
    """Return a figure of plotly as HTML without plotly's script; `name` is its id."""
    html: str = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=name,
        config={"displaylogo": False, "responsive": True, "displayModeBar": False},
    )
    return html
