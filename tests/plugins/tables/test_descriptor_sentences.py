"""Sentences that differ in a descriptor, from a JSON object of axes."""

from __future__ import annotations

import json

import pytest

from harness.errors import InvalidOption
from harness.plugins.tables.descriptor_sentences import descriptor_sentences

AXES = {
    "eyes": {
        "light": ["amber-eyed", {"descriptor": "blue-eyed", "preference": "reviewed"}],
        "other": [
            {"descriptor": "four-eyed", "preference": "dispreferred"},
            {"descriptor": "wall-eyed", "preference": "polarizing"},
        ],
    },
    "origins": {"all": ["European", "Asian", {"descriptor": "Unitarian", "article": "a"}]},
    "labels": {"all": ["LGBT", "80-year-old", "20-year-old", "US-born", "AAPI", "one-armed"]},
}
OPTIONS = {"templates": ("I'm {noun_phrase}.",), "nouns": (("person", "people"),)}


def lines(content: object, indent: int | None = 1) -> list[dict[str, str]]:
    return [{"line": line} for line in json.dumps(content, indent=indent).splitlines()]


def texts(axis: str, **options) -> list[str]:
    return [
        row["text"] for row in descriptor_sentences(lines(AXES), axis=axis, **OPTIONS | options)
    ]


def test_each_descriptor_stands_in_each_template_with_each_noun():
    rows = descriptor_sentences(
        lines(AXES, None),
        axis="eyes",
        templates=("I'm {noun_phrase}.", "I know {plural_noun_phrase}."),
        nouns=(("person", "people"), ("parent", "parents")),
    )
    assert [row["text"] for row in rows[:4]] == [
        "I'm an amber-eyed person.",
        "I'm an amber-eyed parent.",
        "I know amber-eyed people.",
        "I know amber-eyed parents.",
    ]
    assert [(row["group"], row["frame"]) for row in rows] == [
        (group, frame) for group in range(2) for frame in range(4)
    ]
    assert rows[4] | {"text": ""} == {
        "text": "", "descriptor": "blue-eyed", "bucket": "light", "preference": "reviewed",
        "group": 1, "frame": 0,
    }  # fmt: skip


def test_what_people_reject_or_dispute_is_left_out_by_default():
    assert len(texts("eyes")) == 2
    assert len(texts("eyes", without=("blue-eyed",))) == 1
    assert texts("eyes", preferences=("polarizing",)) == ["I'm a wall-eyed person."]


def test_the_article_follows_the_sound():
    assert texts("origins") == [
        "I'm a European person.", "I'm an Asian person.", "I'm a Unitarian person.",
    ]  # fmt: skip
    assert [text.split()[1] for text in texts("labels")] == ["an", "an", "a", "a", "an", "a"]


def test_a_sample_has_whole_descriptors():
    assert len(texts("labels", most=4)) == 4
    assert set(texts("labels", most=4)) < set(texts("labels"))


def test_an_unknown_axis_and_an_empty_one_are_rejected():
    with pytest.raises(InvalidOption, match=r"unknown axis 'eye'.*eyes"):
        texts("eye")
    with pytest.raises(InvalidOption, match="no descriptor of 'eyes' is left"):
        texts("eyes", preferences=())
