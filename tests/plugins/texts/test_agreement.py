"""Facts on the agreement of names that were found with names that were marked."""

from __future__ import annotations

import math

import pytest

from harness.plugins.texts import marks
from harness.plugins.texts.agreement import agreement

MARKED = [marks.read("[Mike|person] left [Leeds|place] for [Rome|place]").mentions]
FOUND = [marks.read("[Mike|organisation] left [Leeds|place] [for|place] Rome").mentions]


def test_a_mention_agrees_that_stands_at_the_same_place():
    both = agreement(MARKED, FOUND)
    assert (both.marked, both.found, both.both, both.kind) == (3, 3, 2, 1)
    assert both.precision == pytest.approx(2 / 3)
    assert both.recall == pytest.approx(2 / 3)
    assert (both.missed, both.wrong) == (("Rome",), ("for",))


def test_of_a_kind_a_mention_is_found_as_whatever_it_was_taken_for():
    person = agreement(MARKED, FOUND, "person")
    assert (person.recall, person.kind) == (1.0, 0)
    place = agreement(MARKED, FOUND, "place")
    assert (place.recall, place.precision, place.kind) == (0.5, 0.5, 1)


def test_without_mentions_there_is_no_share():
    nothing = agreement([[]], [[]])
    assert math.isnan(nothing.precision)
    assert math.isnan(nothing.recall)
