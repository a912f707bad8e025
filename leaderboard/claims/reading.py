"""Reads records of anybody: what is no record is set aside with its reason, the rest counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl


@dataclass(frozen=True)
class Aside:
    """A record, or a line that is none, that does not count.

    Parameters
    ----------
    file
        The file, as it was asked for; empty for a record that is in no file.
    line
        The line, from 1; 0 for a whole file.
    reason
        What is wrong, and what would be right.
    id
        The record's id; empty if it has none.
    """

    file: str
    line: int
    reason: str
    id: str = ""

    def __str__(self) -> str:
        """Return one line for the user."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.reason}" if place else self.reason


@dataclass(frozen=True)
class Claims:
    """What was read.

    Parameters
    ----------
    frame
        The records, a line each, with the columns of `frame.SCHEMA`.
    aside
        What does not count, and why.
    """

    frame: pl.DataFrame
    aside: tuple[Aside, ...] = ()


def read(paths: Iterable[Path]) -> Claims:
    """Return the records in files, and in the `*.jsonl` files of folders at any depth.

    Raises
    ------
    InvalidFile
        If a path does not exist.
    """
    from harness.leaderboard.claims.frame import frame_of
    from harness.results import folder

    return Claims(frame_of(folder.read(paths).records))
