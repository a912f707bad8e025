"""Builds sites and moves between their pages, for the tests of the site in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.frame import frame_of
from harness.leaderboard.site import writing
from harness.leaderboard.site.studies import compile_studies

CHOSEN = {"kind", "measures", "created", "ideal", "schema", "id"}
"""Fields whose texts are not free."""


def ready(page: Any) -> None:
    """Wait until the page of the address is drawn."""
    page.wait_for_selector("html[data-ready]", state="attached")


def go(page: Any, address: str) -> None:
    """Follow an address within the page, and wait until it is drawn."""
    page.evaluate("address => { location.hash = address; }", address)
    page.wait_for_function(f"decodeURI(location.hash) === decodeURI({address!r})")
    ready(page)


def build(folder: Path, records: Any, studies: Any = ()) -> Path:
    """Write the site of records, and return its page."""
    written = writing.write(
        compile_boards(frame_of(records)), folder, title="Board", built="today",
        studies=compile_studies(studies),
    )  # fmt: skip
    new = written.page.with_name("new.html")
    return new if new.exists() else written.page


def addresses(page: Any) -> list[str]:
    """Return the address of each kind of page that a site has, on each of its boards."""
    found: list[str] = page.evaluate(
        """async () => {
          const names = {
            home: () => "",
            compare: () => "",
            model: (board) => board.models.at(-1).name,
            task: (board) => board.tasks.at(-1).name,
            mitigator: (board) => board.mitigators.at(-1).label,
            benchmark: (board) => board.benchmarks.at(-1).name,
          };
          const site = await load("data/site.js");
          const found = Object.keys(pages).filter((n) => !(n in names)).map((n) => `#/${n}`);
          for (const entry of site.boards) {
            const board = await load(entry.data);
            for (const name of Object.keys(pages).filter((n) => n in names)) {
              found.push(address(entry.kind, name, names[name](board)));
            }
          }
          return found;
        }"""
    )
    return found


def hostile(content: Any, text: str, key: str = "") -> Any:
    """Return the content of a record with `text` after each free text and each key of a table."""
    if isinstance(content, str) and key not in CHOSEN:
        return content + text
    if isinstance(content, Mapping):
        free = key in ("params", "tables", "figures", "published", "packages")
        return {
            name + text if free else name: hostile(value, text, name)
            for name, value in content.items()
        }
    if isinstance(content, list | tuple):
        return [hostile(item, text, key) for item in content]
    return content
