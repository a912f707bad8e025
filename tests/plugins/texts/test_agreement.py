"""Agreement of found mentions with marked mentions."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from harness.plugins.texts import marks

sys.path.insert(0, str(Path(__file__).parents[3]))
from perf.mentions import agreement  # scripts are no package that is installed

MARKED = [marks.read("[Mike|person] left [Leeds|place] for [Rome|place]").mentions]
FOUND = [marks.read("[Mike|organisation] left [Leeds|place] [for|place] Rome").mentions]


def test_mentions_match_if_start_and_end_are_equal():
    counts = agreement(MARKED, FOUND)
    numbers = (counts.marked, counts.found, counts.matched, counts.same_kind)
    assert numbers == (3, 3, 2, 1)
    assert counts.precision == pytest.approx(2 / 3)
    assert counts.recall == pytest.approx(2 / 3)
    assert (counts.missed, counts.spurious) == (("Rome",), ("for",))


def test_recall_of_a_kind_counts_mentions_found_with_another_kind():
    person = agreement(MARKED, FOUND, "person")
    assert (person.recall, person.same_kind) == (1.0, 0)
    place = agreement(MARKED, FOUND, "place")
    assert (place.recall, place.precision, place.same_kind) == (0.5, 0.5, 1)


def test_precision_and_recall_are_nan_without_mentions():
    nothing = agreement([[]], [[]])
    assert math.isnan(nothing.precision)
    assert math.isnan(nothing.recall)
