"""What changed since an earlier build: changes.json, and the news on the page.

An earlier build is a folder with its leaderboard.json and records.parquet. If nothing changed, its
own news stay, so that the same records give the same files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from ..boards.board import Board
from .payload import SCHEMA

FILE = "changes.json"
SAME = 1e-5
"""Values closer than this count as equal, since batches change scores by as much."""
LISTED = 500
"""Most changed values, and most changed ranks, that changes.json lists."""
_CELL = ("kind", "model", "fingerprint", "label", "params", "task")


class Change(BaseModel):
    """A value that changed, is new or is gone."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: str
    fingerprint: str
    mitigator: str
    task: str
    before: float | None
    now: float | None


class Changes(BaseModel):
    """The content of changes.json."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    since: str
    """When the earlier build was built."""
    models: list[str]
    """New models."""
    mitigators: list[str]
    """New mitigators."""
    tasks: list[str]
    """New tasks."""
    ranks: list[list[str | int | None]]
    """Board, benchmark, model, the rank before, and the rank now: the largest changes."""
    values: int
    """Number of changed values of models, mitigators and tasks that existed before."""
    changed: list[Change]
    """The first of them."""

    def news(self) -> dict[str, Any]:
        """Return the part that the page shows."""
        return self.model_dump(exclude={"changed"})

    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.models or self.mitigators or self.tasks or self.ranks or self.values)


def changes(
    boards: Sequence[Board], cells: pl.DataFrame | None, folder: Path
) -> tuple[Changes | None, str]:
    """Return the changes since the build in a folder, and a notice if that build cannot be read.

    Parameters
    ----------
    boards
        The boards of this build.
    cells
        Contents of its records.parquet; None if it has none.
    folder
        Folder of the earlier build. Without a leaderboard.json there is no earlier build, and there
        are no changes.
    """
    path = folder / "leaderboard.json"
    if not path.is_file():
        return None, ""
    try:
        base = json.loads(path.read_text("utf-8"))
        if base["schema"] != SCHEMA:
            return None, f"no news: '{path}' has schema {base['schema']}, this is {SCHEMA}"
        values, changed = _values(cells, folder / "records.parquet")
        new = Changes(
            since=base["built"],
            **_names(boards, base["boards"]),
            ranks=_ranks(boards, base["boards"]),
            values=values,
            changed=changed,
        )
        earlier = folder / FILE
        if new.is_empty():
            is_kept = earlier.is_file()
            return Changes.model_validate_json(earlier.read_bytes()) if is_kept else None, ""
    except (OSError, ValueError, TypeError, KeyError, ValidationError, pl.exceptions.PolarsError):
        return None, f"no news: the build in '{folder}' cannot be read"
    return new, ""


def _names(boards: Sequence[Board], base: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the names of models, mitigators and tasks that no board of the base has."""
    rows = [row for board in base for row in board["rows"]]
    known = {row["fingerprint"] for row in rows}
    new = {
        "models": {
            model
            for board in boards
            for model, fingerprint in board.rows.filter(pl.col("role") != "reference")
            .select("model", "fingerprint")
            .unique()
            .iter_rows()
            if fingerprint not in known
        },
        "mitigators": {label for board in boards for label in board.rows["mitigator"].unique()}
        - {row["mitigator"] for row in rows},
        "tasks": {task for board in boards for task in board.tasks["task"]}
        - {task["task"] for board in base for task in board["tasks"]},
    }
    return {key: sorted(names) for key, names in new.items()}


def _ranks(
    boards: Sequence[Board], base: Sequence[Mapping[str, Any]]
) -> list[list[str | int | None]]:
    """Return the models whose rank changed on a benchmark of both builds, the largest first."""
    before = {
        (board["kind"], part["name"]): {line["fingerprint"]: line for line in part["ranks"]}
        for board in base
        for part in board["benchmarks"]
    }
    lines: list[tuple[int, list[str | int | None]]] = []
    for board in boards:
        names = board.rows.select("row", "model", "fingerprint")
        for part in board.benchmarks:
            old = before.get((board.kind, part.name))
            if old is None:
                continue
            ranked = part.ranks.join(names, on="row", maintain_order="left").to_dicts()
            new = {line["fingerprint"]: line for line in ranked}
            for fingerprint in sorted(old.keys() | new.keys()):
                line = new.get(fingerprint) or old[fingerprint]
                ranks = [build.get(fingerprint, {}).get("rank") for build in (old, new)]
                if ranks[0] != ranks[1]:
                    moved = abs((ranks[0] or 0) - (ranks[1] or 0))
                    lines.append((moved, [board.kind, part.name, line["model"], *ranks]))
    lines.sort(key=lambda line: -line[0])
    return [line for _, line in lines[:LISTED]]


def _values(cells: pl.DataFrame | None, file: Path) -> tuple[int, list[Change]]:
    """Return the number of values that changed, and the first of them."""
    if cells is None or not file.is_file():
        return 0, []
    now, before = (
        frame.filter("ranked").select(pl.col(_CELL).cast(pl.Categorical), "value").unique(_CELL)
        for frame in (cells, pl.read_parquet(file, columns=[*_CELL, "value", "ranked"]))
    )
    both = now.join(before, on=list(_CELL), suffix="_before")
    value, was = pl.col("value"), pl.col("value_before")
    differ = both.filter(
        (value.is_null() != was.is_null()) | ((value - was).abs() > SAME).fill_null(value=False)
    ).sort(pl.col(_CELL).cast(pl.String))
    lines = [
        Change(
            model=row["model"],
            fingerprint=row["fingerprint"],
            mitigator=row["label"],
            task=row["task"],
            before=row["value_before"],
            now=row["value"],
        )
        for row in differ.head(LISTED).iter_rows(named=True)
    ]
    return differ.height, lines
