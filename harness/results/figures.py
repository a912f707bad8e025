"""Figures as pages: Plotly's description of a figure becomes an HTML file that needs no network.

Plotly's script, some megabytes, is written once beside the pages of a folder. A page also holds its
description as JSON, so that figures of several scores can be drawn in one. Knows no method: the
metrics describe the figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from harness import folders
from harness.errors import InvalidFile, unreadable

SCRIPT = "plotly.min.js"


_DESCRIPTION = re.compile(r'<script type="application/json" id="figure">(.*?)</script>', re.DOTALL)


def write(path: Path, drawing: Mapping[str, Any], title: str) -> None:
    """Write a figure to `path`, and Plotly's script beside it unless it exists.

    Parameters
    ----------
    path
        The page.
    drawing
        `data` and `layout` of a Plotly figure.
    title
        Title of the page.

    Raises
    ------
    ValueError
        If Plotly cannot draw it.
    DiskError
        If the folder cannot be written to.
    """
    import plotly.io
    from plotly.offline import get_plotlyjs

    script = path.with_name(SCRIPT)
    if not script.is_file():
        folders.write_atomically(script, get_plotlyjs().encode())
    body = plotly.io.to_html(dict(drawing), include_plotlyjs=SCRIPT, full_html=False)
    page = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<body>{body}<script type="application/json" id="figure">{_embedded(drawing)}</script>'
        "</body></html>\n"
    )
    folders.write_atomically(path, page.encode())


def read(path: Path) -> dict[str, Any]:
    """Return the description of the figure of a page.

    Raises
    ------
    InvalidFile
        If the page cannot be read or holds no description.
    """
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error if isinstance(error, OSError) else None) from None
    match = _DESCRIPTION.search(page)
    try:
        drawing = json.loads(match[1]) if match else None
    except ValueError:
        drawing = None
    if not isinstance(drawing, dict) or not isinstance(drawing.get("data"), list):
        raise InvalidFile("holds no description of its figure; compute the score again", path=path)
    return drawing


def together(drawings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return several figures as one: the traces of all, with the layout of the first.

    Parameters
    ----------
    drawings
        Figures by label; the label is put before the name of each trace. Traces lose the colours
        of their figure, so that those of two figures differ.
    """
    traces = []
    for label, drawing in drawings.items():
        for trace in drawing["data"]:
            names = (escape(label), str(trace.get("name") or ""))
            parts = {
                key: {name: v for name, v in trace[key].items() if name != "color"}
                for key in ("line", "marker")
                if isinstance(trace.get(key), Mapping)
            }
            traces.append({**trace, **parts, "name": ", ".join(filter(None, names))})
    first = next(iter(drawings.values()))
    return {"data": traces, "layout": dict(first.get("layout") or {})}


def _embedded(drawing: Mapping[str, Any]) -> str:
    """Return a figure as JSON that cannot end the element that it stands in."""
    from plotly.utils import PlotlyJSONEncoder

    return json.dumps(drawing, cls=PlotlyJSONEncoder, ensure_ascii=False).replace("<", "\\u003c")
