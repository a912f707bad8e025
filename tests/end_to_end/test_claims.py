"""The claims of papers: each row has a verdict, and a test or command that exists and shows it."""

from __future__ import annotations

import ast
import re
import shlex

import pytest

from .test_documentation import ROOT, check_harness

PAGE = ROOT / "docs" / "findings.md"
VERDICTS = ("holds", "holds in part", "does not hold")
PAPERS = 5


def rows() -> list[list[str]]:
    """Return the cells of the tables' rows."""
    text = PAGE.read_text(encoding="utf-8").partition("## What five papers claim\n")[2]
    lines = text.partition("\n## ")[0].splitlines()
    cells = [re.split(r"(?<!\\) \| ", line[2:-2]) for line in lines if line.startswith("| ")]
    return [row for row in cells if row[0] not in ("claim", "---")]


def test_each_paper_has_a_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("| claim | what was found | shown by | verdict |") == PAPERS


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_each_claim_has_a_verdict_and_is_shown_by_something_that_exists(row):
    assert len(row) == 4, "claim, what was found, shown by, verdict"
    assert row[3] in VERDICTS
    shown_by = re.findall(r"`([^`]+)`", row[2])
    assert shown_by
    for source in shown_by:
        if source.startswith("harness "):
            check_harness(shlex.split(source)[1:])
        else:
            check_test(*source.partition("::")[::2])


def check_test(path: str, name: str) -> None:
    """Check that a file of tests exists, and the function in it."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert not name or name in functions, f"{path} has no {name}"
