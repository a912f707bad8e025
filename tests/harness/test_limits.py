"""Each limit says what it is of, and a message names the size and the limit."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

from harness import limits


def test_each_limit_has_a_docstring():
    body = ast.parse(Path(limits.__file__).read_text("utf-8")).body
    undocumented = [
        statement.targets[0].id
        for statement, following in itertools.pairwise(body)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and not (isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant))
    ]
    assert undocumented == []
