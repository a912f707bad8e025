"""The first screen answers in a sentence, and Back leads to each choice: in a real Chromium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from site_pages import build, many_families, ready

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.claims.reading import frame_of

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


def hash_of(page: Any) -> str:
    """Return the address within the page."""
    found: str = page.evaluate("location.hash")
    return found


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
    assert sentences.inner_text() == told(index)["benchmarks"][0]["finding"]


def test_the_answer_is_that_of_the_data(tmp_path, visit, make_record) -> None:
    index = build(tmp_path, board_of(6, make_record))
    first = visit(index, **PHONE).locator(".answers p").inner_text()
    board = told(index)
    benchmark = board["benchmarks"][0]
    ranks = {line["model"]: line for line in benchmark["ranks"] if line["rank"]}
    rows = [line for line in board["rows"] if line["mitigator"] == "none"]
    best = max(line["usefulness"] for line in rows if line["model"] in ranks)
    useful = {line["model"] for line in rows if line["usefulness"] >= 0.9 * best} & set(ranks)
    leader = min(useful, key=lambda name: ranks[name]["rank"])
    assert first.startswith(f"{leader} is ")
    low, high = (ranks[leader][f"rank_{end}"] for end in ("low", "high"))
    ordinals = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 5: "5th"}
    if low == high:
        assert f"it is {ordinals[low]}, with 95 % confidence." in first
    else:
        assert first.endswith(f"could be anywhere from {ordinals[low]} to {ordinals[high]}.")


def test_the_answer_follows_the_minimum_and_an_own_choice(site, visit) -> None:
    page = visit(site, "#/text?min=off")
    assert "of 5 ranked models" in page.locator(".answers p").first.inner_text()
    page = visit(site, "#/text?concept=age")
    assert "too few to tell" in page.locator(".answers p").inner_text(), "3 methods of age"


def test_the_table_of_a_choice_is_drawn_before_its_sets_of_ranks(
    tmp_path, visit, make_record
) -> None:
    n, methods = 101, [f"m{i}" for i in range(7)]  # the sets of 100 models are computed at once
    records = [
        make_record(
            model__name=f"model-{model:03}",
            model__fingerprint=f"{model:032}",
            task__name=method,
            task__digest=method,
            metric=method,
            value=0.1 + 0.005 * model + 0.05 * np.sin(model * (i + 1)),
        )
        for model in range(n)
        for i, method in enumerate(methods)
    ]
    page = visit(build(tmp_path, records), "#/text")
    cells = "[...document.querySelectorAll('.virtual tr.model')].map((tr) => tr.cells[0].innerText)"
    drawn = page.evaluate(
        f"() => {{ document.querySelector('main .tasks .boxes input').click(); return {cells}; }}"
    )
    assert drawn, "rows are drawn"
    assert all(text.split()[1] == "…" for text in drawn)
    page.locator(".answers", has_text="could be anywhere").wait_for()
    (board,) = compile_boards(frame_of([r for r in records if r.metric != methods[0]]))
    ranks = board.benchmarks[0].ranks.sort("rank", "row").head(len(drawn)).to_dicts()
    shown = [text.split() for text in page.evaluate(cells)]
    for (rank, ends), line in zip(shown, ranks, strict=True):
        low, high = line["rank_low"], line["rank_high"]
        assert rank == str(line["rank"])
        assert ends == (str(low) if low == high else f"{low}–{high}")


def test_the_line_of_the_minimum_is_dragged_and_is_the_value_of_the_control(site, visit) -> None:
    page = visit(site, "#/text")
    line, field = page.get_by_role("slider"), page.get_by_role("combobox", name="Minimum of")
    assert line.get_attribute("aria-valuenow") == "90"
    grip = line.locator(".grip").bounding_box()
    assert grip
    x, y = grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 30, steps=4)
    dragged = int(line.get_attribute("aria-valuenow"))
    assert dragged < 90
    assert field.input_value() == str(100 - dragged), "the control follows"
    assert "min=" not in hash_of(page), "the address waits for the end"
    page.mouse.up()
    assert hash_of(page).endswith(f"min={100 - dragged}")
    page.wait_for_function("document.querySelector('.plot-slider') !== null")
    field.select_option("25")
    page.wait_for_selector(".plot-slider[aria-valuenow='75']")


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


def test_back_leads_to_each_choice_and_the_table_keeps_its_place(site, visit) -> None:
    page = visit(site, "#/text", height=420)
    page.get_by_role("button", name="Dimensions").click()
    page.locator(".fold").first.click()
    page.get_by_label("Search models").fill("org")
    page.get_by_label("Search models").type("/")
    assert hash_of(page) == "#/text?q=org/&sort=dimensions&open=org/b"
    page.evaluate("document.querySelector('.virtual').scrollTop = 120; scrollTo(0, 700)")
    page.wait_for_timeout(400)
    place = page.evaluate("[scrollY, document.querySelector('.virtual').scrollTop]")
    page.evaluate("document.querySelector('.virtual .model a.name').click()")
    page.wait_for_selector("main.page-model")
    page.go_back()
    page.wait_for_selector("main.page-home")
    ready(page)
    page.wait_for_timeout(200)
    again = page.evaluate("[scrollY, document.querySelector('.virtual').scrollTop]")
    assert again == place
    assert page.locator(".virtual tr.mitigated").count() > 0, "the opened row is open"
    for expected in ("#/text?sort=dimensions&open=org/b", "#/text?sort=dimensions", "#/text"):
        page.go_back()
        page.wait_for_function(f"location.hash === {expected!r}")
        ready(page)
    assert page.locator(".virtual [aria-sort]").inner_text().startswith("Rank")
    page.go_forward()
    page.wait_for_selector(".virtual [aria-sort] >> text=Dimensions")
