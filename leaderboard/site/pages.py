"""The page and its data files: the page loads scripts, and scripts load the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import harness
from harness.leaderboard.boards.board import Board
from harness.leaderboard.site.details import details_data
from harness.leaderboard.site.files import check_ours, publish
from harness.leaderboard.site.layout import layout_of
from harness.leaderboard.site.payload import SCHEMA, board_data, script
from harness.leaderboard.site.rendering import MADE_BY, template
from harness.leaderboard.site.studies import StudyOnModel

ASSETS = Path(__file__).parent / "assets"
NEW = "new.html"


def write_site(
    boards: Sequence[Board],
    folder: Path,
    *,
    title: str,
    notices: Iterable[str],
    built: str,
    studies: Iterable[StudyOnModel],
) -> None:
    """Write the page, its scripts and its data files into `folder`."""
    page = folder / NEW
    check_ours(page)
    entries = []
    for board in boards:
        layout = layout_of(board)
        entry: dict[str, Any] = {
            "kind": board.kind,
            "title": f"{board.kind.capitalize()} embeddings",
            "models": int((layout.models["role"] != "reference").sum()),
            "rows": layout.rows.height,
            "tasks": len(layout.tasks),
            "data": f"data/{board.kind}.js",
            "details": f"data/{board.kind}-details.js",
        }
        entries.append(entry)
        publish(folder / entry["data"], script(entry["data"], board_data(board)))
        publish(folder / entry["details"], script(entry["details"], details_data(board)))
    site = {
        "schema": SCHEMA,
        "title": title,
        "built": built,
        "harness": harness.__version__,
        "notices": list(notices),
        "boards": entries,
        "studies": [_study(study) for study in studies],
        "aside": [],
        "news": None,
        "files": ["leaderboard.csv", "leaderboard.json"],
    }
    publish(folder / "data/site.js", script("data/site.js", site))
    scripts = []
    for file in sorted(ASSETS.rglob("*")):
        if file.suffix in (".js", ".css"):
            name = file.relative_to(ASSETS).as_posix()
            scripts += [name] if file.suffix == ".js" else []
            publish(folder / "assets" / name, file.read_text("utf-8"))
    publish(page, template("index.html.j2").render(title=title, generator=MADE_BY, scripts=scripts))


def _study(study: StudyOnModel) -> dict[str, str]:
    summary = study.summary
    return {
        "name": summary.study.name,
        "title": summary.study.title,
        "model": summary.model.name,
        "line": study.line(),
        "page": study.page,
    }
