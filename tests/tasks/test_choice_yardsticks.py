"""The yardsticks of choices and of groups: their contrasts, and what their words are free of."""

from __future__ import annotations

import itertools

import pytest

import harness
from harness.registry.registry import Registry

RANKED = (
    "ability", "age", "gender-and-sex", "nationality", "political-ideologies", "race-ethnicity",
    "religion", "sexual-orientation", "socioeconomic-class",
)  # fmt: skip


@pytest.fixture(scope="module")
def registry():
    return Registry()


def scenarios(registry, name):
    return {part.name: part.inputs for part in registry.task(name).scenarios}


def descriptors(inputs):
    """Return the descriptors of a scenario: the words of `I'm a … person.`"""
    return [
        text.removesuffix(" person.").split(" ", 2)[-1]
        for text, frame in zip(inputs["sentences"].texts, inputs["frames"].numbers, strict=True)
        if frame == 0
    ]


def test_each_of_fourteen_words_has_its_own_and_two_others_of_the_contrast(registry):
    for name, inputs in scenarios(registry, "yardstick-choices").items():
        rows = list(
            zip(
                *(inputs[i].texts for i in ("contexts", "stereotyped", "anti_stereotyped")),
                strict=True,
            )
        )
        own = {context: right for context, right, _ in rows}
        assert len(own) == len({*own.values()}) == 14, name
        assert all(own[context] == right != other for context, right, other in rows), name
        assert {other for *_, other in rows} <= {*own.values()}, name
        assert len({*rows}) == len(rows) == 28, name
        assert not {*own} & {*own.values()}, name
        assert all(len(text.split()) == 1 for text in itertools.chain(*rows)), name


def test_descriptors_are_in_the_frames_of_holistic_bias(registry):
    kind = scenarios(registry, "yardstick-groups")["kind-cruel"]["sentences"].texts[:12]
    of_yardstick = tuple(text.replace("kind", "…") for text in kind)
    inputs = scenarios(registry, "holistic-bias-nonce")["default"]
    first = descriptors(inputs)[0]
    assert of_yardstick == tuple(t.replace(first, "…") for t in inputs["sentences"].texts[:12])


def test_no_descriptor_is_one_of_a_social_group_or_an_attribute_word(registry):
    groups = scenarios(registry, "yardstick-groups")
    words = {name: descriptors(inputs) for name, inputs in groups.items()}
    assert all(len(of) == 16 for of in words.values())
    every = set(itertools.chain(*words.values()))
    assert len(every) == 8 * 16
    inputs = groups["kind-cruel"]
    assert not every & {*inputs["pleasant"].texts, *inputs["unpleasant"].texts}
    for axis in RANKED:
        of_axis = scenarios(registry, f"holistic-bias-{axis}")["default"]
        assert not every & {*descriptors(of_axis)}, axis


def test_own_items_are_a_yardstick(tmp_path):
    records = harness.evaluate(
        "random-texts", ["stereoset-religion", "name-triplets"], cache=tmp_path
    )
    of = {record.ratio.of for record in records if record.ratio is not None}
    assert of == {"items"}
