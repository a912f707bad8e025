"""GEST and BEC-Pro: the data as published."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from harness import tasks


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
