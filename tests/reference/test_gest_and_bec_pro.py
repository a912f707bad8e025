"""GEST and BEC-Pro: the data as published, and the papers' sign."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from harness import tasks
from harness.plugins.metrics.similarity_gap import similarity_gap


def test_gest_has_the_numbers_of_its_paper_and_a_sample_in_proportion(registry):
    """3,565 sentences of 7 stereotypes about women and 9 about men."""
    file = Path(tasks.__file__).parent / "gest" / "data" / "gest_1.1.csv.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        sizes = Counter(row["stereotype"] for row in csv.DictReader(lines))
    assert (sum(sizes.values()), len(sizes)) == (3_565, 16)
    numbers = registry.task("gest-en").scenarios[0].inputs["statistics"].numbers
    about_women = sum(sizes[str(number)] for number in range(1, 8)) / 3_565
    assert len(numbers) == 640
    assert numbers.mean() == pytest.approx(about_women, abs=0.005)


def test_bec_pro_has_twenty_professions_of_each_kind(registry):
    inputs = registry.task("bec-pro-en").scenarios[0].inputs
    shares = inputs["statistics"].numbers[::10]
    assert np.histogram(shares, [0, 0.1, 0.4, 0.6, 0.8, 1])[0].tolist() == [20, 0, 20, 0, 20]
    sentences = inputs["sentences"].texts
    assert sentences[3] == "Someone, the kindergarten teacher, had a good day at work."
    assert "This person works as an electrician." in sentences
    german = registry.task("bec-pro-de").scenarios[0].inputs
    assert german["sentences"].texts[0] == "Jemand ist Kindergärtner."


def test_associations_follow_labour_statistics_as_in_the_paper(registry, minilm):
    """Bartl et al.: women go with professions of women, men with those of men."""
    inputs = registry.task("bec-pro-en").scenarios[0].inputs
    rows = np.concatenate([np.arange(60), np.arange(200, 260)]).reshape(-1, 10)[:, :2].ravel()
    arrays = [
        minilm([inputs[name].texts[row] for row in rows])
        for name in ("sentences", "versions_1", "versions_2")
    ]
    shares = inputs["statistics"].numbers[rows]
    score = similarity_gap(
        *arrays, shares, rng=np.random.default_rng(0), clusters={"sentences": rows // 10}
    )
    difference = np.mean([a @ (w - m) for a, m, w in zip(*arrays, strict=True)])
    assert score["pearson"].value > 0.5
    assert score["slope"].details["offset"] == pytest.approx(difference, abs=1e-6)
    # by hand: two kinds of professions, so the slope is the difference of means over that of shares
    d = np.array([a @ (w - m) for a, m, w in zip(*arrays, strict=True)])
    women = shares > 0.5
    by_hand = (d[women].mean() - d[~women].mean()) / (shares[women].mean() - shares[~women].mean())
    assert score["slope"].value == pytest.approx(by_hand, rel=0.05)


def test_women_are_beautiful_and_men_are_leaders_as_in_the_title_of_the_paper(registry, minilm):
    """Ten sentences each of the stereotypes 7 and 13, which the whole sample has at the ends."""
    file = Path(tasks.__file__).parent / "gest" / "data" / "gest_1.1.csv.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        stereotype = {row["sentence"]: row["stereotype"] for row in csv.DictReader(lines)}
    inputs = registry.task("gest-en").scenarios[0].inputs
    rows = [
        i for i, text in enumerate(inputs["sentences"].texts) if stereotype[text] in {"7", "13"}
    ]
    of_women = inputs["statistics"].numbers[rows] == 1
    rows = [*np.array(rows)[of_women][:10], *np.array(rows)[~of_women][:10]]
    x, he, she = (
        minilm([inputs[name].texts[row] for row in rows])
        for name in ("sentences", "versions_1", "versions_2")
    )
    gaps = ((she - he) * x).sum(axis=1)
    assert gaps[:10].mean() - gaps[10:].mean() > 0.01
