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


@pytest.mark.parametrize("test", TESTS)
def test_our_sentences_come_close_to_the_published_effect_sizes(test, scores, minilm, expected):
    reference = expected("minilm.json")["seat"][f"sent-weat{test}"]["effect_ddof1"]
    effect = scores(f"seat-c{test}", minilm)["sentence"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(reference, abs=0.05)


@pytest.mark.usefixtures("fetched_data")
def test_our_sentences_come_close_to_the_effect_sizes_of_published_sentences(scores, minilm):
    few = {"permutations": 200}
    tests = [(f"seat-c{test}", "default", 0.25) for test in WITHOUT_EXPECTED]
    tests += [(f"seat-c{test}", "default", 0.06) for test in TESTS]
    tests += [("seat-angry-black-woman", "names", 0.25)]
    tests += [("seat-double-bind-likable", "one-sentence", 0.25)]
    for name, scenario, difference in tests:
        ours = scores(name, minilm, **few)["sentence"]["weat"]["effect_size"]
        published = scores(f"{name}-published", minilm, **few)[scenario]["weat"]["effect_size"]
        assert ours.value == pytest.approx(published.value, abs=difference), name


@pytest.mark.usefixtures("fetched_data")
def test_the_published_double_bind_effect_is_that_of_one_job(registry, scores, minilm):
    name, few = "seat-double-bind-competent", {"permutations": 200, "resamples": 20}
    inputs = registry.task(name).scenarios[0].inputs
    of_engineers = {
        key: minilm([text for text in item.texts if "engineer" in text])
        for key, item in inputs.items()
    }
    weat = registry.metric("weat")
    one_job = weat(**of_engineers, **few, rng=np.random.default_rng(0))["effect_size"].value
    published = scores(f"{name}-published", minilm, **few)["one-sentence"]["weat"]["effect_size"]
    four_jobs = scores(name, minilm)["sentence"]["weat"]["effect_size"]
    assert one_job == pytest.approx(published.value)
    assert published.value == pytest.approx(-0.926, abs=2e-3)
    assert four_jobs.value == pytest.approx(-0.189, abs=2e-3)


@pytest.mark.parametrize("test", TESTS)
def test_permuting_words_instead_of_sentences_changes_only_the_p_value(test, scores, minilm):
    task, draws = f"seat-c{test}", {"permutations": 2_000}
    words, sentences = (
        scores(task, minilm, permute=permute, **draws)["sentence"]["weat"]["effect_size"]
        for permute in ("clusters", "items")
    )
    assert (words.details["permute"], sentences.details["permute"]) == ("clusters", "items")
    assert words.value == sentences.value
    assert words.p_value >= sentences.p_value  # sentences of one word are not independent


def _as_in_weat(text):
    changes = (("nifes", "nives"), ("short-term", "short"), ("Billy", "Bill"))
    for published, printed in changes:
        text = text.replace(published, printed)
    return text
