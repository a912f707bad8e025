"""Builds sites and moves between their pages, for the tests of the site in a browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.leaderboard.site import writing
from harness.results.record import Record

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


def build(folder: Path, records: Any) -> Path:
    """Write the site of records, and return its page."""
    return writing.write(compile_boards(frame_of(records)), folder, title="Board", built="today")


def addresses(page: Any) -> list[str]:
    """Return the address of each kind of page on each board; home unfolded, three rows compared."""
    found: list[str] = page.evaluate(
        """async () => {
          const names = {
            home: () => "",
            items: (board) => board.tasks.at(-1).name,
            compare: () => "",
            model: (board) => board.models.at(-1).name,
            task: (board) => board.tasks.at(-1).name,
            mitigator: (board) => board.mitigators.at(-1).label,
            benchmark: (board) => board.benchmarks.at(-1).name,
          };
          const { DEFAULT_VIEW, address, load, pages, queryOf, rowName } = harness;
          const site = await load("data/site.js");
          const found = Object.keys(pages).filter((n) => !(n in names)).map((n) => `#/${n}`);
          for (const entry of site.boards) {
            const board = await load(entry.data);
            for (const name of Object.keys(pages).filter((n) => n in names)) {
              found.push(address(entry.kind, name, names[name](board)));
            }
            const rows = [0, 1, 2].map((row) => rowName(board, row));
            found.push(address(entry.kind, "compare", "", queryOf({ ...DEFAULT_VIEW, rows })));
            const unfolded = queryOf({ ...DEFAULT_VIEW, unfolded: true });
            found.push(address(entry.kind, "home", "", unfolded));
          }
          return found;
        }"""
    )
    return found


def many_families(make_record: Callable[..., Record]) -> list[Record]:
    """Return records of six text models under three mitigators, with enough families for sets.

    Each task is a method of its own. The better a model's letter, the less bias it has; the last
    one lacks a task.
    """
    rng = np.random.default_rng(1)
    tasks = [
        (f"{category}-{metric}", "bias", category, metric)
        for category in ("age", "gender", "race")
        for metric in ("weat", "clusters", "retrieval")
    ] + [(f"similarity-{i}", "usefulness", f"similarity-{i}", "similarity") for i in range(8)]
    return [
        make_record(
            model__name=f"org/{model}", model__fingerprint=model * 8, model__parameters=10**7 * i,
            model__licence="mit" if i % 2 else "apache-2.0", model__languages=("en",),
            mitigator__name=mitigator, mitigator__fingerprint=mitigator,
            task__name=name, task__digest=name, task__measures=measures,
            task__title=f"The task {name}", task__family=name, category=category, metric=metric,
            ideal=0.0 if measures == "bias" else "higher",
            bounds=(-2.0, 2.0) if measures == "bias" else (-1.0, 1.0),
            value=(0.2 + 0.1 * i if measures == "bias" else 0.5 + 0.05 * i)
            - 0.1 * change + rng.normal(scale=0.03),
        )
        for i, model in enumerate("abcdef", start=1)
        for change, mitigator in enumerate(("none", "normalize", "hard-debias"))
        for name, measures, category, metric in tasks
        if (model, name) != ("f", "age-weat")
    ]  # fmt: skip


def hostile(content: Any, text: str, key: str = "") -> Any:
    """Return the content of a record with `text` after each free text and each key of a table."""
    if isinstance(content, str) and key not in CHOSEN:
        return content + text
    if isinstance(content, Mapping):
        free = key in ("params", "tables", "published", "packages")
        return {
            name + text if free else name: hostile(value, text, name)
            for name, value in content.items()
        }
    if isinstance(content, list | tuple):
        return [hostile(item, text, key) for item in content]
    return content
