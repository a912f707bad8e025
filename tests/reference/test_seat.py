"""SEAT on all-MiniLM-L6-v2: our tasks, and the published sentence files where a user has them."""

from __future__ import annotations

import json

import numpy as np
import pytest

TESTS = ("1", "2", "6", "6b", "7", "7b", "8", "8b")
SETS = {
    "targets_1": "targ1",
    "targets_2": "targ2",
    "attributes_1": "attr1",
    "attributes_2": "attr2",
}


@pytest.mark.parametrize("test", TESTS)
def test_bare_words_reproduce_the_word_level_tests(test, scores, minilm, expected):
    wanted = expected("minilm.json")["seat"][f"weat{test}"]
    effect = scores(f"seat-c{test}", minilm, permute="items")["word"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(wanted["effect_ddof1"], abs=2e-3)
    if wanted["p_kind"] == "exact":
        assert effect.p_value == pytest.approx(wanted["p"])


@pytest.mark.parametrize("test", TESTS)
def test_published_sentences_reproduce_the_sentence_level_tests(
    test, registry, minilm, data_folder, expected
):
    sets = _published(data_folder, test)
    weat = registry.metric("weat")
    effect = weat(
        **{name: minilm(texts) for name, texts in sets.items()},
        permutations=200,
        resamples=20,
        rng=np.random.default_rng(0),
    )["effect_size"]
    wanted = expected("minilm.json")["seat"][f"sent-weat{test}"]["effect_ddof1"]
    assert effect.value == pytest.approx(wanted, abs=2e-3)


@pytest.mark.parametrize("test", TESTS)
def test_our_sentences_contain_every_published_one(test, registry, data_folder):
    # the published targets are drawn down to equal sizes; ours are whole
    inputs = registry.task(f"seat-c{test}").scenarios[0].inputs
    for name, texts in _published(data_folder, test).items():
        spelt = {text.replace("knifes", "knives").replace("Knifes", "Knives") for text in texts}
        missing = spelt - set(inputs[name].texts)
        assert not missing, f"{name}: {sorted(missing)[:5]}"
        assert len(inputs[name]) <= 1.36 * len(texts), name


@pytest.mark.parametrize("test", TESTS)
def test_our_sentences_come_close_to_the_published_effect_sizes(test, scores, minilm, expected):
    wanted = expected("minilm.json")["seat"][f"sent-weat{test}"]["effect_ddof1"]
    effect = scores(f"seat-c{test}", minilm)["sentence"]["weat"]["effect_size"]
    assert effect.value == pytest.approx(wanted, abs=0.05)


@pytest.mark.parametrize("test", TESTS)
def test_moving_words_instead_of_sentences_changes_the_p_value_alone(test, scores, minilm):
    task, draws = f"seat-c{test}", {"permutations": 2_000}
    words, sentences = (
        scores(task, minilm, permute=permute, **draws)["sentence"]["weat"]["effect_size"]
        for permute in ("clusters", "items")
    )
    assert (words.details["permute"], sentences.details["permute"]) == ("clusters", "items")
    assert words.value == sentences.value
    assert words.p_value >= sentences.p_value  # sentences of one word are no independent evidence


def _published(data_folder, test):
    path = data_folder / "seat" / f"sent-weat{test}.jsonl"
    if not path.is_file():
        pytest.skip(f"there is no file {path}")
    sets = json.loads(path.read_text(encoding="utf-8"))
    return {name: sets[key]["examples"] for name, key in SETS.items()}
