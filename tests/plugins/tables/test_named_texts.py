"""Texts filtered by their names and their length."""

from __future__ import annotations

from harness.plugins.tables.named_texts import named_texts

TEXTS = [
    "Mike slept.",
    "It rained in Belgium.",
    "Mike saw Belgium.",
    "Mike saw Belgium and Paris.",
    "Mike saw a Spanish film about France.",
    "Mike slept and slept and slept.",
]


def chosen(model, **options):
    rows = [{"plot": text} for text in TEXTS]
    kept = named_texts(rows, column="plot", model=model, **options)
    return [TEXTS.index(row["plot"]) for row in kept]


def test_texts_without_a_person_are_left_out(known_names):
    assert chosen(known_names) == [0, 2, 3, 4, 5]


def test_places_may_be_restricted_to_countries_or_excluded(known_names):
    assert chosen(known_names, places="countries") == [2]
    assert chosen(known_names, places="none") == [0, 5]


def test_long_texts_are_left_out(known_names):
    assert chosen(known_names, max_words=3) == [0, 2]
    assert chosen(known_names, max_words=None) == [0, 2, 3, 4, 5]
