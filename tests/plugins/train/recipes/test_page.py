"""The tables of the small recipe in the documentation are made from its committed result.

`UPDATE_GOLDEN=1 python -m pytest tests/plugins/train/recipes/test_page.py` writes them anew, after
`summary.json` of a run was copied to `docs/figures/fairer-snli-small.json`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from harness.plugins.train.recipes.recipe_tables import report
from harness.plugins.train.recipes.results import Summary
from harness.registry.registry import Registry
from harness.results.formats import Report, markdown

DOCS = Path(__file__).parents[4] / "docs"
PAGE, RESULT = DOCS / "recipes.md", DOCS / "figures" / "fairer-snli-small.json"
BEGIN, END = "<!-- fairer-snli-small: begin -->\n", "<!-- fairer-snli-small: end -->"


def test_the_page_has_the_tables_of_the_result_and_no_others():
    tables = ""
    if RESULT.exists():
        summary = Summary.model_validate_json(RESULT.read_text("utf-8"))
        tables = f"\n{markdown(Report('', report(summary).parts))}\n"
    expected, page = f"{BEGIN}{tables}{END}", PAGE.read_text("utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        page = re.sub(f"{BEGIN}.*{END}", lambda _: expected, page, flags=re.DOTALL)
        PAGE.write_text(page, encoding="utf-8")
    assert expected in page, "UPDATE_GOLDEN=1 writes the tables anew"


def test_the_result_is_of_the_recipe_that_ships():
    recipe = Registry().recipe_files.find("fairer-snli-small").data
    if RESULT.exists():
        summary = Summary.model_validate_json(RESULT.read_text("utf-8"))
        assert summary.version == recipe["version"]
        assert summary.seeds == tuple(recipe["seeds"])
        assert [row.row for row in summary.rows] == list(recipe["rows"])
        assert summary.training == recipe["training"]
        assert sum(summary.rows[0].pairs.values()) > 0.99 * recipe["limit"]
