"""The classifier of gender-specific words on real vectors (Bolukbasi et al. 2016, section 7)."""

from __future__ import annotations

import re

import numpy as np
import pytest

from harness.plugins.metrics.specific_words import specific_words


def inputs(model, registry, size: int):
    """Return the metric's arguments for a model's seeds and its first lower-case words."""
    rows = [i for i, word in enumerate(model.words) if re.fullmatch("[a-z]{1,19}", word)][:size]
    listed = registry.concept("gender").specific_words
    seeds = model.encode(listed)
    known = np.isfinite(seeds).all(axis=1)
    texts = {
        "seeds": [word for word, is_known in zip(listed, known, strict=True) if is_known],
        "words": [model.words[row] for row in rows],
    }
    supplied = {"texts": texts, "rng": np.random.default_rng(0)}
    return {"seeds": seeds[known], "words": model.vectors[rows], **supplied}


def test_in_300_dimensions_the_f1_is_that_of_the_paper(en_core_web_md, registry):
    scores = specific_words(**inputs(en_core_web_md, registry, 20_000), folds=3)
    assert scores["f1"].value == pytest.approx(0.627, abs=0.102)
    assert scores["f1_tuned"].value == pytest.approx(0.627, abs=0.102)
    assert scores["balanced_accuracy"].value == pytest.approx(0.9, abs=0.04)  # .951 with a grid


def test_in_50_dimensions_only_the_balanced_classifier_finds_specific_words(glove_50d, registry):
    scores = specific_words(**inputs(glove_50d, registry, 20_000), folds=3)
    assert scores["f1"].value < 0.1
    assert scores["f1_tuned"].value > 0.35, "the words are ordered well; the boundary is not"
    assert scores["balanced_accuracy"].value == pytest.approx(0.86, abs=0.03)
