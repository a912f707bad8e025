"""The charts with a line a row, in Chromium: what they draw stands where their words say."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from site_pages import build, go

pytestmark = pytest.mark.browser
CHARTS = """charts => charts.map((chart) => ({
  caption: chart.caption.textContent,
  rows: [...chart.tBodies[0].rows].map((row) => ({
    head: row.cells[0].textContent,
    cells: [...row.querySelectorAll("td.drawing")].map((cell) => ({
      marks: [...cell.querySelectorAll("svg.mark")].map((m) => parseFloat(m.getAttribute("x"))),
      whiskers: [...cell.querySelectorAll("line.whisker")].map((line) =>
        ["x1", "x2"].map((end) => parseFloat(line.getAttribute(end)))),
      forms: [...cell.querySelectorAll("svg.mark")].map((m) => m.classList[1]),
      others: cell.querySelectorAll(".other").length,
      band: [...cell.querySelectorAll(".band")].map((band) =>
        ["x", "width"].map((side) => parseFloat(band.getAttribute(side))))[0] ?? null,
      change: cell.querySelector(".change")?.getAttribute("class") ?? null,
      words: cell.nextElementSibling.textContent,
    })),
  })),
}))"""
EDGES = (0.5, 99.5)
"""Where the drawing stands of what is beyond the scale."""


@pytest.fixture(scope="module")
def page(browser, site):
    """One page for all charts of the site."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(site.as_uri() + "#/text")
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    page.close()


def charts(page: Any, address: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the charts of a page by the start of their captions."""
    go(page, address)
    found = page.locator("main .row-chart").evaluate_all(CHARTS)
    return {chart["caption"]: chart["rows"] for chart in found}


def rows_of(found: dict[str, list[dict[str, Any]]], start: str) -> list[dict[str, Any]]:
    """Return the rows of the chart whose caption starts so."""
    return next(rows for caption, rows in found.items() if caption.startswith(start))


def numbers(words: str) -> list[float]:
    """Return the numbers in words."""
    return [float(text.replace("−", "-")) for text in re.findall(r"[+−]?\d+\.\d{3}", words)]


def assert_on_one_scale(pairs: list[tuple[float, float]]) -> None:
    """Assert that places are a linear function of the numbers beside them."""
    inside = np.array([(value, place) for value, place in pairs if place not in EDGES])
    assert len(inside) >= 3
    values = np.column_stack([inside[:, 0], np.ones(len(inside))])
    line, *_ = np.linalg.lstsq(values, inside[:, 1], rcond=None)
    assert line[0] > 0
    assert np.abs(values @ line - inside[:, 1]).max() < 0.5, "in percent of the width"


def test_a_profile_draws_each_mean_where_its_words_say(page) -> None:
    found = charts(page, "#/text/model/org%2Fb")
    rows = rows_of(found, "Bias by each concept alone")
    assert {row["head"] for row in rows} == {
        f"{name}stereotype" for name in ("age", "gender", "race")
    }
    pairs = []
    for row in rows:
        (cell,) = row["cells"]
        value, *_ = numbers(cell["words"])
        pairs += [(value, cell["marks"][0])]
        assert cell["others"] == 5, "a tick for each other model"
    assert_on_one_scale(pairs)
    means = [numbers(row["cells"][0]["words"])[0] for row in rows]
    assert means == sorted(means, reverse=True)


def test_a_mitigator_is_drawn_from_before_to_after_and_says_what_is_shown(page) -> None:
    rows = rows_of(charts(page, "#/text/mitigator/hard-debias"), "Each model without and with it")
    assert len(rows) == 6
    pairs = []
    for row in rows:
        (cell,) = row["cells"]
        before, after, change, *_ = numbers(cell["words"])
        assert cell["marks"], row["head"]
        assert after - before == pytest.approx(change, abs=1e-9), "to the last digit"
        pairs += zip((before, after), cell["marks"], strict=True)
        is_shown = "biased" in cell["words"]
        assert cell["change"] == ("change" if is_shown else "change not-shown")
        assert cell["forms"] == ["open", "full"]
    assert_on_one_scale(pairs)
    assert any("less biased" in row["cells"][0]["words"] for row in rows)


def test_a_task_draws_gap_score_and_floor_of_each_model(page) -> None:
    go(page, "#/text/task/age-weat")
    page.wait_for_selector("th:has-text('Score')", state="attached")
    rows = rows_of(charts(page, "#/text/task/age-weat"), "Models without a mitigator")
    assert len(rows) == 5, "org/f lacks the task"
    for panel in (0, 1):
        assert_on_one_scale(
            [
                (numbers(row["cells"][panel]["words"])[0], row["cells"][panel]["marks"][0])
                for row in rows
            ]
        )
    gaps = [abs(numbers(row["cells"][0]["words"])[0]) for row in rows]
    assert gaps == sorted(gaps)


def test_a_benchmark_draws_its_models_by_rank(page) -> None:
    rows = rows_of(charts(page, "#/text/benchmark/all"), "Bias and usefulness on these tasks")
    ranked = [row for row in rows if "not ranked" not in row["cells"][0]["words"]]
    assert [row["head"] for row in ranked] == [f"org/{name}" for name in "abcde"]
    assert [re.search(r"\d(st|nd|rd|th)", r["cells"][0]["words"])[0] for r in ranked] == [
        "1st", "2nd", "3rd", "4th", "5th",
    ]  # fmt: skip
    assert [row["cells"][0]["forms"] for row in rows] == [["full"]] * 5 + [["open"]]


def test_a_value_beyond_the_scale_is_an_arrow_at_its_end(page) -> None:
    """Noise may be many times as biased as a model, which leaves the models no room."""
    drawn = page.evaluate(
        """() => {
          const panel = { title: "Bias", words: "Bias", lines: [{ label: "fair", value: 0 }] };
          const row = (value, isAside) =>
            ({ head: "x", cells: [{ marks: [{ value }], words: "x", isAside }] });
          const chart = harness.rowChart("c", "Model", [panel], [row(1), row(2), row(90, true)]);
          return [...chart.querySelectorAll("svg.mark")].map((mark) =>
            [parseFloat(mark.getAttribute("x")), mark.firstChild.getAttribute("d")]);
        }"""
    )
    (first, circle), (second, _), (beyond, arrow) = drawn
    assert first < second < beyond == EDGES[1]
    assert arrow != circle


@pytest.fixture(scope="module")
def languages(tmp_path_factory, make_record):
    """The page of a site with tasks in English, German and French; none in French is ranked."""
    unranked = {"fr": "no reader of the language has reviewed its texts"}
    records = [
        make_record(
            model__name=model, model__fingerprint=model, task__name=f"{language}-{i}",
            task__digest=f"{language}-{i}", language=language, value=0.1 * i + 0.2 * (model == "b"),
            task__unranked=unranked.get(language, ""),
        )
        for model in "abcd"
        for language in (("en",) if model == "d" else ("en", "de", "fr"))
        for i in (1, 2, 3)
    ]  # fmt: skip
    return build(tmp_path_factory.mktemp("languages"), records)


def test_the_language_of_the_tasks_is_chosen_among_those_that_rank(languages, visit) -> None:
    page = visit(languages, "#/text")
    field = page.get_by_label("Language of the tasks")
    texts = field.locator("option").all_inner_texts()
    assert texts == ["those of the benchmark", "German"]
    field.select_option("de")
    assert (
        "All tasks in English, German: 3 bias tasks"
        in page.locator(".virtual caption").inner_text()
    )
    assert page.evaluate("location.hash") == "#/text?in=de"
