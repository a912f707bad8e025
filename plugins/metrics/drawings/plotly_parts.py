"""Parts that several figures share: points, their layout, rounded coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from harness.arrays import Floats

DIGITS = 5  # decimals of coordinates: finer than a pixel

Figure = dict[str, Any]


def points(name: str, coordinates: Floats, texts: Sequence[str]) -> Figure:
    """Return (n, 2) points as a trace; hovering shows the n texts."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": rounded(coordinates[:, 0]),
        "y": rounded(coordinates[:, 1]),
        "text": escaped(texts),
        "hovertemplate": "%{text}<br>%{x:.3f}, %{y:.3f}<extra></extra>",
    }


def layout(title: str, x: str, y: str) -> Figure:
    """Return a layout with a title and the titles of both axes; they are escaped."""
    return {
        "title": {"text": escape(title)},
        "xaxis": {"title": {"text": escape(x)}},
        "yaxis": {"title": {"text": escape(y)}},
    }


def rounded(values: Floats) -> list[float]:
    """Return coordinates as a figure needs them."""
    decimals: list[float] = np.round(values, DIGITS).tolist()
    return decimals


def escaped(texts: Sequence[str]) -> list[str]:
    """Return texts without markup: Plotly interprets some HTML."""
    return [escape(text) for text in texts]
