"""Reads the data files of a site, as its scripts do."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from harness.leaderboard.site.writing import data_path

_TYPES = {"f32": "<f4", "u8": "u1", "u16": "<u2", "i32": "<i4"}


def read(folder: Path, file: str = "data/site.js") -> Any:
    """Return what a data file holds."""
    build = build_of(folder)
    text = path(folder, file).read_text("utf-8")
    pattern = r"harnessData\((\".*?\"),JSON\.parse\('(.*)'\),\"(\w+)\"\);\n"
    call = re.fullmatch(pattern, text, re.DOTALL)
    assert call, f"{file} is a call of harnessData"
    assert (json.loads(call[1]), call[3]) == (file, build)
    return json.loads(re.sub(r"\\(.)", r"\1", call[2]))


def build_of(folder: Path) -> str:
    """Return the id of the build that wrote the page."""
    page = (folder / "index.html").read_text("utf-8")
    return page.partition('<meta name="build" content="')[2].partition('"')[0]


def page_of(folder: Path) -> str:
    """Return the page but for the id of its build."""
    return (folder / "index.html").read_text("utf-8").replace(build_of(folder), "")


def path(folder: Path, file: str) -> Path:
    """Return the path of a data file such as `data/site.js` of the page's build."""
    return folder / data_path(file, build_of(folder))


def grid(board: dict[str, Any], column: dict[str, str]) -> Any:
    """Return a column of a board as an array (rows × tasks)."""
    return _numbers(column).reshape(len(board["rows"]["model"]), len(board["tasks"]))


def _numbers(column: dict[str, str]) -> Any:
    kind = np.dtype(_TYPES[column["type"]])
    planes = np.frombuffer(base64.b64decode(column["data"]), dtype="u1")
    return planes.reshape(kind.itemsize, -1).T.copy().view(kind)


def of_rows(board: dict[str, Any], column: dict[str, str]) -> dict[tuple[str, str], Any]:
    """Return the numbers of a column by row."""
    numbers = _numbers(column).ravel().tolist()
    return dict(zip(rows(board), numbers, strict=True))


def rows(board: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the model and the mitigator of each row."""
    places = zip(board["rows"]["model"], board["rows"]["mitigator"], strict=True)
    return [
        (board["models"][model]["name"], board["mitigators"][mitigator]["label"])
        for model, mitigator in places
    ]
