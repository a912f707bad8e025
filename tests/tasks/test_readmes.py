"""The README of each family of tasks, of the concepts and of the studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import tasks
from harness.registry.discovery import SUBFOLDERS, files_of, load_file

FOLDER = Path(tasks.__file__).parent
FAMILIES = sorted({path.parent for path in FOLDER.glob("*/[!_]*.yaml")})


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_readme_lists_every_file_of_its_folder_with_its_title(family):
    kind = {folder: kind for kind, folder in SUBFOLDERS.items()}.get(family.name, "task")
    paths = files_of(FOLDER, kind) if kind != "task" else files_of(family, "task")
    readme = (family / "README.md").read_text("utf-8")
    rows = {line for line in readme.splitlines() if line.startswith("| `")}
    documents = [load_file(path).data for path in paths]
    assert rows == {f"| `{data['name']}` | {data['title']} |" for data in documents}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_readme_states_the_source_and_how_to_read_the_result(family):
    readme = (family / "README.md").read_text("utf-8")
    assert readme.startswith("# ")
    assert "**Source.**" in readme
    assert family.name == "concepts" or "**Reading the " in readme
    assert family.name in SUBFOLDERS.values() or "**Data.**" in readme
    assert 15 <= len(readme.splitlines()) <= 40
