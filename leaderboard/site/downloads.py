"""The files to download: leaderboard.csv, leaderboard.json and records.parquet.

They hold what the page shows, for other programs. Computes no number.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

import harness
from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.columns import rounded
from harness.leaderboard.site.payload import SCHEMA
from harness.leaderboard.site.studies import StudyOnModel

PARQUET = "records.parquet"
DIGITS = 6
"""Significant digits of the CSV."""
_FORMULA = r"^([=+\-@\t\r])"
_RECORD = (
    *("kind", "model", "fingerprint", "revision", "mitigator", "label", "params", "fitted_on"),
    *("mitigator_fingerprint", "task", "version", "digest", "measures", "category", "family"),
    *("language", "scenario", "metric", "score", "primary", "seed", "value", "reason", "ideal"),
    *("low_bound", "high_bound", "unit", "p_value", "alternative", "low", "high", "level", "floor"),
    *("floor_sd", "n", "asked", "found", "truncated", "created", "run", "harness"),
)
"""Columns of records.parquet that a record states; those of `claims.frame.SCHEMA`."""
_BITS = {"measure": 16, "low": 12, "high": 12, "p_value": 10, "floor": 10, "floor_sd": 8}
"""Bits of the mantissas of further numbers in records.parquet: two to five digits. Values have
single precision, seven digits. What is shorter makes a smaller file."""


def to_frame(boards: Iterable[Board]) -> pl.DataFrame:
    """Return the rows of all boards in one frame, with the column `board`; for the CSV file.

    A text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    frames = [
        board.rows.drop("row").select(pl.lit(board.kind).alias("board"), pl.all())
        for board in boards
    ]
    empty = pl.DataFrame(schema={"board": pl.String})
    frame = pl.concat([empty, *frames], how="diagonal")
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(
        pl.col(texts).str.replace(_FORMULA, "'$1"), pl.col(pl.Float64).round_sig_figs(DIGITS)
    )


def to_json(
    boards: Iterable[Board],
    *,
    title: str,
    notices: Iterable[str],
    built: str,
    studies: Iterable[StudyOnModel] = (),
    aside: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the contents of leaderboard.json: everything but the values of single tasks."""
    return {
        "schema": SCHEMA,
        "title": title,
        "built": built,
        "harness": harness.__version__,
        "notices": list(notices),
        "boards": [_board(board) for board in boards],
        "studies": [study.to_dict() for study in studies],
        "aside": list(aside),
    }


def text_of(content: Any) -> str:
    """Return JSON for a file."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def records(frame: pl.DataFrame, boards: Iterable[Board]) -> pl.DataFrame:
    """Return the content of records.parquet: a line a record, with what a board made of it.

    Parameters
    ----------
    frame
        The records that are trusted, with the columns of `claims.frame.SCHEMA`.
    boards
        Boards of these records. `ranked` says whether the record is a cell of a board;
        `measure` is what ranks, `leak` whether the mitigator was fitted on texts of the task, and
        `aside` why a value does not count.
    """
    cells = [
        board.cells.select("id", "measure", "leak", "aside", ranked=pl.lit(value=True))
        for board in boards
    ]
    schema = {"id": pl.String, "measure": pl.Float64, "leak": pl.Boolean, "aside": pl.String}
    every = pl.concat([pl.DataFrame(schema=schema | {"ranked": pl.Boolean}), *cells])
    order = ("kind", "model", "fingerprint", "label", "params", "task", "scenario", "metric")
    lines = (
        frame.select("id", *_RECORD)
        .join(every, on="id", how="left")
        .drop("id")  # follows from the fingerprints, the digest and the names
        .sort(*order, "score", "seed")
        .with_columns(
            pl.col("ranked", "leak").fill_null(value=False),
            pl.col("value").cast(pl.Float32),
        )
    )
    return lines.with_columns(
        pl.Series(name, rounded(lines[name], bits), nan_to_null=True)
        for name, bits in _BITS.items()
    )


def to_parquet(lines: pl.DataFrame) -> bytes:
    """Return a Parquet file."""
    file = io.BytesIO()
    lines.write_parquet(file, compression="zstd", compression_level=9, statistics=False)
    return file.getvalue()


def _board(board: Board) -> dict[str, Any]:
    rows = board.rows.select(~pl.selectors.starts_with("task:"))
    names = rows.select("row", "model", "fingerprint")
    return {
        "kind": board.kind,
        "notices": list(board.notices),
        "tasks": board.tasks.to_dicts(),
        "rows": rows.to_dicts(),
        "effects": board.effects.to_dicts(),
        "mitigators": board.mitigators.to_dicts(),
        "benchmarks": [
            {
                "name": part.name,
                "title": part.title,
                "version": part.version,
                "tasks": list(part.tasks),
                "findings": list(part.findings),
                "notices": list(part.notices),
                "ranks": part.ranks.join(names, on="row", how="left").drop("row").to_dicts(),
                "mitigators": part.mitigators.to_dicts(),
            }
            for part in board.benchmarks
        ],
        "published": board.published.to_dicts(),
        "environments": dict(board.environments),
    }
