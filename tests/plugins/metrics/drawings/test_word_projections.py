"""Figure 1: the extreme words of a direction, as a table and as bars."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.metrics.drawings import figures

SIDES = (["she"], ["he"])


def test_each_side_has_its_words_from_the_most_extreme_one():
    projections = np.array([0.1, -0.4, 0.3, -0.2, 0.0])
    rows = figures.extremes(["boss", "nurse", "coach", "nanny", "clerk"], projections)
    assert [(row["place"], row["first"], row["second"]) for row in rows] == [
        (1, "nurse", "coach"),
        (2, "nanny", "boss"),
    ]
    assert (rows[0]["projection_1"], rows[0]["projection_2"]) == (-0.4, 0.3)


def test_a_side_without_words_ends_early():
    rows = figures.extremes(["coach", "boss"], np.array([0.3, 0.1]))
    assert [(row["first"], row["projection_1"], row["second"]) for row in rows] == [
        (None, None, "coach"),
        (None, None, "boss"),
    ]
    figure = figures.extremes_figure(rows, SIDES)
    go.Figure(figure)
    assert [trace["y"] for trace in figure["data"]] == [[], ["boss", "coach"]]
    assert figures.extremes(["clerk"], np.array([0.0])) == []


@given(st.lists(st.floats(-1, 1), max_size=60))
def test_no_word_left_out_is_more_extreme_than_a_listed_one(values):
    words = [f"word {i}" for i in range(len(values))]
    rows = figures.extremes(words, np.array(values))
    at = dict(zip(words, values, strict=True))
    for word, sign in (("first", -1), ("second", 1)):
        listed = [sign * at[row[word]] for row in rows if row[word]]
        others = [sign * at[name] for name in words if name not in {row[word] for row in rows}]
        assert listed == sorted(listed, reverse=True)
        assert all(value > 0 for value in listed)
        assert len(listed) == min(figures.EXTREMES, sum(sign * v > 0 for v in values))
        assert max(others, default=-2) <= min(listed, default=2)


def test_the_bars_name_the_pair_and_escape_words():
    words, projections = ["<i>nurse", "coach"], np.array([-0.4, 0.3])
    texts = {"words": words, "pairs_1": ["she"], "pairs_2": ["he"]}
    views = figures.views(texts, "words", projections)
    figure = views.figures["extremes"]
    go.Figure(figure)
    assert figure["data"][0]["y"] == ["&lt;i&gt;nurse"]
    assert [trace["name"] for trace in figure["data"]] == ["she", "he"]
    several = figures.views(texts | {"pairs_1": ["she", "her"]}, "words", projections)
    assert several.figures["extremes"]["data"][0]["name"] == "she …"
    assert views.tables["extremes"][0]["second"] == "coach"
    assert not figures.views(None, "words", projections).figures


def test_ratings_are_drawn_against_projections():
    figure = figures.against_ratings(
        np.array([-0.4, 0.3]), np.array([-1.0, 0.5]), ["nurse", "coach"], spearman=1.0
    )
    go.Figure(figure)
    assert (figure["data"][0]["x"], figure["data"][0]["y"]) == ([-0.4, 0.3], [-1.0, 0.5])
    assert "1.000" in figure["layout"]["title"]["text"]
