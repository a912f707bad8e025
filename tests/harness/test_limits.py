"""The table of limits in the documentation is that of `harness/limits.py`."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from harness import limits

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"


def rows() -> list[str]:
    """Return a row of the table for each limit: its value, and the first sentence about it."""
    body = ast.parse(Path(limits.__file__).read_text("utf-8")).body
    lines = []
    for statement, following in itertools.pairwise(body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            assert isinstance(following, ast.Expr), f"{name} has no docstring"
            text = " ".join(str(ast.literal_eval(following.value)).split())
            sentence = text.split(". ")[0].split(";")[0].split(":")[0].rstrip(".")
            lines.append(f"| `{name}` | {getattr(limits, name):,} | {sentence} |")
    return lines


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.split("`")[1])
def test_each_limit_is_documented(row):
    assert row in PAGE.read_text("utf-8").splitlines()


def test_a_message_has_the_size_and_the_limit():
    assert limits.too_many(1_200, 1_000) == "1,200 bytes; at most 1,000 are allowed"
