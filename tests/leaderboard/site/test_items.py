"""The strongest items of a cell: in the data of the site, and beside another model on its page."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import pytest
import site_data
from evidence_items import TASK, results_with_items
from site_pages import build

from harness.commands.main import run
from harness.leaderboard.claims.evidence import Extract, Item
from harness.leaderboard.site import evidence
from harness.leaderboard.site.evidence import Items

A, B = "model-a", "model-b"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of two models, both with the items of one score."""
    folder = tmp_path_factory.mktemp("results")
    for name, shift in ((A, 0.2), (B, 0.4)):
        results_with_items(folder / name, name, shift)
    return folder


@pytest.fixture(scope="module")
def site(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of these results."""
    folder = tmp_path_factory.mktemp("site")
    assert run(["leaderboard", "build", str(results), "--out", str(folder)]) == 0
    return folder


def items_in(site: Path) -> dict[str, Any]:
    (task,) = (t for t in site_data.read(site, "data/word.js")["tasks"] if t["items"])
    assert task["name"] == TASK
    content: dict[str, Any] = site_data.read(site, task["items"])
    return content


def test_a_task_with_items_has_a_data_file_that_is_loaded_on_demand(site):
    content = items_in(site)
    assert content["total"] == [32, 32]
    assert content["count"] == [32, 32]
    assert sorted(map(tuple, content["inputs"])) == [
        (f"{kind}_{i}",) for kind in ("attributes", "targets") for i in (1, 2)
    ]
    assert {len(texts) for _, _, texts in content["items"]} == {1}
    assert "John" in {texts[0] for _, _, texts in content["items"]}
    assert len([*(site / "data").glob("*/*items*")]) == 1


def test_a_board_of_submissions_has_the_same_items_as_one_of_results(results, site, tmp_path):
    for name in (A, B):
        command = ["results", "pack", str(results / name), "--out", str(tmp_path / "out")]
        assert run([*command, "--by", "Ada"]) == 0
    out = tmp_path / "site"
    assert run(["leaderboard", "build", str(tmp_path / "out"), "--out", str(out)]) == 0
    assert items_in(out) == items_in(site)


def test_items_that_contradict_the_task_are_set_aside_and_the_rest_is_built(
    results, tmp_path, capsys
):
    out = tmp_path / "out"
    for name in (A, B):
        run(["results", "pack", str(results / name), "--out", str(out), "--by", "Ada"])
    spoiled, good = sorted(out.rglob("*.samples.jsonl"))
    content = json.loads(spoiled.read_text())
    del content["check"]
    content["strongest"][0]["texts"] = ["<img src=x onerror=alert(1)>"]
    spoiled.write_text(json.dumps(content) + "\n[torn")
    capsys.readouterr()
    assert run(["leaderboard", "build", str(out), "--out", str(tmp_path / "site")]) == 0
    said = capsys.readouterr().err
    assert "has another text in the task" in said, said
    assert "torn" in said
    assert items_in(tmp_path / "site")["total"] == [32]
    for file in (tmp_path / "site").rglob("*.js"):
        assert "onerror=alert" not in file.read_text("utf-8")
    assert good.name == spoiled.name


def test_a_site_without_items_has_no_file_and_no_mark_of_them(make_record, tmp_path):
    page = build(tmp_path / "site", [make_record()])
    assert not [*page.parent.glob("data/*/*items*")]


def test_a_text_that_was_not_compared_with_the_task_is_not_published():
    item = Item(of=("words",), row=0, value=0.1, texts=("<b>buy</b>",))
    for is_compared, texts in ((False, None), (True, ("<b>buy</b>",))):
        items = Items("the data of the task are missing here", is_compared)
        items.add("row", 0.1, Extract(id="a", items=1, strongest=(item,)))
        assert list(items.texts.values()) == [texts]


def a_large_task(cells: int, items: int, characters: int) -> Items:
    """Return a task with many cells, of the same items."""
    text = "x" * characters
    return Items(
        "",
        texts={(("words",), row): (text,) for row in range(items)},
        row=[f"row{i}" for i in range(cells)],
        total=[items] * cells,
        score=[0.1] * cells,
        item=[array("I", range(items))] * cells,
        value=[array("d", [1.0] * items)] * cells,
    )


def test_a_large_board_keeps_fewer_items_of_each_cell_and_says_so():
    tasks = [a_large_task(1_000, 40, 10) for _ in range(20)]
    (notice,) = evidence.within_limits(tasks)
    assert "10 strongest items of a cell, not 40" in notice
    kept = sum(len(items) for task in tasks for items in task.item)
    assert kept == 20 * 1_000 * 10 <= evidence.MOST_ITEMS


# In a real Chromium.


@pytest.fixture
def page(site: Path, visit: Any) -> Any:
    """The page of the task, with the details of its cells."""
    page = visit(site / "index.html", f"#/word/task/{TASK}")
    page.wait_for_selector(".items-link")
    return page


def test_one_click_leads_from_a_cell_to_its_ten_strongest_items_beside_another_model(page):
    page.get_by_role("link", name=f"items of {A} on {TASK}").click()
    page.wait_for_selector("ol.items")
    assert page.locator("main h1").inner_text() == f"What {TASK} finds in {A}"
    assert "10 of 32 items are furthest from fair" in page.locator("main .lead").inner_text()
    lines = page.locator("ol.items > li")
    assert lines.count() == 10
    assert lines.first.locator(".item-value").count() == 2
    words = lines.first.locator(".item-value small").all_inner_texts()
    assert all(text.startswith(("adds to the bias", "against the bias")) for text in words)
    assert page.locator("#items-beside option:checked").inner_text() == B
    values = lines.locator(".item-value:nth-child(2) .number").all_inner_texts()
    numbers = [abs(float(value.replace("−", "-"))) for value in values]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize(
    ("value", "score", "words"),
    [
        (0.4, 0.2, "adds to the bias, 2.0 times the mean"),
        (-0.4, 0.2, "against the bias, 2.0 times the mean"),
        (-0.4, -0.2, "adds to the bias, 2.0 times the mean"),
        (0.4, 0.001, "adds to the bias"),
        (0.0001, 0.2, "fair"),
    ],
)
def test_the_words_of_an_item_say_its_direction_and_its_size(value, score, words, site, visit):
    page = visit(site / "index.html")
    task = {"measures": "bias", "ideal": 0}
    arguments = [task, score, value]
    assert page.evaluate("([t, s, v]) => harness.itemWords(t, s, v).words", arguments) == words
