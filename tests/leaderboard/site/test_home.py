"""The first screen in a real Chromium: the table, its filters, the address, and the comparison."""

from __future__ import annotations

import pytest
from site_pages import build, ready

from harness.results.tables import judged_lines

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def many(tmp_path_factory, make_record):
    """A board of 120 models, of which the last ten lack a task, with licences and mitigators."""
    tasks = [(f"b{i}", "bias", f"c{i}") for i in range(8)] + [("use", "usefulness", "similarity")]
    records = [
        make_record(
            model__name=f"org/model-{i:03}", model__fingerprint=f"{i:032}",
            model__kind="sparse" if i % 40 == 7 else "text",
            model__dimensions=100 + i, model__licence="MIT" if i % 2 else "Apache-2.0",
            mitigator__name=mitigator, mitigator__fingerprint=mitigator,
            task__name=task, task__digest=task, task__family=task, task__measures=measures,
            category=category,
            value=0.2 if task == "use" else 0.01 * (i + j) * (1 + (mitigator == "none")) / 2,
        )
        for i in range(120)
        for mitigator in (("none", "hard-debias") if i < 60 else ("none",))
        for j, (task, measures, category) in enumerate(tasks)
        if i < 110 or task != "b3"
    ]  # fmt: skip
    return build(tmp_path_factory.mktemp("many"), records)


def names(page) -> list[str]:
    """Return the names of the rows that are drawn."""
    return page.locator(".virtual tbody .name").all_inner_texts()


def query(page) -> str:
    """Return the query of the address."""
    return page.evaluate("location.hash.split('?')[1] ?? ''")


def titles(page) -> list[str]:
    """Return the titles of sections."""
    return page.locator(".virtual .section").all_inner_texts()


def test_a_click_on_a_header_sorts_and_a_second_one_turns_the_order(many, visit) -> None:
    page = visit(many)
    header = page.locator(".virtual thead th", has_text="Dimensions")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert names(page)[0] == "org/model-000"
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert names(page)[0] == "org/model-109"
    assert query(page) == "sort=dimensions&desc=1"


def test_mitigators_are_folded_under_their_model(many, visit) -> None:
    page = visit(many)
    button = page.locator(".fold").nth(1)
    assert button.text_content() == "1 mitigator on org/model-001"
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert names(page)[1:4] == ["org/model-001", "hard-debias", "org/model-002"]
    assert button.get_attribute("aria-expanded") == "true"
    assert button.evaluate("button => button === document.activeElement"), "keeps the focus"
    row = page.locator(".virtual tr.mitigated").first.inner_text()
    assert "−0." in row, "the change"
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.textContent")
    assert focused == "1 mitigator on org/model-002", "the arrow keys go to the next model"


def test_search_and_filters_stand_in_the_address_and_come_back(many, visit) -> None:
    page = visit(many)
    page.get_by_label("Search models and mitigators").fill("model-01 hard")
    assert names(page)[:2] == ["org/model-010", "hard-debias"]
    page.get_by_text("Filters").click()
    page.get_by_label("Licence", exact=True).first.select_option("MIT")
    assert names(page)[0] == "org/model-011"
    kinds = page.get_by_label("Encoder", exact=True).first.locator("option")
    assert kinds.all_inner_texts() == ["any", "dense", "sparse"]
    shown, address = names(page), page.url
    assert query(page) == "q=model-01+hard&licence=MIT"
    again = visit(many, address[address.index("#") :])
    assert names(again) == shown
    assert again.get_by_label("Licence", exact=True).first.input_value() == "MIT"


def test_single_tasks_are_shown_in_the_place_of_a_benchmark_and_go_again(many, visit) -> None:
    page = visit(many)
    first = page.locator(".virtual tbody:not(.spacer) tr").first
    rank, places = first.locator("td").first.inner_text().split("\n")
    assert (rank, places[:2]) == ("1", "1–"), "a rank with its range"
    page.get_by_text("Single tasks: 0 of 9 shown").click()
    page.get_by_label("b3", exact=True).click()
    assert query(page) == "tasks=b3"
    page.wait_for_selector("text=Single tasks: 1 of 9 shown")
    assert "single tasks: 1 bias task (1 method)" in page.locator(".virtual caption").inner_text()
    assert titles(page) == []
    page.get_by_label("b3", exact=True).click()
    assert first.locator("td").first.inner_text() == "1\n1–6"


def test_what_is_not_judged_does_not_count_and_a_footnote_says_so(
    tmp_path, visit, make_record, void
) -> None:
    records = [
        make_record(
            model__name=model, model__fingerprint=model * 8, mitigator__name=mitigator,
            mitigator__fingerprint=mitigator, task__name=task, task__digest=task, value=value,
            **void if mitigator != "none" and task == "b0" else {},
        )
        for model in "ab"
        for mitigator, value in (("none", 1.0), ("hard-debias", 0.0))
        for task in ("b0", "b1")
    ]  # fmt: skip
    page = visit(build(tmp_path, records), "#/text?all=1&cols=tasks")
    row = page.locator(".virtual tr.mitigated").first
    assert row.locator("td").all_inner_texts() == ["1"]
    (footnote,) = judged_lines({"hard-debias": {"unseen texts": 1, "void": 1}})
    assert footnote in page.locator("main").inner_text()


def test_rank_1_never_stands_right_of_rank_2_in_the_plot(spread, visit) -> None:
    page = visit(spread)
    places, ranks = page.evaluate(
        """async () => {
            const { DEFAULT_VIEW, choose, linesOf, load, pointsOf } = harness;
            const board = await load("data/text.js");
            const choice = choose(board, DEFAULT_VIEW);
            const { groups } = linesOf(choice, DEFAULT_VIEW, null);
            const { rank } = choice.scores.ranks.bias;
            const points = pointsOf(choice, groups);
            return [points.map(({ x }) => x), groups.map(({ row }) => rank[row])];
        }"""
    )
    ranked = sorted((rank, x) for rank, x in zip(ranks, places, strict=True) if rank)
    assert [x for _, x in ranked] == sorted(x for _, x in ranked)
    assert len(ranked) == 4


@pytest.fixture(scope="module")
def spread(tmp_path_factory, make_record):
    """Four models: less bias with less usefulness, one without a usefulness task, and noise."""
    models = {"best": (0.9, 0.9), "near": (0.6, 0.82), "half": (0.3, 0.66), "lacks": (0.1, 0.95),
              "random-texts": (0.0, 0.5)}  # fmt: skip
    records = [
        make_record(
            model__name=model, model__fingerprint=model * 4, task__name=task, task__digest=task,
            task__measures="bias" if task == "b" else "usefulness", category=task,
            value=2 * bias if task == "b" else 2 * useful - 1,
            ideal=0.0 if task == "b" else "higher", bounds=(-2.0, 2.0) if task == "b" else (-1, 1),
        )
        for model, (bias, useful) in models.items()
        for task in ("b", "use-1", "use-2")
        if (model, task) != ("lacks", "use-2")
    ]  # fmt: skip
    return build(tmp_path_factory.mktemp("spread"), records)


@pytest.mark.parametrize(
    ("minimum", "above", "below"),
    [
        ("0", ["best"], ["half", "near", "lacks"]),
        ("25", ["near", "best"], ["half", "lacks"]),
        ("off", ["lacks", "half", "near", "best"], []),
    ],
)
def test_nobody_leads_by_being_worse(minimum, above, below, spread, visit) -> None:
    page = visit(spread, f"#/text?minimum={minimum}")
    assert names(page) == [*above, *below, "random-texts"]
    least = 0.9 - 0.4 * int(minimum if minimum.isdigit() and int(minimum) < 100 else 10) / 100
    sections = [
        f"Usefulness below {least:.3f} ({len(below) - 1})",
        "Usefulness not fully measured (1)",
    ]
    assert titles(page)[:-1] == (sections if below else [])
    page.wait_for_selector("text=4 models, 4 of them ranked")
    if minimum == "25":
        rows = page.locator(".virtual tr.model")
        assert "incomplete" not in rows.nth(2).inner_text()
        assert "some usefulness tasks are missing" in rows.nth(3).inner_text()


def test_only_models_with_each_usefulness_task_are_on_the_pareto_front(spread, visit) -> None:
    """A model with 1 of 13 usefulness tasks led the front."""
    page = visit(spread, "#/text?minimum=off")
    marked = page.locator(".virtual tr", has_text="Pareto front").locator(".name")
    assert marked.all_inner_texts() == ["half", "near", "best"]


def test_a_row_with_an_uneven_yardstick_is_marked(tmp_path, visit, make_record) -> None:
    boosted = dict.fromkeys("abcdefg", 0.1) | {"flowers": 2.0}
    records = [
        make_record(model__name=name, model__fingerprint=name * 8, value=value, contrasts=contrasts)
        for name, value, contrasts in (("a", 0.1, boosted), ("b", 0.2, {}))
    ]
    page = visit(build(tmp_path, records))
    first, second = page.locator(".virtual tr.model").all()
    assert "bias uncertain: yardstick uneven: 'flowers' gives 74 %" in first.inner_text().replace(
        "\n", ""
    )
    assert "uneven" not in second.inner_text()
    page = visit(tmp_path / "index.html", "#/text/model/a")
    assert "A larger yardstick makes bias look smaller" in page.locator("main").inner_text()


def test_rows_are_compared_task_by_task(many, visit) -> None:
    page = visit(many)
    for name in ("org/model-001", "org/model-003"):
        page.get_by_label(f"Compare {name}", exact=True).check()
    page.get_by_role("link", name="Compare 2 rows").click()
    page.wait_for_selector("h1:text-is('Comparison')")
    ready(page)
    assert page.evaluate("document.activeElement.textContent") == "Comparison"
    beside, _, bias, _ = page.locator("main table").all()
    assert "org/model-003" in beside.inner_text()
    assert "harness compare --recorded A B" in page.locator("main").inner_text()
    assert bias.locator("tbody tr").count() == 8
    page.get_by_role("link", name="Back to the board").click()
    page.wait_for_selector(".virtual")
    assert page.get_by_label("Compare org/model-003", exact=True).is_checked()


def test_an_export_escapes_what_a_spreadsheet_runs(many, visit) -> None:
    page = visit(many)
    text = page.evaluate(r"""() => harness.csvOf([["bias"], ['=1+1"', "a,b\nc", -0.5, null]])""")
    assert text == "bias\r\n" + '"\'=1+1""","a,b\nc",-0.5,\r\n'


def test_the_site_opens_on_the_board_with_most_ranked_models(tmp_path, visit, make_record) -> None:
    records = [
        make_record(
            model__name=model, model__fingerprint=model * 8, model__kind=kind,
            task__name=task, task__digest=task, value=0.1,
        )
        for kind, models in (("word", ["glove"]), ("text", ["mini", "maxi"]))
        for model in models
        for task in ("b0", "b1")
    ]  # fmt: skip
    page = visit(build(tmp_path, records))
    assert page.get_by_role("heading", level=1).inner_text() == "Text embeddings"
