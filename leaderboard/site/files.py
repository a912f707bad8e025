"""Writes the files of a leaderboard, and never replaces a page of another origin."""

from __future__ import annotations

from pathlib import Path

from harness import folders
from harness.errors import DiskError
from harness.leaderboard.site.rendering import GENERATOR


def check_ours(page: Path) -> None:
    """Check that `page` does not exist, or is a page of a leaderboard.

    Raises
    ------
    DiskError
        If it is another page, or cannot be read.
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
            f"'{page}' was not written by `harness leaderboard build` and is not replaced; "
            "choose another --out, or move that file"
        )


def publish(path: Path, content: str) -> None:
    """Write a file atomically."""
    folders.write_atomically(path, content.encode())
