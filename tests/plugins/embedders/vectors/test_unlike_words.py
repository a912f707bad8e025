"""The likely reason why a vocabulary lacks the words of tasks, which a notice of the run states."""

from __future__ import annotations

import numpy as np

import harness
from harness.plugins.embedders.vectors import word_vectors

WORDS = ["John", "Paul", "Amy", "Joan", "office", "career", "home", "family"]


def test_the_manner_of_writing_is_recognised():
    for written, reason in (
        (str.upper, "in capitals"),
        (lambda word: f"/c/en/{word.lower()}", "add ?language=en"),
        (lambda word: f"{word.lower()}_NOUN", "part of speech"),
        (lambda word: f"▁{word}", "marks of parts"),
        (lambda word: f"b'{word}'", "quotes"),
        (lambda word: f"ENTITY/{word}", "prefix"),
        (lambda word: f"{word}\u00a0", "not seen"),
        (lambda word: word.replace("o", "ó").replace("a", "â"), "other accents"),
        (lambda word: "".join(chr(0x430 + ord(letter) % 32) for letter in word), "Cyrillic"),
        (lambda word: f"{word[::-1]}en", "another language"),
        (lambda word: str(WORDS.index(word)), "are numbers"),
    ):
        vocabulary = [written(word) for word in WORDS]
        told = word_vectors.unlike_words(WORDS, vocabulary)
        assert reason in told
        assert all(repr(word) in told for word in vocabulary[:5])
        assert repr(vocabulary[5]) not in told


def test_words_that_are_there_without_a_vector_and_words_with_spaces_are_told():
    assert "vectors are zero" in word_vectors.unlike_words(WORDS, WORDS)
    assert "white space" in word_vectors.unlike_words([f" {word}" for word in WORDS], WORDS)


def test_the_language_with_most_of_the_words_is_advised():
    vocabulary = [f"/c/de/haus{i}" for i in range(50)] + [f"/c/en/{word.lower()}" for word in WORDS]
    assert "?language=en" in word_vectors.unlike_words(WORDS, vocabulary)
    assert "?language=de" in word_vectors.unlike_words(["pomme", "poire"], vocabulary)


def task(words):
    half = len(words) // 4
    sets = [words[i : i + half] for i in range(0, len(words), half)]
    names = ("targets_1", "targets_2", "attributes_1", "attributes_2")
    return {
        "name": "mine",
        "version": 1,
        "title": "A test",
        "category": "gender",
        "kinds": ["word"],
        "inputs": {name: {"words": part} for name, part in zip(names, sets, strict=True)},
        "metrics": {"weat": {}},
        "primary": {"metric": "weat", "score": "association"},
    }


def notices(tmp_path, vocabulary, **options):
    vectors = np.random.default_rng(0).standard_normal((len(vocabulary), 6))
    records = harness.evaluate((vocabulary, vectors), [task(WORDS)], cache=tmp_path, **options)
    return [line for line in records.notices if "or more have no vector" in line], records


def test_a_run_says_it_once_for_each_model_and_the_reason_in_the_record_stays_short(tmp_path):
    vocabulary = [word.upper() for word in WORDS]
    (line,), records = notices(tmp_path, vocabulary, mitigators=["none", "normalize"])
    assert "mine" in line
    assert "'JOHN', 'PAUL'" in line
    assert "in capitals" in line
    assert records[0].value is None
    assert "100% of 'targets_1' has no vector" in records[0].reason
    assert "JOHN" not in records[0].reason
