"""SEAT on all-MiniLM-L6-v2: our tasks, and the published sentence files if they are there."""

from __future__ import annotations

import json

import numpy as np
import pytest

TESTS = ("1", "2", "6", "6b", "7", "7b", "8", "8b")
WITHOUT_EXPECTED = ("3", "4", "5", "9", "10")
BEYOND_WEAT = {
    "angry-black-woman": "sent-angry_black_woman_stereotype",
    "double-bind-likable": "heilman_double_bind_likable_one_sentence",
}
DOUBLE_BIND = "heilman_double_bind_competent_one_sentence"
SIZE = {"permutations": 100_000, "resamples": 20}
SETS = {
    "targets_1": "targ1",
    "targets_2": "targ2",
    "attributes_1": "attr1",
    "attributes_2": "attr2",
}


@pytest.mark.parametrize("test", TESTS)
def test_bare_words_reproduce_the_word_level_tests(test, scores, minilm, expected):
    reference = expected("minilm.json")["seat"][f"weat{test}"]
    effect = scores(f"seat-c{test}", minilm, permute="items")["word"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(reference["effect_ddof1"], abs=2e-3)
    if reference["p_kind"] == "exact":
        assert effect.p_value == pytest.approx(reference["p"])


@pytest.mark.parametrize("test", TESTS)
def test_published_sentences_reproduce_the_sentence_level_tests(
    test, registry, minilm, data_folder, expected
):
    sets = _published(data_folder, test)
    weat = registry.metric("weat")
    effect = weat(
        **{name: minilm(texts) for name, texts in sets.items()},
        **SIZE,
        rng=np.random.default_rng(0),
    )["effect_size"]
    reference = expected("minilm.json")["seat"][f"sent-weat{test}"]
    assert effect.value == pytest.approx(reference["effect_ddof1"], abs=2e-3)
    assert effect.p_value == pytest.approx(reference["p"], rel=0.05, abs=5e-5)  # both are sampled


@pytest.mark.parametrize("test", [*TESTS, *WITHOUT_EXPECTED])
def test_our_sentences_contain_every_published_one(test, registry, data_folder):
    # the published targets are sampled down to equal sizes; ours are complete
    inputs = registry.task(f"seat-c{test}").scenarios[0].inputs
    for name, texts in _published(data_folder, test).items():
        spelt = {_as_in_weat(text) for text in texts}
        missing = spelt - set(inputs[name].texts)
        assert not missing, f"{name}: {sorted(missing)[:5]}"
        # C9 has 4 times as many sentences on physical as on mental disease
        assert len(inputs[name]) <= (4.1 if test == "9" else 1.36) * len(texts), name


@pytest.mark.parametrize("test", TESTS)
def test_our_sentences_come_close_to_the_published_effect_sizes(test, scores, minilm, expected):
    reference = expected("minilm.json")["seat"][f"sent-weat{test}"]["effect_ddof1"]
    effect = scores(f"seat-c{test}", minilm)["sentence"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(reference, abs=0.05)


@pytest.mark.parametrize("test", [*WITHOUT_EXPECTED, *BEYOND_WEAT])
def test_our_sentences_come_close_to_the_effect_sizes_of_published_sentences(
    test, registry, scores, minilm, data_folder
):
    sets = _published(data_folder, test)
    published = registry.metric("weat")(
        **{name: minilm(texts) for name, texts in sets.items()},
        permutations=200,
        resamples=20,
        rng=np.random.default_rng(0),
    )["effect_size"]
    task = f"seat-{test}" if test in BEYOND_WEAT else f"seat-c{test}"
    effect = scores(task, minilm)["sentence"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(published.value, abs=0.25)


def test_the_published_double_bind_effect_is_that_of_one_job(registry, scores, minilm, data_folder):
    published = _published(data_folder, "", file=DOUBLE_BIND)
    inputs = registry.task("seat-double-bind-competent").scenarios[0].inputs
    of_engineers = {
        name: minilm([text for text in item.texts if "engineer" in text])
        for name, item in inputs.items()
    }
    weat, options = registry.metric("weat"), {"permutations": 200, "resamples": 20}
    one_job, published_value = (
        weat(**arrays, **options, rng=np.random.default_rng(0))["effect_size"].value
        for arrays in (of_engineers, {name: minilm(texts) for name, texts in published.items()})
    )
    four_jobs = scores("seat-double-bind-competent", minilm)["sentence"]["weat"]["effect_size"]
    assert one_job == pytest.approx(published_value)
    assert published_value == pytest.approx(-0.926, abs=2e-3)
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


def _published(data_folder, test, *, file=None):
    file = file or BEYOND_WEAT.get(test, f"sent-weat{test}")
    path = data_folder / "seat" / f"{file}.jsonl"
    if not path.is_file():
        pytest.skip(f"missing file {path}")
    sets = json.loads(path.read_text(encoding="utf-8"))
    return {name: sets[key]["examples"] for name, key in SETS.items()}
