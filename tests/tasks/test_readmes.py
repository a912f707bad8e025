"""The README of each family of tasks, of the concepts and of the studies."""

from __future__ import annotations

from pathlib import Path

from harness import tasks
from harness.registry.discovery import SUBFOLDERS

FOLDER = Path(tasks.__file__).parent
OTHERS = {*SUBFOLDERS.values()}


def test_each_states_the_source_the_data_and_how_to_read_the_result() -> None:
    lacking = []
    for family in sorted({path.parent for path in FOLDER.glob("*/[!_]*.yaml")}):
        readme = (family / "README.md").read_text("utf-8")
        parts = ["**Source.**"]
        parts += [] if family.name == "concepts" else ["**Reading the "]
        parts += [] if family.name in OTHERS else ["**Data.**"]
        lacking += [f"{family.name}: {part}" for part in parts if part not in readme]
    assert lacking == []
