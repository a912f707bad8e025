"""Figures for papers and pages, drawn by Matplotlib: SVG, PDF or PNG, by the suffix of the file.

A figure is a title and panels; a panel is a function that draws into a pair of axes. The functions
here draw the kinds that several places need: points, bars, heatmaps, violins, items. Matplotlib is
the extra `figures`. Knows no method.
"""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness import folders
from harness.errors import Unavailable, UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

Panel: TypeAlias = "Callable[[Axes], None]"
Rows: TypeAlias = Sequence[Mapping[str, Any]]

PICTURES = (".svg", ".pdf", ".png")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Told apart by colour-blind readers, too: Okabe and Ito (2008), with a grey for yellow."""
MARKERS = "osD^vPX*"
"""So that a print in grey is read, too."""
WIDTH = 6.3  # inches, the text of a page of A4
HEIGHT = 3.6  # inches of a panel
CHARACTERS = 15  # of an inch of the title, or of the names below the panels
LABELLED = 90  # points or items whose texts can be read beside them
POINTS = 500  # of a violin that are drawn; more are a block
STYLE: dict[RcKeyType, Any] = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # fonts that publishers accept
    "svg.hashsalt": "harness",  # the same file each time
    "text.parse_math": False,  # a dollar sign in a text is one
}


def check_suffix(path: Path) -> None:
    """Raise `UsageError` if a figure is not written as files of this suffix are."""
    if path.suffix.lower() not in PICTURES:
        raise UsageError(f"'{path}': a figure is written as {', '.join(PICTURES)}, by the suffix")


def picture(
    kind: str,
    title: str,
    panels: Sequence[Panel],
    *,
    width: float | None = None,
    height: float = HEIGHT,
) -> bytes:
    """Return a figure.

    Parameters
    ----------
    kind
        `svg`, `pdf` or `png`.
    title
        Title of the figure.
    panels
        What draws each panel; they are below each other.
    width, height
        Width of the figure and height of a panel in inches. Letters have the same size in any.

    Raises
    ------
    Unavailable
        If Matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise Unavailable(
            "figures need the package 'matplotlib': pip install 'embedding-bias-harness[figures]'"
        ) from None
    width = width or WIDTH
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = BytesIO()
    # A text of a script that no font has is drawn as boxes. Matplotlib warns once a letter.
    with mpl.rc_context(STYLE), warnings.catch_warnings(action="ignore", category=UserWarning):
        figure = Figure(layout="constrained")
        axes = list(figure.subplots(len(panels), squeeze=False)[:, 0])
        for ax, draw in zip(axes, panels, strict=True):
            draw(ax)
        text = textwrap.fill(title, int(CHARACTERS * width))
        figure.suptitle(text, x=0.01, ha="left", fontsize=STYLE["axes.titlesize"])
        rows = text.count("\n") + _legend(figure, axes, int(CHARACTERS * width))
        figure.set_size_inches(width, height * len(panels) + 0.15 * rows)
        figure.savefig(content, format=kind, metadata=dates)
    return content.getvalue()


def write_figure(path: Path, title: str, panels: Sequence[Panel], **layout: Any) -> None:
    """Write a figure as the suffix of its file says; parameters as in `picture`.

    Raises
    ------
    UsageError
        If the file has another suffix.
    Unavailable
        If Matplotlib is not installed.
    DiskError
        If the file cannot be written.
    """
    check_suffix(path)
    folders.write_atomically(path, picture(path.suffix.lower()[1:], title, panels, **layout))


def write_if_installed(path: Path, title: str, panels: Sequence[Panel], **layout: Any) -> bool:
    """Write a figure as `write_figure` if Matplotlib is installed; return whether it is."""
    try:
        write_figure(path, title, panels, **layout)
    except Unavailable:
        return False
    return True


def _legend(figure: Figure, axes: Sequence[Axes], characters: int) -> int:
    """Write the names below the panels, if there are several; return the rows."""
    handles = {
        label: handle
        for ax in axes
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    if len(handles) < 2:
        return 0
    columns = min(len(handles), max(1, characters // max(len(label) + 6 for label in handles)))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)
    return math.ceil(len(handles) / columns)


# The kinds of panels.


def points(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    *,
    names: Sequence[str] = (),
    axes: tuple[str, str] = ("", ""),
    label: str = "",
    number: int = 0,
    spread: Sequence[Sequence[float]] | None = None,
) -> None:
    """Draw points; `spread` has the lengths of the bars to the left and to the right of each."""
    ax.errorbar(
        x, y, xerr=spread, fmt=MARKERS[number % len(MARKERS)], color=COLOURS[number % len(COLOURS)],
        elinewidth=0.8, label=label, alpha=0.6 if len(x) > LABELLED else 1.0,
    )  # fmt: skip
    for at, name in zip(zip(x, y, strict=True), names if len(x) <= LABELLED else (), strict=False):
        ax.annotate(
            name, at, xytext=(0, 3), textcoords="offset points", ha="center", fontsize=6,
            color=COLOURS[number % len(COLOURS)],
        )  # fmt: skip
    ax.set(xlabel=axes[0], ylabel=axes[1])


def bars(ax: Axes, names: Sequence[str], values: Sequence[float], *, axis: str = "") -> None:
    """Draw a bar for each name, the first at the top."""
    ax.barh(range(len(names)), values, color=COLOURS[0])
    _name_rows(ax, names)
    ax.set_xlabel(axis)


def intervals(
    ax: Axes,
    names: Sequence[str],
    values: Sequence[float],
    spread: Sequence[Sequence[float]],
    *,
    axis: str,
) -> None:
    """Draw a forest plot: a row for each value, with the lengths below and above it, and 0."""
    points(ax, values, range(len(names)), axes=(axis, ""), spread=spread, number=1)
    ax.axvline(0, color="black", linewidth=0.8)
    _name_rows(ax, names)


def heatmap(
    ax: Axes, values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw a matrix, its first row at the top."""
    image = ax.imshow(np.asarray(values, dtype=np.float64), aspect="auto", cmap="viridis")
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    _name_rows(ax, rows)
    options: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(len(columns)), list(map(_short, columns)), fontsize=6, **options)


def violins(
    ax: Axes,
    values: Mapping[float, Sequence[float]],
    *,
    width: float,
    label: str = "",
    number: int = 0,
) -> None:
    """Draw a violin at each place, with its points and its mean."""
    colour = COLOURS[number % len(COLOURS)]
    finite = {x: [v for v in part if math.isfinite(v)] for x, part in values.items()}
    several = {x: part for x, part in finite.items() if len(part) > 1}  # one has no density
    if several:
        drawn = ax.violinplot([*several.values()], [*several], widths=width, showextrema=False)
        for body in drawn["bodies"]:  # type: ignore[attr-defined]  # a list, whatever the stub says
            body.set(facecolor=colour, edgecolor=colour, alpha=0.35, linewidth=0.6)
    for x, part in finite.items():
        # Points at equal heights would hide each other; the steps are the same each time.
        shown = np.array(part if len(part) <= POINTS else [])
        steps = ((np.arange(len(shown)) * 0.618034) % 1 - 0.5) * 0.3 * width
        marker = MARKERS[number % len(MARKERS)]
        ax.plot(x + steps, shown, marker, color=colour, markersize=2, label=label)
        if part:
            ends = [x - 0.3 * width, x + 0.3 * width]
            ax.plot(ends, [np.mean(part)] * 2, color="black", linewidth=1)
        label = ""


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    size: dict[str, Any] = {"fontsize": 6} if len(names) > 20 else {}
    ax.set_yticks(range(len(names)), list(map(_short, names)), **size)
    ax.set_ylim(len(names) - 0.5, -0.5)


def _short(text: str) -> str:
    """Return a text, or its end if it is long: sentences of one template begin alike."""
    return text if len(text) <= 40 else f"…{text[-39:]}"


# Figures of samples and of tables.

SIDES = ("targets_1", "targets_2")
_NO_VALUES = ("input", "set", "text", "embedded", "cluster")


def write_items(
    path: Path,
    samples: Mapping[str, Rows],
    title: str,
    *,
    width: float | None = None,
) -> None:
    """Write the figure of the items of a score: of each its value, by side.

    The value is the association of an association test, and elsewhere the contribution. Up to
    `LABELLED` items have a row each, in the order of the first label, with a line from its value
    there to that of the next labels. More items are violins.

    Parameters
    ----------
    path, title, width
        As in `write_figure`.
    samples
        Samples of the score by label, such as those before and after a mitigator. A side is called
        by its word set, if it is one, and else by its input.

    Raises
    ------
    UsageError
        If no item has a value.
    """
    column = _column(samples)
    values = {label: _by_item(rows, column) for label, rows in samples.items()}
    sides: dict[str, list[tuple[str, str, int]]] = {}
    for item in dict.fromkeys(item for part in values.values() for item in part):
        sides.setdefault(item[0], []).append(item)
    if not sides:
        raise UsageError(f"no item of {title} has a value to draw")
    names = {row.get("input"): row["set"] for of in samples.values() for row in of if "set" in row}
    shown = {side: str(names.get(side, side)).replace("_", " ") for side in sides}
    n = sum(map(len, sides.values()))
    if n <= LABELLED:
        panel = partial(_rows_of_items, values=values, sides=sides, shown=shown, axis=column)
        write_figure(path, title, [panel], width=width, height=1.6 + 0.12 * n)
    else:
        panel = partial(_violins_of_items, values=values, sides=sides, shown=shown, axis=column)
        write_figure(path, title, [panel], width=width)


_Values: TypeAlias = Mapping[str, Mapping[tuple[str, str, int], float]]
_Sides: TypeAlias = Mapping[str, Sequence[tuple[str, str, int]]]


def _rows_of_items(
    ax: Axes, values: _Values, sides: _Sides, shown: Mapping[str, str], axis: str
) -> None:
    first, texts = next(iter(values.values())), list[str]()
    for k, (side, items) in enumerate(sides.items()):
        colour = COLOURS[k % len(COLOURS)]
        ordered = sorted(items, key=lambda item: first.get(item, math.inf))
        for y, item in enumerate(ordered, start=len(texts)):
            path = [part[item] for part in values.values() if item in part]
            ax.plot(path, [y] * len(path), color=colour, linewidth=0.7)
        for n, (label, part) in enumerate(values.items()):
            own = [(part[item], y) for y, item in enumerate(ordered, len(texts)) if item in part]
            # Two labels are a hollow and a full marker of the side; more have a marker each.
            marker = MARKERS[(k if len(values) <= 2 else n) % len(MARKERS)]
            is_hollow = len(values) == 2 and n == 0
            ax.plot(
                [x for x, _ in own], [y for _, y in own], marker, color=colour,
                markerfacecolor="white" if is_hollow else colour,
                label=", ".join(filter(None, (shown[side], label))),
            )  # fmt: skip
        texts += [text for _, text, _ in ordered]
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel(axis)
    _name_rows(ax, texts)


def _violins_of_items(
    ax: Axes, values: _Values, sides: _Sides, shown: Mapping[str, str], axis: str
) -> None:
    width = 0.8 / len(values)
    for k, (label, part) in enumerate(values.items()):
        at = (k - (len(values) - 1) / 2) * width
        of_sides = {
            i + at: [part[item] for item in items if item in part]
            for i, items in enumerate(sides.values())
        }
        violins(ax, of_sides, width=width, label=label, number=k)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xticks(range(len(sides)), [shown[side] for side in sides])
    ax.set_ylabel(axis)


def _column(samples: Mapping[str, Rows]) -> str:
    """Return the column whose values are drawn."""
    rows = [row for of in samples.values() for row in of]
    numbers = [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if name not in _NO_VALUES and any(isinstance(row.get(name), float) for row in rows)
    ]
    known = [name for name in ("association", "contribution") if name in numbers]
    return next(iter([*known, *numbers]), "contribution")


def _by_item(rows: Rows, column: str) -> dict[tuple[str, str, int], float]:
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


def write_tables(
    path: Path, tables: Mapping[str, Rows], title: str, *, width: float | None = None
) -> None:
    """Write the figure of tables of one name, a panel for each label.

    A table of similarities of two columns of texts is a heatmap; one with two columns of numbers
    is points, with their texts beside them; one with a single such column is bars.

    Parameters
    ----------
    path, title, width
        As in `write_figure`.
    tables
        Rows of the table by label, such as those before and after a mitigator.

    Raises
    ------
    UsageError
        If a table has no column of numbers.
    """
    panels: list[Panel] = []
    heights = [HEIGHT]
    for label, rows in tables.items():
        columns = list(dict.fromkeys(name for row in rows for name in row))
        numbers = [k for k in columns if any(isinstance(row.get(k), float) for row in rows)]
        texts = [k for k in columns if any(isinstance(row.get(k), str) for row in rows)]
        texts = [name for name in texts if name not in numbers]
        if not numbers:
            raise UsageError(f"the table of {title} has no column of numbers to draw")
        axis = ": ".join(filter(None, (label, numbers[0])))
        if numbers[-1] == "similarity" and len(texts) > 1:
            panels.append(partial(_matrix, rows=rows, label=label))
        elif len(numbers) == 2 and len(texts) == 1:
            names = [str(row[texts[0]]) for row in rows]
            x, y = ([row[name] for row in rows] for name in reversed(numbers))
            panels.append(partial(points, x=x, y=y, names=names, axes=(numbers[1], axis)))
        else:
            if len(numbers) == len(texts):  # such as the words of both sides
                each = [
                    (row[t], row[n]) for t, n in zip(texts, numbers, strict=True) for row in rows
                ]
            else:
                each = [(" : ".join(row[name] for name in texts), row[numbers[0]]) for row in rows]
            each = [(name, value) for name, value in each if isinstance(value, float)][:LABELLED]
            names, values = [name for name, _ in each], [value for _, value in each]
            panels.append(partial(bars, names=names, values=values, axis=axis))
            heights.append(1.0 + 0.12 * len(each))
    write_figure(path, title, panels, width=width, height=max(heights))


def _matrix(ax: Axes, rows: Rows, label: str) -> None:
    first, second = [name for name, value in rows[0].items() if isinstance(value, str)][:2]
    names = [list(dict.fromkeys(row[name] for row in rows)) for name in (first, second)]
    cells = {(row[first], row[second]): row["similarity"] for row in rows}
    matrix = [[cells.get((a, b), math.nan) for b in names[1]] for a in names[0]]
    heatmap(ax, matrix, *names)
    ax.set(xlabel=second, ylabel=": ".join(filter(None, (label, first))))
