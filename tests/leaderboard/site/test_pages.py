"""What a visitor sees on the pages of models, tasks, mitigators and so on, in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import site_data
from site_pages import build

from harness.leaderboard.site.payload import END, script
from harness.results.record import UnseenPart

pytestmark = pytest.mark.browser


@pytest.fixture
def records(make_many, make_record):
    """Records of three models with a void score, an unusable mitigated row and missing values."""
    many = make_many()
    lost = ("e5-small", "none", "age-traits")
    for i, record in enumerate(many):
        if (record.model.name, record.mitigator.name, record.task.name) == lost:
            unseen = UnseenPart(kind="unseen texts", value=None, reason="no text has a vector")
            many[i] = record.model_copy(update={"unseen": unseen})
    return many


@pytest.fixture
def change():
    """Return a function that changes what a data file of a site holds."""

    def change_data(index: Path, name: str, change: Callable[[Any], object]) -> Path:
        file, folder = f"data/{name}.js", index.parent
        content = site_data.read(folder, file)
        change(content)
        end = END.format(site_data.build_of(folder)).encode()
        site_data.path(folder, file).write_bytes(b"".join(script(file, content)) + end)
        return index

    return change_data


def facts(page) -> dict[str, str]:
    """Return the facts of the page."""
    lists = page.locator("dl.facts").evaluate_all(
        "lists => lists.map((list) => [...list.querySelectorAll('dt')]"
        ".map((term) => [term.textContent, term.nextElementSibling.textContent]))"
    )
    return {name: value for pairs in lists for name, value in pairs}


def table(page, caption: str) -> list[list[str]]:
    """Return the cells of the rows of the table whose caption starts like this."""
    rows: list[list[str]] = page.locator("main table").evaluate_all(
        """(tables, caption) => {
          const table = tables.find((table) => table.caption.textContent.startsWith(caption));
          return [...table.tBodies[0].rows].map((row) => [...row.cells].map((c) => c.textContent));
        }""",
        caption,
    )
    return rows


def test_a_model_has_its_card_its_ranks_and_its_provenance(
    tmp_path, visit, records, change
) -> None:
    def card(board):
        board["models"][0] |= {
            "licence": "apache-2.0", "languages": ["en", "fr"], "parameters": 22_713_216,
            "open_weights": True, "revision": "abc", "superseded_by": "e5-small",
            "submitters": ["Ada"], "environments": [["harness 0.1, cpu", 36]],
            "published": {"MTEB": 56.26},
        }  # fmt: skip

    index = change(build(tmp_path, records), "text", card)
    page = visit(index, "#/text/model/all-MiniLM-L6-v2")
    assert page.locator("h1").inner_text() == "all-MiniLM-L6-v2"
    assert "Rank" in page.locator("main .lead").inner_text()
    shown = facts(page)
    assert shown["Licence"] == "apache-2.0"
    assert shown["Languages"] == "en, fr"
    assert shown["Parameters"] == "23 M"
    assert shown["Published MTEB"] == "56.26"
    assert shown["Submitted by"] == "Ada"
    assert shown["Ran on"] == "36 records: harness 0.1, cpu"
    assert (
        page.get_by_role("link", name="e5-small").get_attribute("href") == "#/text/model/e5-small"
    )
    (benchmark,) = table(page, "Bias and usefulness in each benchmark")
    assert benchmark[0] == "All tasks"
    assert len(table(page, "The change against the same model")) == 3
    concepts = {row[0] for row in table(page, "Bias by each concept alone")}
    assert concepts == {f"{name}stereotype" for name in ("gender", "race", "age", "names")}
    page.locator("main .trail").get_by_role("link", name="Models").click()
    page.wait_for_selector("h1:text-is('Models')")


def test_the_values_of_a_model_say_why_they_do_not_count(tmp_path, visit, records) -> None:
    index = build(tmp_path, records)
    page = visit(index, "#/text/model/e5-small")
    page.wait_for_selector("th:has-text('Texts with a vector')", state="attached")
    (age,) = table(page, "Bias by age")
    assert "no text has a vector" in age[-1]
    assert table(page, "Bias by gender")[0][-2] == "38 of 40"
    assert "6 of 7 tasks count" in page.locator("main .lead").inner_text()
    page.get_by_label("Mitigator", exact=True).select_option(label="hard-debias")
    page.wait_for_selector("td:has-text('no unseen words')", state="attached")
    void = [row[0] for row in table(page, "Bias by gender") if "no unseen words" in row[-1]]
    assert any(name.startswith("seat-c7") for name in void)
    assert page.evaluate("location.hash") == "#/text/model/e5-small?mitigator=hard-debias"
    again = visit(index, "#/text/model/e5-small?mitigator=hard-debias")
    again.wait_for_selector("td:has-text('no unseen words')", state="attached")


def test_a_task_says_what_it_asks_how_far_it_measures_and_how_models_do(
    tmp_path, visit, records, change
) -> None:
    def describe(board):
        (task,) = [task for task in board["tasks"] if task["name"] == "seat-c7"]
        task |= {
            "description": "Careers and `families`.", "source": "May et al. 2019",
            "licence": "CC-BY-4.0", "examples": {"targets_1": ["This is math."]},
            "validity": {"reliability": 0.81, "found from amplitude": 0.25, "new": None},
            "not_ranked": "superseded by seat-c8",
        }  # fmt: skip

    page = visit(change(build(tmp_path, records), "text", describe), "#/text/task/seat-c7")
    page.wait_for_selector("th:has-text('Texts with a vector')", state="attached")
    assert page.locator("h1").inner_text() == "seat-c7, made up"
    assert page.locator("main .description").inner_text() == "Careers and families."
    assert page.locator("main .notice").inner_text() == (
        "Shown and not ranked: superseded by seat-c8"
    )
    assert page.locator("main .notice a").get_attribute("href") == "#/text/task/seat-c8"
    shown = facts(page)
    assert shown["Reading"] == "the ideal is 0; from −2 to 2"
    assert shown["Source"] == "May et al. 2019"
    assert page.locator("dl.examples").inner_text() == "targets 1\nThis is math."
    assert any(name.startswith("Reliability") for name in shown)
    assert len(table(page, "Models without a mitigator")) == 3
    strengths = page.evaluate(
        "[0.01, 0.26, -0.5, 1, 7, NaN].map((ratio) => harness.strengthText(ratio))"
    )
    assert strengths == [
        "next to nothing beside its yardstick",
        "a quarter as strong as its yardstick",
        "against the stereotype, half as strong as its yardstick",
        "as strong as its yardstick",
        "7 times as strong as its yardstick",
        "",
    ]
    rows = table(page, "12 rows with a record")
    measures = [float(row[2]) for row in rows if row[2] != "–"]
    assert measures == sorted(measures)
    assert [row[1] for row in rows if "no unseen words" in row[-1]] == ["hard-debias"] * 3


def test_a_mitigator_has_its_effects_how_it_is_judged_and_where_it_is_not_usable(
    tmp_path, visit, records, change
) -> None:
    def break_row(board):
        (row,) = [
            i for i, role in enumerate(board["rows"]["role"])
            if board["mitigators"][board["rows"]["mitigator"][i]]["label"] == "hard-debias"
            and board["models"][board["rows"]["model"][i]]["name"] == "e5-small"
        ]  # fmt: skip
        board["rows"]["unusable"][str(row)] = "it keeps 12 % of the model's usefulness"

    page = visit(
        change(build(tmp_path, records), "text", break_row), "#/text/mitigator/hard-debias"
    )
    assert page.locator("h1").inner_text() == "hard-debias"
    (line,) = table(page, "Over the models on which it is usable")
    assert line[:3] == ["All tasks", "3", "3"]
    changes = table(page, "Against no mitigator")
    numbers = [
        [float(cell.split("+")[0].replace("−", "-")) for cell in row[1:3]] for row in changes
    ]
    assert [model < base for base, model in numbers] == [True] * 3
    text = page.locator("main").inner_text()
    assert "e5-small\nnot usable: it keeps 12 %" in text
    assert "of 7 scores 6 on texts without words of the fit (none, too), 1 not judged" in text
    page.locator("main .trail").get_by_role("link", name="Mitigators").click()
    page.wait_for_selector("h1:text-is('Mitigators')")
    assert len(table(page, "Each line is over its own models")) == 3


def test_an_arrow_needs_evidence(tmp_path, visit, make_rows) -> None:
    tasks = [f"t{i}" for i in range(8)]
    effects = {"none": (1.0, 0.02), "good": (0.2, 0.02), "idle": (1.0, 0.03)}
    records = [
        record
        for mitigator, (mean, swing) in effects.items()
        for i, task in enumerate(tasks)
        for record in make_rows(
            {model: {task: mean + swing * (-1) ** i} for model in "ab"},
            mitigator__name=mitigator, mitigator__fingerprint=mitigator, task__family=f"f{i}",
        )
    ]  # fmt: skip
    page = visit(build(tmp_path, records), "#/text/model/a")
    rows = {row[0]: row[3] for row in table(page, "The change against the same model")}
    assert "▲" in rows["good"]
    assert "better" in rows["good"]
    assert not {"▲", "▼"} & set(rows["idle"])
