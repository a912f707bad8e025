"""Figures as pages: Plotly's description of a figure becomes an HTML file that needs no network.

Plotly's script, some megabytes, is written once beside the pages of a folder. Knows no method: the
metrics describe the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from harness import folders

SCRIPT = "plotly.min.js"


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
        f"<body>{body}</body></html>\n"
    )
    folders.write_atomically(path, page.encode())
