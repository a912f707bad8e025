"""What ranks is what is shown: distances from fair over changed vectors of a model."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from perf import agreement  # scripts are no package that is installed

pytestmark = pytest.mark.reference


@pytest.mark.parametrize(
    "models",
    [("glove-6b-50d", "en-core-web-md"), ("all-MiniLM-L6-v2", "bag-of-words:glove-6b-50d")],
)
def test_methods_rank_whose_shown_score_follows_what_ranks(models, fetched_data):
    methods = agreement.of_methods(agreement.of_models(models))
    assert methods["rows"].min() >= 30
    assert methods["ranks"].all(), methods
