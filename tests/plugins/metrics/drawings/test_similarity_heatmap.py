"""The heatmap is a valid Plotly figure and escapes its texts."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from harness.plugins.metrics.drawings.figures import distinct_words, similarity_heatmap


def test_the_heatmap_has_rounded_cosines_and_labels():
    values = np.array([[0.123456, 1.0, -1.0]])
    figure = similarity_heatmap(values, ["query"], ["a", "b", "c"], column_labels=["x", "y", "z"])
    go.Figure(figure)  # Plotly rejects unknown keys
    assert figure["data"][0]["z"] == [[0.1235, 1.0, -1.0]]
    assert figure["layout"]["xaxis"]["ticktext"] == ["x", "y", "z"]


def test_texts_are_escaped_and_long_labels_show_their_ends():
    text = "<img src=x onerror=alert(1)> " + "word " * 20 + "the end."
    figure = similarity_heatmap(np.zeros((1, 1)), [text], [text])
    go.Figure(figure)
    assert "<img" not in str(figure)
    assert figure["layout"]["yaxis"]["ticktext"][0].endswith("the end.")
    assert len(figure["layout"]["yaxis"]["ticktext"][0]) == 40


def test_texts_are_labelled_by_their_distinct_words_or_their_number():
    assert distinct_words(["Kim's hat", "Lee's hat"]) == ["Kim's", "Lee's"]
    assert distinct_words(["same", "same"]) == ["1", "2"]
    assert distinct_words([]) == []
