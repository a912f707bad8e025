"""Figures: their descriptions, which lie beside the scores, and pictures of them that print.

A figure is described by Plotly's `data` and `layout`, as plain JSON. Metrics, studies and
boards make such descriptions, and this module keeps them as files `*.json`; Plotly itself shows
them, too. Matplotlib draws them as SVG, PDF or PNG, by the suffix of the file. It is an extra, and
nothing but a picture needs it.

Drawn are traces of the types scatter, bar, heatmap and violin, with the titles, ranges, ticks,
lines and annotations of the layout. A menu of a figure becomes panels, one below the other. Texts
that Plotly shows on hovering are left out. Knows no method.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import folders
from harness.digest import json_like
from harness.errors import InvalidFile, Unavailable, UsageError, unreadable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from matplotlib.typing import RcKeyType

PICTURES = (".svg", ".pdf", ".png")
DESCRIPTION = ".json"
TRACES = ("scatter", "bar", "heatmap", "violin")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Told apart by colour-blind readers, too: Okabe and Ito (2008), with a grey for yellow."""
SYMBOLS = {
    "circle": "o", "square": "s", "diamond": "D", "triangle-up": "^", "triangle-down": "v",
    "cross": "P", "x": "X", "star": "*",
}  # fmt: skip
"""Markers, so that a print in grey is read, too: their names in descriptions, and in Matplotlib."""
MARKERS = "".join(SYMBOLS.values())
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "----", "oooo")
"""Patterns of bars, for the same reason."""
DASHES = {"solid": "-", "dash": "--", "dashdot": "-.", "dot": ":"}
WIDTH = 6.3  # inches, the text of a page of A4
HEIGHT = 3.6  # inches of a panel
PIXELS = 115  # a description's height in pixels becomes inches
CHARACTERS = 15  # of an inch of the title, or of the names below the panels
LABELLED = 90  # points of a trace whose texts can be read beside them
POINTS = 500  # of a violin that are drawn; more are a block
NAMED = 8  # violins that have their names below them
STYLE: dict[RcKeyType, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # fonts that publishers accept
    "svg.hashsalt": "harness",  # the same file each time
    "text.parse_math": False,  # a dollar sign in a text is one
}
_POINT = "point"  # marks the name of a point
_OLD_PAGE = re.compile(r'<script type="application/json" id="figure">(.*?)</script>', re.DOTALL)


def check_suffix(path: Path) -> None:
    """Raise `UsageError` if a figure is not written as files of this suffix are.

    Parameters
    ----------
    path
        The file to write.
    """
    if path.suffix.lower() not in (*PICTURES, DESCRIPTION):
        raise UsageError(
            f"'{path}': a figure is written as {', '.join(PICTURES)}, or as its description "
            f"{DESCRIPTION}, by the suffix of the file"
        )


def write_figure(path: Path, drawing: Mapping[str, Any], *, width: float | None = None) -> None:
    """Write a figure as its suffix says: a picture, or its description.

    Parameters
    ----------
    path
        The file; `.svg`, `.pdf`, `.png` or `.json`.
    drawing
        `data` and `layout` of a Plotly figure.
    width
        Width of a picture in inches, by default `WIDTH`. Letters have the same size in any width.

    Raises
    ------
    UsageError
        If the file has another suffix, or a trace is of a type that is not drawn.
    ValueError
        If the description has no list of traces.
    Unavailable
        If Matplotlib, which draws pictures, is not installed.
    DiskError
        If the file cannot be written.
    """
    check_suffix(path)
    content = _plain(json_like(drawing))
    traces = content.get("data")
    if not isinstance(traces, list) or not all(isinstance(trace, dict) for trace in traces):
        raise ValueError("a figure is described by 'data', a list of traces, and 'layout'")
    if path.suffix.lower() == DESCRIPTION:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        # A lone surrogate cannot be encoded; with a backslash it is JSON's escape.
        folders.write_atomically(path, text.encode(errors="backslashreplace"))
    else:
        folders.write_atomically(path, picture(content, path.suffix.lower()[1:], width or WIDTH))


def write_with_picture(path: Path, drawing: Mapping[str, Any]) -> Path:
    """Write a description, and an SVG beside it if Matplotlib is installed; return the latter.

    Parameters
    ----------
    path
        The description, `*.json`.
    drawing
        `data` and `layout` of a Plotly figure.

    Returns
    -------
    Path
        The picture, or the description if there is no picture.

    Raises
    ------
    DiskError
        If the folder cannot be written to.
    """
    write_figure(path, drawing)
    picture_path = path.with_suffix(".svg")
    try:
        write_figure(picture_path, drawing)
    except Unavailable:
        return path
    return picture_path


def read_figure(path: Path) -> dict[str, Any]:
    """Return the description of a figure; of pages of earlier versions, too.

    Raises
    ------
    InvalidFile
        If the file cannot be read or is no description.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error if isinstance(error, OSError) else None) from None
    match = _OLD_PAGE.search(text) if path.suffix == ".html" else None
    try:
        drawing = json.loads(match[1] if match else text)
    except ValueError:
        drawing = None
    if not isinstance(drawing, dict) or not isinstance(drawing.get("data"), list):
        raise InvalidFile("holds no description of a figure; compute the score again", path=path)
    return drawing


def figures_together(drawings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
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
    layout = dict(next(iter(drawings.values())).get("layout") or {})
    if "updatemenus" in layout:
        layout["updatemenus"] = [
            menu | {"buttons": [_shared_button(button, drawings) for button in menu["buttons"]]}
            for menu in layout["updatemenus"]
        ]
    return {"data": traces, "layout": layout}


def buttons(titles: Mapping[str, str], n_traces: int) -> list[dict[str, Any]]:
    """Return the buttons of a menu that shows the traces of one label at a time.

    Parameters
    ----------
    titles
        The title of the axis y by the label of the button; both are text, not markup.
    n_traces
        Number of the traces, as many for each label, which follow each other.
    """
    n = n_traces // max(1, len(titles))
    return [
        {
            "label": escape(label),
            "method": "update",
            "args": [
                {"visible": [i // n == k for i in range(n_traces)]},
                {"yaxis.title.text": escape(title)},
            ],
        }
        for k, (label, title) in enumerate(titles.items())
    ]


def _shared_button(
    button: Mapping[str, Any], drawings: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a button that shows what the buttons with its label show in their figures."""
    visible: list[bool] = []
    for drawing in drawings.values():
        own = {other["label"]: other for other in _buttons(drawing)}.get(button["label"])
        visible += own["args"][0]["visible"] if own else [False] * len(drawing["data"])
    return {**button, "args": [{"visible": visible}, *button["args"][1:]]}


def _buttons(drawing: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the buttons of the menus of a figure."""
    menus = (drawing.get("layout") or {}).get("updatemenus") or ()
    return [button for menu in menus for button in menu["buttons"]]


# The figure of a task's items: by side, before and after a mitigator.


SIDES = ("targets_1", "targets_2")
_NO_VALUES = ("input", "text", "embedded", "cluster")


def items_figure(
    samples: Mapping[str, Sequence[Mapping[str, Any]]],
    title: str,
    *,
    names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the figure of the items of a score: of each its value, by side.

    The value is the association of an association test, and elsewhere the contribution. Up to
    `LABELLED` items have a row each, in the order of the first label, with a line from its value
    there to that of the next labels. More items are violins.

    Parameters
    ----------
    samples
        Samples of the score by label, such as those before and after a mitigator.
    title
        Title of the figure.
    names
        Names of the inputs, such as those of their word sets; by default the inputs themselves.

    Raises
    ------
    UsageError
        If no item has a value.
    """
    column = _column(samples)
    values = {label: _by_item(rows, column) for label, rows in samples.items()}
    sides: dict[str, list[tuple[str, str, int]]] = {}
    for label in values:
        for item in values[label]:
            if item not in sides.setdefault(item[0], []):
                sides[item[0]].append(item)
    if not sides:
        raise UsageError(f"no item of {title} has a value to draw")
    shown = {side: (names or {}).get(side) or side.replace("_", " ") for side in sides}
    if sum(map(len, sides.values())) > LABELLED:
        return _violins_of_items(values, sides, shown, title, column)
    return _rows_of_items(values, sides, shown, title, column)


def _column(samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return the column whose values are drawn."""
    columns = {name: None for rows in samples.values() for row in rows for name in row}
    known = [name for name in ("association", "contribution") if name in columns]
    numbers = [
        name
        for name in columns
        if name not in _NO_VALUES
        and any(isinstance(row.get(name), float) for rows in samples.values() for row in rows)
    ]
    return next(iter([*known, *numbers]), "contribution")


def _by_item(rows: Sequence[Mapping[str, Any]], column: str) -> dict[tuple[str, str, int], float]:
    """Return the values of the items: by side, text, and the number of equal ones before it."""
    found = {str(row.get("input", "items")) for row in rows}
    of_sides = [row for row in rows if row.get("input") in SIDES] if found >= {*SIDES} else rows
    values: dict[tuple[str, str, int], float] = {}
    for row in of_sides:
        texts = [str(value) for value in row.values() if isinstance(value, str)]
        text = str(row["text"]) if "text" in row else ", ".join(texts)
        side, number = str(row.get("input", "items")), 0
        while (side, text, number) in values:
            number += 1
        if isinstance(value := row.get(column), float | int):
            values[side, text, number] = float(value)
    return values


def _rows_of_items(
    values: Mapping[str, Mapping[tuple[str, str, int], float]],
    sides: Mapping[str, Sequence[tuple[str, str, int]]],
    shown: Mapping[str, str],
    title: str,
    column: str,
) -> dict[str, Any]:
    """Return a row for each item."""
    first = next(iter(values.values()))
    traces: list[dict[str, Any]] = []
    texts: list[str] = []
    for k, (side, items) in enumerate(sides.items()):
        # Two labels are a hollow and a full marker of the side; more have a marker each.
        own = list(SYMBOLS)[k % len(SYMBOLS)]
        symbols = [f"{own}-open", own] if len(values) == 2 else list(SYMBOLS)
        ordered = sorted(items, key=lambda item: first.get(item, math.inf))
        at = range(len(texts), len(texts) + len(ordered))
        texts += [text if len(text) <= 40 else "…" + text[-39:] for _, text, _ in ordered]
        colour = {"color": COLOURS[k % len(COLOURS)]}
        links: tuple[list[float | None], list[int | None]] = ([], [])
        for y, item in zip(at, ordered, strict=True):
            path = [part[item] for part in values.values() if item in part]
            links[0].extend([*path, None])
            links[1].extend([*[y] * len(path), None])
        line = {"type": "scatter", "mode": "lines", "x": links[0], "y": links[1]}
        traces.append(line | {"line": {**colour, "width": 0.7}, "showlegend": False})
        for n, (label, part) in enumerate(values.items()):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": escape(", ".join(filter(None, (shown[side], label)))),
                    "x": [part.get(item) for item in ordered],
                    "y": list(at),
                    "marker": {**colour, "symbol": symbols[n % len(symbols)]},
                }
            )
    layout = {
        "title": {"text": escape(title)},
        "xaxis": {"title": {"text": escape(column)}},
        "yaxis": {
            "tickvals": list(range(len(texts))),
            "ticktext": [escape(text) for text in texts],
            "range": [len(texts) - 0.5, -0.5],
        },
        "height": 180 + 14 * len(texts),
        "shapes": [{"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper"}],
    }
    return {"data": traces, "layout": layout}


def _violins_of_items(
    values: Mapping[str, Mapping[tuple[str, str, int], float]],
    sides: Mapping[str, Sequence[tuple[str, str, int]]],
    shown: Mapping[str, str],
    title: str,
    column: str,
) -> dict[str, Any]:
    """Return a violin for each side and label."""
    width = 0.8 / len(values)
    offsets = [(k - (len(values) - 1) / 2) * width for k in range(len(values))]
    traces = []
    for k, (label, part) in enumerate(values.items()):
        offset = offsets[k]
        points = [
            (i + offset, part[item])
            for i, items in enumerate(sides.values())
            for item in items
            if item in part
        ]
        traces.append(
            {
                "type": "violin",
                "name": escape(label),
                "x": [x for x, _ in points],
                "y": [y for _, y in points],
                "width": width,
                "line": {"color": COLOURS[k % len(COLOURS)]},
            }
        )
    ticks = {float(i): shown[side] for i, side in enumerate(sides)}
    named = len(values) * len(sides) <= NAMED
    if named:
        ticks = {
            i + offset: "\n".join(filter(None, (label, shown[side] if len(sides) > 1 else "")))
            for i, side in enumerate(sides)
            for label, offset in zip(values, offsets, strict=True)
        }
    layout = {
        "title": {"text": escape(title)},
        "xaxis": {
            "tickvals": list(ticks),
            "ticktext": [escape(text).replace("\n", "<br>") for text in ticks.values()],
        },
        "yaxis": {"title": {"text": escape(column)}},
        "showlegend": not named and len(values) > 1,
        "shapes": [{"type": "line", "x0": 0, "x1": 1, "y0": 0, "y1": 0, "xref": "paper"}],
    }
    return {"data": traces, "layout": layout}


def _plain(value: Any) -> Any:
    """Return JSON types without NaN and infinity, which JSON has not."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# The picture of a description.


@dataclass(frozen=True)
class _Panel:
    """The traces that are drawn in one pair of axes, with their layout."""

    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    characters: int


def picture(drawing: Mapping[str, Any], kind: str, width: float = WIDTH) -> bytes:
    """Return the picture of a figure.

    Parameters
    ----------
    drawing
        `data` and `layout` of a Plotly figure, as JSON types.
    kind
        `svg`, `pdf` or `png`.
    width
        Width in inches.

    Raises
    ------
    UsageError
        If a trace is of a type that is not drawn.
    Unavailable
        If Matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise Unavailable(
            "pictures of figures need the package 'matplotlib': "
            "pip install 'embedding-bias-harness[figures]'"
        ) from None
    panels = _panels(drawing, int(CHARACTERS * width))
    for trace in drawing["data"]:
        if trace.get("type", "scatter") not in TRACES:
            raise UsageError(
                f"a trace of type '{trace['type']}' is not drawn, only {', '.join(TRACES)}; "
                "Plotly shows the "
                f"description, a figure '*{DESCRIPTION}'"
            )
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = BytesIO()
    # A text of a script that no font has is drawn as boxes. Matplotlib warns once a letter.
    with mpl.rc_context(STYLE), warnings.catch_warnings(action="ignore", category=UserWarning):
        figure = Figure(layout="constrained")
        axes: list[Axes] = list(figure.subplots(len(panels), squeeze=False)[:, 0])
        for ax, panel in zip(axes, panels, strict=True):
            _draw(ax, panel)
        title = textwrap.fill(
            _text((drawing.get("layout") or {}).get("title")), panels[0].characters
        )
        # The title of the figure begins at its left end, that of the axes behind their labels.
        figure.suptitle(title, x=0.01, ha="left", fontsize=STYLE["axes.titlesize"])
        rows = _legend(figure, axes, panels[0])
        rows += title.count("\n")
        figure.set_size_inches(width, _height(panels) + 0.15 * rows)
        _hide_overlapping(figure, axes)
        figure.savefig(content, format=kind, metadata=dates)
    return content.getvalue()


def _legend(figure: Figure, axes: Sequence[Axes], panel: _Panel) -> int:
    """Write the names of the traces below the panels, if there are several; return the rows."""
    handles = {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if not handles or not panel.layout.get("showlegend", len(handles) > 1):
        return 0
    longest = max(len(label) + 6 for label in handles)
    columns = min(len(handles), max(1, panel.characters // longest))
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=columns,
        title=_text((panel.layout.get("legend") or {}).get("title")) or None,
    )
    return math.ceil(len(handles) / columns)


def _panels(drawing: Mapping[str, Any], characters: int) -> list[_Panel]:
    """Return a panel for each button of the figure's menu, or one; a line has some characters."""
    traces, layout = drawing["data"], dict(drawing.get("layout") or {})
    buttons = _buttons(drawing)
    if len(buttons) < 2:
        shown = [trace for trace in traces if trace.get("visible", True) is True]
        return [_Panel(shown, layout, characters)]
    panels = []
    for button in buttons:
        shows, changes = button["args"][0]["visible"], (*button["args"][1:], {})[0]
        shown = [trace for trace, visible in zip(traces, shows, strict=True) if visible]
        y = dict(layout.get("yaxis") or {})
        if title := changes.get("yaxis.title.text"):
            y["title"] = {"text": title}
        panels.append(_Panel(shown, layout | {"yaxis": y}, characters))
    return panels


def _height(panels: Sequence[_Panel]) -> float:
    """Return the height of a picture in inches."""
    if len(panels) > 1:
        return 0.7 * HEIGHT * len(panels)
    pixels = panels[0].layout.get("height")
    rows = [len(trace["z"]) for trace in panels[0].traces if trace.get("type") == "heatmap"]
    if rows:
        return max(2.5, 0.15 * max(rows) + 2.5)
    bars = [t for t in panels[0].traces if t.get("type") == "bar" and t.get("orientation") == "h"]
    names = len({str(value) for trace in bars for value in trace.get("y") or ()})
    return max(float(pixels) / PIXELS if pixels else HEIGHT, max(0.14, 0.05 * len(bars)) * names)


def _draw(ax: Axes, panel: _Panel) -> None:
    """Draw the traces of a panel, its axes, lines and annotations."""
    places = {axis: _Places.of(panel, axis) for axis in "xy"}
    bars = _bar_slots(panel.traces, places)
    for i, trace in enumerate(panel.traces):
        style = _Style.of(trace, i)
        kind = trace.get("type", "scatter")
        if kind == "bar":
            _bars(ax, trace, style, places, *bars[i])
        else:
            _DRAWN[kind](ax, trace, style, places)
    for axis in "xy":
        _axis(ax, axis, panel, places[axis])
    for shape in panel.layout.get("shapes") or ():
        _line(ax, shape)
    for note in panel.layout.get("annotations") or ():
        transform = {
            ("x", "y"): ax.transData,
            ("x", "paper"): ax.get_xaxis_transform(),
            ("paper", "y"): ax.get_yaxis_transform(),
        }.get((note.get("xref", "x"), note.get("yref", "y")), ax.transAxes)
        colour = (note.get("font") or {}).get("color", "black")
        side = note.get("xanchor", "center")
        text = _text(note.get("text"))
        ax.text(note["x"], note["y"], text, transform=transform, color=colour, ha=side, va="top")


@dataclass(frozen=True)
class _Places:
    """Where the values of an axis are: at themselves, or at the numbers of categories."""

    categories: Mapping[str, int]

    @classmethod
    def of(cls, panel: _Panel, axis: str) -> _Places:
        """Return the places of the values of an axis, `x` or `y`."""
        values = [value for trace in panel.traces for value in trace.get(axis) or ()]
        of_text = any(isinstance(value, str) for value in values)
        if (panel.layout.get(f"{axis}axis") or {}).get("type") == "category" or of_text:
            names = dict.fromkeys(map(str, values))
            return cls({name: i for i, name in enumerate(names)})
        return cls({})

    def at(self, values: Sequence[Any]) -> list[float]:
        """Return the places of some values."""
        if self.categories:
            return [float(self.categories[str(value)]) for value in values]
        return [math.nan if value is None else float(value) for value in values]


@dataclass(frozen=True)
class _Style:
    """How a trace is drawn."""

    label: str
    colour: str
    marker: str
    hollow: bool
    dash: str
    hatch: str
    width: float
    size: float

    @classmethod
    def of(cls, trace: Mapping[str, Any], i: int) -> _Style:
        """Return the style of the trace with a number; colours and markers go round."""
        line, marker = trace.get("line") or {}, trace.get("marker") or {}
        colour = line.get("color") or marker.get("color")
        if not isinstance(colour, str):  # a colour for each point is not drawn
            colour = COLOURS[i % len(COLOURS)]
        size, symbol = marker.get("size"), str(marker.get("symbol", ""))
        own = SYMBOLS.get(symbol.removesuffix("-open"), MARKERS[i % len(MARKERS)])
        label = _text(trace.get("name")) if trace.get("showlegend", True) else ""
        return cls(
            label=label,
            colour=colour,
            marker=own,
            hollow=symbol.endswith("-open"),
            dash=DASHES.get(line.get("dash") or (label and [*DASHES][i % len(DASHES)]), "-"),
            hatch=HATCHES[i % len(HATCHES)],
            width=float(line.get("width", 1.2)),
            size=float(size) * 0.6 if isinstance(size, int | float) else 3.5,
        )


def _scatter(
    ax: Axes, trace: Mapping[str, Any], style: _Style, places: Mapping[str, _Places]
) -> None:
    n = len(trace.get("y") or trace.get("x") or ())
    x, y = (places[axis].at(trace.get(axis) or range(n)) for axis in "xy")
    mode = trace.get("mode") or ("lines+markers" if n < 20 else "lines")
    ax.errorbar(
        x,
        y,
        xerr=_errors(trace.get("error_x") or {}),
        yerr=_errors(trace.get("error_y") or {}),
        color=style.colour,
        label=style.label,
        linestyle=style.dash if "lines" in mode else "",
        linewidth=min(style.width, 1.5),
        elinewidth=0.8,
        marker=style.marker if "markers" in mode else "",
        markerfacecolor="white" if style.hollow else style.colour,
        markersize=style.size,
        alpha=0.6 if n > LABELLED and "lines" not in mode else 1.0,
    )
    if "text" in mode and n <= LABELLED:
        for a, b, text in zip(x, y, trace.get("text") or (), strict=False):
            ax.annotate(
                _text(text), (a, b), xytext=(0, 3), textcoords="offset points", ha="center",
                fontsize=6, color=style.colour, gid=_POINT,
            )  # fmt: skip


def _hide_overlapping(figure: Figure, axes: Sequence[Axes]) -> None:
    """Hide the names of points that would lie on those of earlier ones."""
    figure.draw_without_rendering()
    for ax in axes:
        shown: list[Bbox] = []
        for text in ax.texts:
            if text.get_gid() == _POINT:
                box = text.get_window_extent()
                if any(box.overlaps(other) for other in shown):
                    text.set_visible(False)
                else:
                    shown.append(box)


def _errors(errors: Mapping[str, Any]) -> list[list[float]] | None:
    """Return the lengths of bars of error below and above each point."""
    above = errors.get("array")
    if not above:
        return None
    below = errors.get("arrayminus") or above
    return [[value or 0.0 for value in side] for side in (below, above)]


def _bar_slots(
    traces: Sequence[Mapping[str, Any]], places: Mapping[str, _Places]
) -> dict[int, tuple[float, float]]:
    """Return the offset and the width of the bars of each trace, so that none hides another."""
    at: dict[int, set[float]] = {}
    for i, trace in enumerate(traces):
        if trace.get("type") == "bar":
            axis = "y" if trace.get("orientation") == "h" else "x"
            n = len(trace.get("x") or trace.get("y") or ())
            at[i] = set(places[axis].at(trace.get(axis) or range(n)))
    shared = len(set().union(*at.values())) < sum(map(len, at.values()))
    width = 0.8 / len(at) if shared else 0.8
    middle = (len(at) - 1) / 2
    return {i: ((k - middle) * width if shared else 0.0, width) for k, i in enumerate(at)}


def _bars(
    ax: Axes,
    trace: Mapping[str, Any],
    style: _Style,
    places: Mapping[str, _Places],
    offset: float,
    width: float,
) -> None:
    across = trace.get("orientation") == "h"
    along, lengths = ("y", "x") if across else ("x", "y")
    sizes = places[lengths].at(trace.get(lengths) or ())
    at = np.array(places[along].at(trace.get(along) or range(len(sizes)))) + offset
    widths = trace.get("width") or width
    is_histogram = len(sizes) > LABELLED or bool(trace.get("width"))
    options: dict[str, Any] = {"color": style.colour, "label": style.label}
    if not is_histogram:
        options |= {"edgecolor": "white", "linewidth": 0.3, "hatch": style.hatch}
    if across:
        ax.barh(at, sizes, widths, **options)
    else:
        ax.bar(at, sizes, widths, **options)


def _heatmap(
    ax: Axes, trace: Mapping[str, Any], style: _Style, places: Mapping[str, _Places]
) -> None:
    values = np.array(trace["z"], dtype=np.float64)
    image = ax.imshow(values, aspect="auto", cmap="viridis", origin="lower")
    title = _text((trace.get("colorbar") or {}).get("title"))
    ax.figure.colorbar(image, ax=ax, label=title, shrink=0.8)


def _violin(
    ax: Axes, trace: Mapping[str, Any], style: _Style, places: Mapping[str, _Places]
) -> None:
    values: dict[float, list[float]] = {}
    ys = places["y"].at(trace.get("y") or ())
    for x, y in zip(places["x"].at(trace.get("x") or [0.0] * len(ys)), ys, strict=True):
        if math.isfinite(y):
            values.setdefault(x, []).append(y)
    if not values:
        return
    width = float(trace.get("width") or 0.8)
    several = {x: part for x, part in values.items() if len(part) > 1}  # one has no density
    if several:
        parts = ax.violinplot(
            list(several.values()), list(several), widths=width, showextrema=False
        )
        for body in parts["bodies"]:  # type: ignore[attr-defined]  # a list, whatever the stub says
            body.set(facecolor=style.colour, edgecolor=style.colour, alpha=0.35, linewidth=0.6)
    for i, (x, part) in enumerate(values.items()):
        # Points at equal heights would hide each other; the steps are the same each time.
        shown = np.array(part if len(part) <= POINTS else [])
        steps = ((np.arange(len(shown)) * 0.618034) % 1 - 0.5) * 0.3 * width
        label = style.label if i == 0 else ""
        ax.plot(x + steps, shown, style.marker, color=style.colour, markersize=2, label=label)
        ends = [x - 0.3 * width, x + 0.3 * width]
        ax.plot(ends, [np.mean(part)] * 2, color="black", linewidth=1)


_DRAWN: dict[str, Callable[[Axes, Mapping[str, Any], _Style, Mapping[str, _Places]], None]] = {
    "scatter": _scatter,
    "heatmap": _heatmap,
    "violin": _violin,
}


def _axis(ax: Axes, axis: str, panel: _Panel, places: _Places) -> None:
    """Set title, ticks and ends of an axis, `x` or `y`."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator, PercentFormatter

    own = ax.xaxis if axis == "x" else ax.yaxis
    layout: Mapping[str, Any] = panel.layout.get(f"{axis}axis") or {}
    # A title along y has the height of the lowest panel.
    widest = panel.characters * 4 // 5 if axis == "x" else int(CHARACTERS * 0.7 * HEIGHT)
    own.set_label_text(textwrap.fill(_text(layout.get("title")), widest))
    labels: list[str] | None = None
    if places.categories:
        at, labels = list(places.categories.values()), list(places.categories)
    elif layout.get("tickvals"):
        at = layout["tickvals"]
        labels = list(map(str, layout.get("ticktext") or [f"{value:g}" for value in at]))
    elif layout.get("dtick"):
        own.set_major_locator(MultipleLocator(float(layout["dtick"])))
    elif axis == "x":
        own.set_major_locator(MaxNLocator(panel.characters // 10, steps=[1, 2, 5, 10]))
    if str(layout.get("tickformat", "")).endswith("%"):
        own.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if labels is not None:
        room = panel.characters // 3
        texts = [_text(label) for label in labels]
        texts = [text if len(text) <= room else "…" + text[1 - room :] for text in texts]
        crowded = axis == "x" and sum(len(text) + 2 for text in texts) > panel.characters
        own.set_ticks(at, texts, rotation=60 if crowded else 0, **_small(texts, crowded))
    if layout.get("range"):
        (ax.set_xlim if axis == "x" else ax.set_ylim)(*layout["range"])
    if layout.get("autorange") == "reversed":
        own.set_inverted(True)


def _small(texts: Sequence[str], crowded: bool) -> dict[str, Any]:
    """Return options of the labels of ticks that fit in."""
    options: dict[str, Any] = {"fontsize": 6} if len(texts) > 20 or crowded else {}
    if crowded:
        options |= {"ha": "right", "rotation_mode": "anchor"}
    return options


def _line(ax: Axes, shape: Mapping[str, Any]) -> None:
    """Draw a line of the layout; a shape of another type is left out."""
    if shape.get("type") != "line":
        return
    line = shape.get("line") or {}
    options = {
        "color": line.get("color", "black"),
        "linewidth": min(float(line.get("width", 0.8)), 1.5),
        "linestyle": DASHES.get(line.get("dash", "solid"), "-"),
    }
    if shape.get("yref") == "paper":
        ax.axvline(shape["x0"], **options)
    elif shape.get("xref") == "paper":
        ax.axhline(shape["y0"], **options)
    else:
        ax.plot([shape["x0"], shape["x1"]], [shape["y0"], shape["y1"]], **options)


def _text(value: Any) -> str:
    """Return a text of a description, or of its `text`, without Plotly's markup."""
    text = value.get("text") if isinstance(value, Mapping) else value
    plain = re.sub(r"<br ?/?>", "\n", str(text or ""))
    return unescape(re.sub(r"</?(b|i|sub|sup|extra)>", "", plain))
