"""No command writes by itself: `harness.folders` writes files, by a temporary name and a rename."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITERS = {
    "harness/folders.py": "the module that writes",
    "harness/results/jsonl.py": "appends lines of records, in one write",
    "harness/run/debiasing.py": "writes vectors block by block, under a temporary name",
    "harness/run/exporting.py": "a file of a folder that gets its name when it is whole",
    "plugins/corpora/fair_corpora.py": "files of a folder that gets its name when it is whole",
    "plugins/corpora/scoring.py": "goes on with a partial file after a kill",
    "plugins/train/bias_evaluator.py": "appends a line to the CSV of sentence-transformers",
}
"""Modules that may open a file for writing, and why."""


def opened_for_writing(module: ast.AST) -> Iterator[int]:
    """Yield the lines of a module that open a file for writing, or write one whole."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("write_text", "write_bytes"):
            yield node.lineno
        elif name in ("open", "fdopen"):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            texts = [part.value for part in values if isinstance(part, ast.Constant)]
            modes = [
                text for text in texts if isinstance(text, str) and set(text) <= set("rwxabt+")
            ]
            if any(set(mode) & set("wxa+") for mode in modes):
                yield node.lineno


def test_only_named_modules_open_files_for_writing():
    found = {
        f"{file}:{line}"
        for folder in ("harness", "plugins", "leaderboard")
        for path in (ROOT / folder).rglob("*.py")
        if (file := path.relative_to(ROOT).as_posix()) not in WRITERS
        for line in opened_for_writing(ast.parse(path.read_text("utf-8")))
    }
    assert found == set(), "write by harness.folders.write_atomically"


def test_each_way_to_write_is_found():
    source = (
        'open(p, "w")\np.open("ab")\np.write_text("a")\np.write_bytes(b"a")\np.open(mode="x")\n'
    )
    assert [*opened_for_writing(ast.parse(source))] == [1, 2, 3, 4, 5]
    assert [*opened_for_writing(ast.parse('open(p)\np.open("rb")\np.read_text("utf-8")\n'))] == []
