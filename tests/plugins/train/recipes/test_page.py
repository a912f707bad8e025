"""The committed result of the small recipe is of the recipe that ships."""

from __future__ import annotations

from pathlib import Path

from harness.plugins.train.recipes.results import Summary
from harness.registry.registry import Registry

RESULT = Path(__file__).parents[4] / "docs" / "figures" / "fairer-snli-small.json"


def test_the_result_is_of_the_recipe_that_ships():
    recipe = Registry().recipe_files.find("fairer-snli-small").data
    summary = Summary.model_validate_json(RESULT.read_text("utf-8"))
    assert summary.version == recipe["version"]
    assert summary.seeds == tuple(recipe["seeds"])
    assert [row.row for row in summary.rows] == list(recipe["rows"])
    assert summary.training == recipe["training"]
    assert sum(summary.rows[0].pairs.values()) > 0.99 * recipe["limit"]
