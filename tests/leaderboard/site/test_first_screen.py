"""The first screen answers in a sentence, and Back leads to each choice: in a real Chromium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from site_pages import build, many_families

pytestmark = pytest.mark.browser
PHONE = {"width": 390, "height": 844}
LARGE = 18.0
"""Pixels of a letter of a sentence, at least."""


def board_of(count: int, make_record: Any) -> list[Any]:
    """Return records of a board of so many models; of many, some are mitigated."""
    if count > 1:
        return many_families(make_record)
    return [
        make_record(
            model__name=f"organisation/a-model-with-a-long-name-{i}",
            model__fingerprint=f"{i:032}",
            task__name=task,
            task__digest=task,
            value=0.1,
        )
        for i in range(count)
        for task in ("b0", "b1")
    ] or [make_record(task__measures="usefulness", ideal="higher", bounds=(-1.0, 1.0), value=0.5)]


def told(index: Path) -> Any:
    """Return the board in leaderboard.json."""
    content = json.loads((index.parent / "leaderboard.json").read_text("utf-8"))
    (board,) = content["boards"]
    return board


@pytest.mark.parametrize("count", [0, 1, 6])
def test_a_phone_shows_the_answer_whole_and_large(count, tmp_path, visit, make_record) -> None:
    index = build(tmp_path, board_of(count, make_record))
    page = visit(index, **PHONE)
    sentences = page.locator(".answers p")
    assert sentences.count() == 1
    for box in sentences.evaluate_all(
        """all => all.map((sentence) => {
          const { left, right, top, bottom } = sentence.getBoundingClientRect();
          const { fontSize, overflow } = getComputedStyle(sentence);
          const isOnTop = [[left + 9, top + 9], [right - 9, bottom - 9]].every(
            ([x, y]) => sentence.contains(document.elementFromPoint(x, y)));
          return { left, right, top, bottom, size: parseFloat(fontSize), overflow, isOnTop };
        })"""
    ):
        assert 0 <= box["left"] < box["right"] <= PHONE["width"]
        assert 0 <= box["top"] < box["bottom"] <= PHONE["height"]
        assert box["size"] >= LARGE
        assert box["overflow"] == "visible"
        assert box["isOnTop"]
    assert page.evaluate("window.scrollY") == 0
    assert sentences.inner_text() == told(index)["views"][0]["finding"]


def test_the_answer_agrees_with_the_table(tmp_path, visit, make_record) -> None:
    index = build(tmp_path, board_of(6, make_record))
    page = visit(index, "#/text")
    first = page.locator(".answers p").inner_text()
    view = told(index)["views"][0]
    ranks = {line["on"]: line for line in view["rows"] if line["rank"]}
    best = max(line["usefulness"] for line in ranks.values())
    useful = [name for name, line in ranks.items() if line["usefulness"] >= 0.9 * best]
    leader = min(useful, key=lambda name: ranks[name]["rank"])
    assert first.startswith(f"{leader} is ")
    assert page.locator(".virtual .name").first.inner_text() == leader
    assert f"of all {len(ranks)} ranked ones" in first


def test_the_answer_follows_the_concept_and_single_tasks_have_none(site, visit) -> None:
    page = visit(site, "#/text?concept=age")
    assert "on these 3 tests" in page.locator(".answers p").inner_text()
    page = visit(site, "#/text?tasks=age-weat&tasks=gender-weat")
    answer = page.locator(".answers p").inner_text()
    assert "harness leaderboard build RESULTS --out FOLDER --tasks age-weat,gender-weat" in answer
    titles = page.locator(".virtual thead button").all_inner_texts()
    assert titles[:3] == ["Model", "age-weat", "gender-weat"]
    assert not {"Rank", "Bias", "Usefulness"} & set(titles), "no mean and no rank"
    assert page.locator(".plot-drawing").count() == 0


def test_models_without_the_usefulness_tasks_are_open_marks_with_a_word(
    tmp_path, visit, make_record
) -> None:
    models = {
        "whole": ("b", "u", "v"),
        "part": ("b", "u"),
        "none": ("b",),
        "other": ("b", "u", "v"),
    }
    records = [
        make_record(
            model__name=model, model__fingerprint=model * 4, task__name=task, task__digest=task,
            task__measures="bias" if task == "b" else "usefulness", category=task,
            value=0.2 + 0.1 * i if task == "b" else 0.5, ideal=0.0 if task == "b" else "higher",
            bounds=(-2.0, 2.0) if task == "b" else (-1.0, 1.0),
        )
        for i, (model, tasks) in enumerate(models.items())
        for task in tasks
    ]  # fmt: skip
    page = visit(build(tmp_path, records))
    labels = page.locator(".plot-labels text").all_text_contents()
    assert {"whole", "other", "part: incomplete", "none: incomplete"} == set(labels)
    assert page.locator(".plot-marks path.open").get_attribute("d").count("M") == 2
    assert page.locator(".virtual tr.below").count() == 2
    assert page.locator(".plot-labels .faint").count() == 2
