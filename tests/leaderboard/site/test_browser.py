"""The page in a real headless Chromium, opened from a file."""

import shutil

import pytest

from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.site import writing as site
from harness.leaderboard.site.studies import compile_studies

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

pytestmark = pytest.mark.browser
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = "</script><img src=x onerror='window.hacked=1'><a href='javascript:1'>x</a>"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open the page of records; at the end, check that it logged and fetched nothing."""
    problems: list[str] = []
    pages = []

    def run(records, width: int = 1400, studies=()):
        compiled = compile_studies(studies)
        written = site.write(compile_boards(records), tmp_path, title="T", studies=compiled)
        page = browser.new_page(viewport={"width": width, "height": 900})
        pages.append(page)
        page.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "blob:", "data:"))
                or problems.append(f"fetched {request.url}")
            ),
        )
        page.goto(written.page.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield run
    for page in pages:
        page.close()
    assert problems == []


def rows(page, table: str) -> list[str]:
    """Return the text of the rows that a table shows."""
    return page.locator(f'table[data-name="{table}"] tbody tr:visible').all_inner_texts()


def sort(page, table: str, column: str, direction: str) -> None:
    """Click on a column's header, which sorts a moment later."""
    header = page.locator(f'table[data-name="{table}"] thead th', has_text=column).last
    header.click()
    page.wait_for_selector(f'table[data-name="{table}"] th[aria-sort={direction}]')


def test_rows_are_shown_best_first(open_page, make_many) -> None:
    page = open_page([*make_many("word"), *make_many("text")])
    for kind in ("word", "text"):
        shown = rows(page, f"{kind} models")
        assert len(shown) == 3
        assert shown[0].startswith("1\t")
        assert len(rows(page, f"{kind} effects")) == 9
        assert len(rows(page, f"{kind} mitigators")) == 3
        assert len(rows(page, f"{kind} by task")) == 12
        assert page.locator(f"#plot-{kind} .point").count() == 12


def test_a_click_on_a_header_sorts(open_page, make_many) -> None:
    page = open_page(make_many())
    table = page.locator('table[data-name="text by task"]')
    before = rows(page, "text by task")
    sort(page, "text by task", "sts-b", "ascending")
    rising = rows(page, "text by task")
    sort(page, "text by task", "sts-b", "descending")
    falling = rows(page, "text by task")
    values = table.locator("tbody tr td:last-child").evaluate_all(
        "cells => cells.map(cell => Number(cell.dataset.order))"
    )
    assert sorted(before) == sorted(rising) == sorted(falling)
    assert before != rising != falling
    assert values == sorted(values, reverse=True)


def test_a_missing_value_sorts_last(open_page, make_rows) -> None:
    page = open_page(make_rows({"a": {"x": 1.0, "y": -1.0}, "b": {"x": 2.0}, "c": {"y": -2.0}}))
    sort(page, "text by task", "y", "ascending")
    names = [row.split("\t")[1] for row in rows(page, "text by task")]
    assert names == ["c", "a", "b"]


def test_the_search_filters_rows(open_page, make_many) -> None:
    page = open_page(make_many())
    page.get_by_placeholder("Search text effects").fill("mpnet hard")
    (row,) = rows(page, "text effects")
    assert "all-mpnet-base-v2\thard-debias" in row
    info = page.locator(".dt-container", has=page.locator("table.effects")).locator(".dt-info")
    assert info.inner_text() == "1 row of 9"
    page.get_by_placeholder("Search text effects").fill("no such model")
    assert rows(page, "text effects") == ["No row matches."]


def test_a_long_table_has_pages(open_page, make_rows) -> None:
    page = open_page(make_rows({f"m{i:02}": {"x": i / 50} for i in range(60)}))
    assert len(rows(page, "text models")) == 50
    page.get_by_placeholder("Search text models").fill("m59")
    assert len(rows(page, "text models")) == 1


def test_a_tap_shows_the_tip_of_a_value(open_page, make_many) -> None:
    page = open_page(make_many(), width=420)
    page.locator('table[data-name="text by task"] td[data-tip^="weat"]').first.click()
    (detail,) = filter(None, page.locator(".detail").all_inner_texts())
    assert "95% interval" in detail


def test_a_hostile_name_runs_nothing(open_page, make_record) -> None:
    records = [
        make_record(
            model__name=HOSTILE, model__fingerprint=letter * 8, mitigator__name=mitigator,
            mitigator__fingerprint=mitigator, task__name=HOSTILE + measures,
            task__digest=measures, task__measures=measures, category=HOSTILE, value=0.5,
        )
        for letter in "ab"
        for mitigator in ("none", HOSTILE)
        for measures in ("bias", "usefulness")
    ]  # fmt: skip
    page = open_page(records)
    page.locator("td[data-tip]").first.click()
    sort(page, "text models", "Model", "ascending")
    page.get_by_placeholder("Search text models").fill("onerror")
    assert len(rows(page, "text models")) == 2
    legend = page.locator("#plot-text .infolayer text").all_text_contents()
    assert any(text.startswith(HOSTILE) for text in legend), "a model"
    assert HOSTILE in legend, "a mitigator"
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, [onerror], a[href^=javascript]").count() == 0


def test_the_plot_has_a_colour_a_model_and_a_shape_a_mitigator(open_page, make_many) -> None:
    page = open_page(make_many())
    legends = [page.locator(f"#plot-text .{name} text") for name in ("legend", "legend2")]
    assert legends[0].all_text_contents() == [
        "Model",
        "Pareto front",
        "all-MiniLM-L6-v2",
        "all-mpnet-base-v2",
        "e5-small",
    ]
    assert legends[1].all_text_contents() == [
        "Mitigator",
        "context-injection",
        "hard-debias",
        "normalize",
    ]
    points = page.locator("#plot-text .point").evaluate_all(
        "points => points.map(point => [point.style.fill, point.getAttribute('d')])"
    )
    assert [len(set(column)) for column in zip(*points, strict=True)] == [3, 4]


def test_close_points_are_drawn_close(open_page, make_rows) -> None:
    records = make_rows({"a": {"x": 1.0}, "b": {"x": 1.001}})
    records += make_rows({"a": {"s": 1.0}, "b": {"s": 1.0}}, task__measures="usefulness")
    page = open_page(records)
    ranges = page.evaluate(
        "(({xaxis, yaxis}) => [xaxis.range, yaxis.range])"
        "(document.getElementById('plot-text').layout)"
    )
    assert ranges[0][0] < 0 < ranges[0][1], "the floor is in the plot"
    assert ranges[1][1] - ranges[1][0] == pytest.approx(0.1)


@pytest.mark.parametrize(("width", "hinted"), [(1400, False), (420, True)])
def test_a_table_wider_than_the_window_is_marked(width, hinted, open_page, make_many) -> None:
    page = open_page(make_many(), width=width)
    place = page.locator(".scroll", has=page.locator("table.ranking"))
    classes = place.get_attribute("class").split()
    assert ("wide" in classes, "more" in classes) == (hinted, hinted)
    if hinted:
        place.locator(".dt-layout-table > *").evaluate("part => part.scrollTo(9999, 0)")
        page.wait_for_selector(".scroll.wide:not(.more) table.ranking")


@pytest.mark.parametrize("width", [1400, 420])
def test_the_page_is_as_wide_as_the_window(width, open_page, make_many) -> None:
    page = open_page(make_many(), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_bias_against_published_quality_is_drawn(open_page, make_record):
    records = [
        make_record(
            model__name=name, model__fingerprint=name, model__published={"MTEB": mteb},
            task__name=task, task__digest=task, metric="association-test", score="proportion",
            scenario=scenario, primary=scenario == "neutral", value=mteb / 100, bounds=(0.0, 1.0),
            ideal=0.5,
        )
        for name, mteb in (("a", 56.0), (HOSTILE, 71.0), ("c", 64.0))
        for task in ("gender-occupations", "age-traits")
        for scenario in ("neutral", "debiasing")
    ]  # fmt: skip
    page = open_page(records)
    plot = page.locator("#published-text")
    assert plot.locator(".scatterlayer .trace").count() == 2
    assert "neutral (ρ 1.00)" in plot.locator(".legend").text_content()
    ticks = plot.locator(".x2tick text").all_text_contents()
    assert [tick.strip()[:1] for tick in ticks] == ["<", "c", "a"], "best model first"
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_the_index_leads_to_a_study_with_its_table_and_plot(text, open_page, make_study) -> None:
    page = open_page([], width=420, studies=make_study(text=text))
    page.locator("#studies a").click()
    page.wait_for_selector(".violins circle")
    assert page.locator("h1").inner_text() == f"A small study{text}"
    assert page.locator('table[data-name="changes"] tbody tr').count() == 2 * (5 + 2)
    assert page.locator(".violins circle:visible").count() == 7 * 4
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, [onerror], a[href^=javascript]").count() == 0
    page.get_by_role("link", name="← T").click()
    page.wait_for_selector("html[data-ready]", state="attached")
