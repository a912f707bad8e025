"""SEAT on all-MiniLM-L6-v2: our tasks, and those with the published sentences."""

from __future__ import annotations

import re

import numpy as np
import pytest

TESTS = ("1", "2", "6", "6b", "7", "7b", "8", "8b")
WITHOUT_EXPECTED = ("3", "4", "5", "9", "10")
SIZE = {"permutations": 100_000, "resamples": 20}
SETS = ("targets_1", "targets_2", "attributes_1", "attributes_2")


@pytest.mark.parametrize("test", TESTS)
def test_bare_words_reproduce_the_word_level_tests(test, scores, minilm, expected):
    reference = expected("minilm.json")["seat"][f"weat{test}"]
    published = {"sides": "targets", "permute": "items", "alternative": "greater"}
    effect = scores(f"seat-c{test}", minilm, **published)["word"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(reference["effect_ddof1"], abs=2e-3)
    if reference["p_kind"] == "exact":
        assert effect.p_value == pytest.approx(reference["p"])


@pytest.mark.usefixtures("fetched_data")
def test_published_sentences_reproduce_the_sentence_level_tests(scores, minilm, expected):
    for test in TESTS:
        reference = expected("minilm.json")["seat"][f"sent-weat{test}"]
        result = scores(f"seat-c{test}-published", minilm, **SIZE)
        effect = result["default"]["weat"]["effect_size"]
        assert effect.details["permute"] == "items"
        assert effect.value == pytest.approx(reference["effect_ddof1"], abs=2e-3), test
        # both p-values are sampled
        assert effect.p_value == pytest.approx(reference["p"], rel=0.05, abs=5e-5), test


@pytest.mark.usefixtures("fetched_data")
def test_published_tasks_have_may_et_al_s_effect_size_in_every_scenario(scores, registry, minilm):
    """The effect size is computed here from cosines, with the formula of the paper."""
    names = [name for name in registry.task_files if re.fullmatch("seat-.+-published", name)]
    assert len(names) == 18
    for name in names:
        for scenario in registry.task(name).scenarios:
            x, y, a, b = (minilm(scenario.inputs[key].texts).astype(float) for key in SETS)
            assert len(x) == len(y)
            association = [(rows @ a.T).mean(1) - (rows @ b.T).mean(1) for rows in (x, y)]
            spread = np.concatenate(association).std(ddof=1)
            effect = (association[0].mean() - association[1].mean()) / spread
            score = scores(name, minilm, permutations=200)[scenario.name]["weat"]["effect_size"]
            assert score.value == pytest.approx(effect, abs=1e-5), f"{name}, {scenario.name}"


@pytest.mark.usefixtures("fetched_data")
def test_our_sentences_contain_every_published_one(registry):
    # the published targets are sampled down to equal sizes; ours are complete
    for test in [*TESTS, *WITHOUT_EXPECTED]:
        inputs = registry.task(f"seat-c{test}").scenarios[0].inputs
        for name, item in registry.task(f"seat-c{test}-published").scenarios[0].inputs.items():
            missing = {_as_in_weat(text) for text in item.texts} - set(inputs[name].texts)
            assert not missing, f"C{test}, {name}: {sorted(missing)[:5]}"
            # C9 has 4 times as many sentences on physical as on mental disease
            assert len(inputs[name]) <= (4.1 if test == "9" else 1.36) * len(item), name


def _as_in_weat(text):
    changes = (("nifes", "nives"), ("short-term", "short"), ("Billy", "Bill"))
    for published, printed in changes:
        text = text.replace(published, printed)
    return text
