"""How the files of a leaderboard are written: whole, and over none of somebody else's."""

from __future__ import annotations

from pathlib import Path

from harness import folders
from harness.errors import DiskError
from harness.leaderboard.rendering import GENERATOR


def check_ours(page: Path) -> None:
    """Refuse to write over a page that is not of a leaderboard.

    Raises
    ------
    DiskError
        If it is there and not of a leaderboard, or cannot be read.
    """
    if not page.exists():
        return
    try:
        with page.open(encoding="utf-8", errors="replace") as file:
            start = file.read(2000)
    except OSError as error:
        raise DiskError(f"cannot read '{page}' ({error.strerror})") from None
    if GENERATOR not in start:
        raise DiskError(
            f"'{page}' was not made by `harness leaderboard build` and is left alone; "
            "give another --out, or move that file away"
        )


def publish(path: Path, content: str) -> None:
    """Write a whole file."""
    folders.write_atomically(path, content.encode())
