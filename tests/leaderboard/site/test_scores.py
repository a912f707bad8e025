"""The numbers that the site's scripts compute are those of the board."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import harness.leaderboard.site
from harness.leaderboard.boards.board import compile_boards
from harness.leaderboard.boards.ranking import rank_sets, sampled_means
from harness.leaderboard.claims.reading import frame_of
from harness.leaderboard.site.payload import board_data, layout_of
from harness.results import ratios
from harness.study.significance import holm
from harness.task.reference import Reference

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

pytestmark = pytest.mark.browser
BUNDLE = Path(harness.leaderboard.site.__file__).parent / "assets" / "board.js"
CATEGORIES = ("age", "gender", "race")
METRICS = ("weat", "clusters", "retrieval", "names", "gest", "context", "lm")
MITIGATORS = {"none": 0.0, "normalize": 0.02, "hard-debias": 0.5, "shuffle": 0.0}


@pytest.fixture(scope="module")
def page():
    """A page with the scripts that compute."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.add_script_tag(path=BUNDLE)
        yield page
        browser.close()


@pytest.fixture
def board(make_record):
    """A board with 7 methods of bias and 7 of usefulness, leaks, and cells without a value.

    The ratio of a model by one method may be anything: its yardstick is not clear.
    """
    rng = np.random.default_rng(1)
    tasks = [
        (f"{category}-{metric}-{i}", "bias", category, metric)
        for category in CATEGORIES
        for j, metric in enumerate(METRICS)
        for i in range(1 + j % 3)
    ] + [(f"use-{i}", "usefulness", f"use-{i}", "similarity") for i in range(7)]
    records = []
    for i, model in enumerate("abcdef"):
        for mitigator, change in MITIGATORS.items():
            for name, measures, category, metric in tasks:
                value = 0.3 + 0.1 * (i // 2) - change * 0.3 + rng.normal(scale=0.1)
                leak = mitigator == "hard-debias" and category == "gender" and i < 3
                blur = 9.0 if (model, metric) == ("e", "gest") else 0.0
                absent = (model, name) == ("f", "age-weat-0") or (i + len(name)) % 23 == 0
                records.append(
                    make_record(
                        **({} if absent or measures != "bias" else
                           {"ratio": ratio(value, metric, rng, blur)}),
                        model__name=model, model__fingerprint=model * 8,
                        mitigator__name=mitigator, mitigator__fingerprint=mitigator,
                        mitigator__concept="gender" if leak else None,
                        task__name=name, task__digest=name, task__measures=measures,
                        category=category, metric=metric, value=None if absent else value,
                        reason="no text" if absent else None,
                        overlap=("he",) if leak else (),
                    )
                )  # fmt: skip
    pinned = {
        name: Reference(task=name, version=1, kind="text", model="a", gap=0.1 + 0.01 * i,
                        error=0.09, yardstick=0.4 + 0.02 * i, contrasts={})
        for i, (name, measures, *_) in enumerate(tasks)
        if measures == "bias"
    }  # fmt: skip
    (compiled,) = compile_boards(frame_of(records), references={"text": pinned})
    return compiled


def ratio(gap: float, metric: str, rng, blur: float = 0.0) -> dict[str, object]:
    """Return a ratio: of some methods with a yardstick in common, of items, or of squares."""
    yardstick = rng.uniform(0.2, 0.6)
    return {
        "value": None,
        "low": None,
        "high": None,
        "t": None,
        "df": 20.0,
        "gap": 0.3 * gap,
        "gap_error": rng.uniform(0.01, 0.05),
        "yardstick": yardstick,
        "yardstick_error": rng.uniform(0.01, 0.05) + blur,
        "power": 2 if metric == "clusters" else 1,
        "of": "items" if metric == "retrieval" else f"yardstick-{len(metric) % 2}",
    }


def computed(page, board, tasks=None):
    """Return what the scripts compute, as a dictionary of lists in the order of the layout."""
    data = board_data(board)
    chosen = data["benchmarks"][0]["tasks"] if tasks is None else tasks
    return json.loads(
        page.evaluate(
            """([board, tasks]) => {
                const scores = harness.scoresOf(board, tasks, false);
                const all = {
                    ...scores,
                    none: harness.effectsOf(board, tasks, false, "none"),
                    normalize: harness.effectsOf(board, tasks, false, "normalize"),
                };
                return JSON.stringify(all, (_, value) =>
                    ArrayBuffer.isView(value) ? Array.from(value) : value);
            }""",
            [data, chosen],
        )
    )


def close(numbers, expected) -> None:
    """Check a column; what Python has as null is NaN in the scripts, null in JSON."""
    expected = [None if value is None or np.isnan(value) else value for value in expected]
    assert [value is None for value in numbers] == [value is None for value in expected]
    known = [pair for pair in zip(numbers, expected, strict=True) if pair[0] is not None]
    assert known
    ours, theirs = zip(*known, strict=True)
    np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=1e-3)


def test_means_and_intervals_are_those_of_the_board(page, board) -> None:
    scores, rows = computed(page, board), layout_of(board).rows
    for measures in ("bias", "usefulness"):
        columns = {"mean": measures, "low": f"{measures}_low", "high": f"{measures}_high"}
        for ours, theirs in columns.items():
            close(scores[measures][ours], rows[theirs].to_list())
        for count in ("families", "tasks"):
            theirs = rows[f"{measures}_{count}"].fill_null(0).to_list()
            assert scores[measures][count] == theirs
    assert [bool(flag) for flag in scores["complete"]] == rows["complete"].to_list()


def test_ranks_are_those_of_the_board(page, board) -> None:
    scores, rows = computed(page, board), layout_of(board).rows
    for name in ("rank", "usefulness_rank"):
        assert scores[name] == rows[name].fill_null(0).to_list()
        assert max(scores[name]) > 1


def test_effects_are_those_of_the_board(page, board) -> None:
    scores, rows = computed(page, board), layout_of(board).rows
    assert board.effects["bias_leaks"].sum() > 0
    for baseline in ("none", "normalize"):
        effects = rows.select("row").join(
            board.effects.filter(baseline=baseline), on="row", how="left", maintain_order="left"
        )
        for measures in ("bias", "usefulness"):
            ours = scores[baseline][measures]
            for end in ("low", "high", "p", "holm"):
                close(ours[end], effects[f"{measures}_{end}"].to_list())
            close(ours["mean"], effects[measures].to_list())
            evidence = [p is not None and p < 0.05 for p in ours["holm"]]
            assert evidence == effects[f"{measures}_evidence"].fill_null(value=False).to_list()
    assert any(evidence := board.effects["bias_evidence"].to_list())
    assert not all(evidence)
    assert board.effects.filter(model="e", baseline="none")["bias_low"].null_count() == 3, (
        "no interval where a ratio may be anything"
    )


def test_a_choice_of_tasks_gives_the_board_of_these_tasks(page, board) -> None:
    tasks = board.tasks.with_row_index().filter(pl.col("category").is_in(["age", "race", "use-1"]))
    scores = computed(page, board, tasks["index"].to_list())
    rows = layout_of(board).rows.select("row", "role")
    cells = board.cells.drop("family").join(board.tasks.select("task", "family", *ratios.REFERENCE),
                                            on="task")  # fmt: skip
    families = ratios.pooled(
        cells.filter(pl.col("task").is_in(tasks["task"].to_list()), measures="bias")
        .filter(~pl.col("leak"))
        .drop_nulls("gap"),
        ["row", "family"],
    )
    means = sampled_means(families, ["row"])
    by_row = rows.join(means, on="row", how="left", maintain_order="left")
    is_model = (rows["role"] == "model").to_list()
    for ours, theirs in (("mean", "mean"), ("low", "low"), ("high", "high")):
        own = [value for value, shown in zip(scores["bias"][ours], is_model, strict=True) if shown]
        close(own, by_row.filter(pl.col("role") == "model")[theirs].to_list())
    assert max(scores["usefulness"]["families"]) == 1
    assert set(scores["usefulness"]["low"]) == {None}, "few families have no interval"


def test_equal_models_share_the_best_rank_and_a_single_one_has_none(page, make_rows) -> None:
    (ties,) = compile_boards(
        frame_of(make_rows({"a": {"x": 0.5}, "b": {"x": 0.1}, "c": {"x": 0.5}}))
    )
    assert computed(page, ties)["rank"] == [2, 1, 2]
    (alone,) = compile_boards(frame_of(make_rows({"a": {"x": 0.5}})))
    assert computed(page, alone)["rank"] == [0]


@pytest.mark.parametrize("df", [1, 2, 3, 5, 6, 29, 100])
def test_p_values_are_those_of_students_t(page, df) -> None:
    t = [0.0, 0.1, -1.0, 2.5, 4.0, 30.0, float("inf")]
    ours = page.evaluate("([t, df]) => t.map((value) => harness.studentP(value, df))", [t, df])
    np.testing.assert_allclose(ours, 2 * stats.t.sf(np.abs(t), df), atol=1e-14)


def test_holms_correction_is_that_of_the_harness(page) -> None:
    p = [0.01, 0.04, float("nan"), 0.01, 0.5, 0.001, 1.0]
    ours = page.evaluate(
        "(p) => harness.holm([Float64Array.from(p.slice(0, 3)), Float64Array.from(p.slice(3))])"
        ".flatMap((column) => [...column])",
        p,
    )
    np.testing.assert_allclose(ours, holm(p))


@pytest.mark.parametrize(("rows", "families"), [(2, 6), (7, 8), (12, 15), (40, 9), (150, 14)])
def test_sets_of_ranks_are_those_of_the_board(page, rows, families) -> None:
    rng = np.random.default_rng(rows)
    losses = rng.normal(size=(rows, families)) + min(0.4, 16 / rows) * np.arange(rows)[:, None]
    losses[-1] = losses[0]
    low, high = rank_sets(losses)
    ours = page.evaluate(
        """(rows) => {
            const { low, high } = harness.rankSets(rows.map((row) => Float64Array.from(row)));
            return [[...low], [...high]];
        }""",
        losses.tolist(),
    )
    assert ours == [low.tolist(), high.tolist()]
    assert low.max() > 1 or rows == 2, "some rows differ"
