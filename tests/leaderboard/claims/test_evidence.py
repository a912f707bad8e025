"""The strongest items of a record: which are kept and quoted, and what contradicts them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.leaderboard.claims.evidence import (
    KEPT,
    LONGEST_TEXT,
    Catalogue,
    Extract,
    Item,
    Scale,
    TaskItems,
    extract_of,
    is_open,
    mistake,
)
from harness.registry.registry import Registry

ID = "a" * 32
WORDS = tuple(f"word{i}" for i in range(100))
SENTENCES = tuple(f"A {word} sings." for word in WORDS)
TASK = TaskItems("t", {("default", "m"): {"words": WORDS, "sentences": SENTENCES}})


def scale(value: float, ideal: Any = 0.0, bounds: Any = (-2.0, 2.0)) -> Scale:
    return Scale("default", "m", value, ideal, bounds)


def rows(values: list[float | None], texts: tuple[str, ...] = WORDS, of: str = "words") -> Any:
    """Return samples as `harness eval` writes them."""
    pairs = zip(texts, values, strict=False)
    return [{"input": of, "text": text, "contribution": value} for text, value in pairs]


def made(values: list[float | None], **options: Any) -> Extract:
    known = [value for value in values if value is not None]
    extract = extract_of(ID, rows(values), scale(sum(known) / len(known), **options), TASK)
    assert isinstance(extract, Extract), extract
    return extract


def test_the_items_furthest_from_the_ideal_are_kept_with_the_number_of_all():
    values = [(-1) ** i * i / 100 for i in range(100)]
    extract = made(values)
    assert extract.items == 100
    assert [item.row for item in extract.strongest] == list(range(99, 99 - KEPT, -1))
    assert extract.strongest[0].value == -0.99
    assert extract.strongest[0].texts == ("word99",)


def test_of_usefulness_the_items_that_cost_most_come_first():
    extract = made([1.0, 0.2, -0.5, 3.0], ideal="higher", bounds=(-1.0, 1.0))
    assert [item.value for item in extract.strongest] == [-0.5, 0.2, 1.0, 3.0]


def test_items_without_a_contribution_are_not_counted():
    assert made([0.5, None, 0.1]).items == 2


def test_a_score_that_is_no_mean_over_items_has_none():
    assert extract_of(ID, rows([None, None]), scale(0.1), TASK) == "its score is no mean over items"


def test_an_item_of_several_inputs_has_a_text_of_each():
    samples = [{"words": "word1", "sentences": SENTENCES[1], "other": "x", "contribution": 1.0}]
    extract = extract_of(ID, samples, scale(1.0), TASK)
    assert isinstance(extract, Extract)
    (item,) = extract.strongest
    assert (item.of, item.row) == (("words", "sentences"), 1)
    assert item.texts == ("word1", "A word1 sings.")


def test_a_long_text_is_cut_and_still_agrees_with_the_task():
    task = TaskItems("t", {("default", "m"): {"words": ("x" * 2 * LONGEST_TEXT,)}})
    extract = extract_of(ID, rows([1.0], ("x" * 2 * LONGEST_TEXT,)), scale(1.0), task)
    assert isinstance(extract, Extract)
    assert extract.strongest[0].texts == ("x" * LONGEST_TEXT,)
    assert mistake(extract, scale(1.0), task) == ""


@pytest.mark.parametrize(
    "licence",
    [
        "MIT", "MIT; lists of words with ratings", "Apache-2.0", "CC BY-SA 4.0", "CC-BY-SA-4.0",
        "CC0 1.0", "CC BY-SA, of Wikipedia's plots", "the harness's own; lists of words",
        "CC BY-SA 3.0 US, of Wikipedia's plots",
        "the harness's own sentences; occupations and statistics are facts",
    ],
)  # fmt: skip
def test_an_open_licence_is_known(licence):
    assert is_open(licence)


def test_without_an_open_licence_words_are_quoted_and_sentences_are_not():
    task = TaskItems("t", TASK.texts, needs_words=True)
    samples = [*rows([0.9]), *rows([0.1], SENTENCES, "sentences")]
    extract = extract_of(ID, samples, scale(0.5), task)
    assert isinstance(extract, Extract)
    assert [item.texts for item in extract.strongest] == [("word0",), None]
    assert "licence" in task.note


def test_texts_that_are_stereotypes_are_never_quoted():
    task = Catalogue(Registry()).task("crows-pairs-gender")
    assert "stereotypes" in task.note
    assert task.quoted(["nurse"]) is None


def test_an_invisible_character_is_never_quoted():
    for text in ("a\u202eb", "a\u200bb", "a\nb", "a\0b"):
        assert TASK.quoted([text]) is None


def test_the_tasks_of_the_package_have_their_items():
    task = Catalogue(Registry()).task("weat-6")
    (texts,) = (of for (_, metric), of in (task.texts or {}).items() if metric == "weat")
    assert texts["targets_1"][0] == "John"
    assert Catalogue(Registry()).task("no-such-task").note == "the task is not registered here"


def item(row: int, value: float, text: str | None = None, of: str = "words") -> Item:
    return Item(of=(of,), row=row, value=value, texts=None if text is None else (text,))


GOOD = (item(0, 0.9, "word0"), item(1, -0.5), item(2, 0.2, "word2"))


@pytest.mark.parametrize(
    ("items", "strongest", "reason"),
    [
        (3, GOOD, ""),
        (2, GOOD, "3 items of 2"),
        (3, (GOOD[0], GOOD[0], GOOD[2]), "an item occurs twice"),
        (3, GOOD[::-1], "not in order"),
        (3, (item(0, 0.9), item(1, 0.5), item(2, 0.2)), "not the mean"),
        (100, (item(0, 0.001), item(1, 0.001)), "not the mean"),
        (3, (item(0, 0.9, "<script>"), *GOOD[1:]), "another text"),
        (3, (item(0, 0.9, "word1"), *GOOD[1:]), "another text"),
        (3, (item(100, 0.9), *GOOD[1:]), "has 100 there"),
        (3, (item(0, 0.9, of="others"), *GOOD[1:]), "no input with texts"),
        (3, (Item(of=("words",), row=0, value=0.9, texts=("word0", "x")), *GOOD[1:]), "2 texts"),
    ],
)
def test_what_contradicts_the_score_or_the_task_is_found(items, strongest, reason):
    extract = Extract(id=ID, items=items, strongest=strongest)
    found = mistake(extract, scale(0.2), TASK)
    assert reason in found if reason else not found


def test_of_a_task_without_data_the_values_are_compared_and_the_texts_are_not():
    task = TaskItems("t")
    assert mistake(Extract(id=ID, items=3, strongest=GOOD), scale(0.2), task) == ""
    assert "mean" in mistake(Extract(id=ID, items=3, strongest=GOOD), scale(0.9), task)
