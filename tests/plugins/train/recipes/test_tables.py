"""The tables of a recipe: means, changes paired by seed, Holm's correction, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from score_records import record, similarity

from harness.commands import output
from harness.plugins.train.recipes import recipe_tables
from harness.plugins.train.recipes.recipe import Recipe, RecipeFile, StepRecord
from harness.plugins.train.recipes.recipe_tables import (
    changes,
    conclusions,
    figure,
    legend,
    lines,
    tables,
)
from harness.plugins.train.recipes.results import MEAN_ABS, MEAN_D, OVERALL, Summary, summarise
from harness.registry.registry import Registry
from harness.results.folder import ResultsFile

ROWS = {
    "original": {},
    "sub90": {"subtract": 90},
    "sub97": {"subtract": 97},
    "hd": {"mitigator": "hard-debias"},
}
BIAS, RETAINED, USEFUL = ("c6", "c7"), ("c1",), ("trec", "sts")
Values = Callable[[str, int, str], float | None]


def recipe_of(rows: Mapping[str, object] = ROWS, seeds: tuple[int, ...] = (1, 2, 3)) -> Recipe:
    content = {
        "name": "tiny",
        "version": 1,
        "title": "A tiny recipe",
        "corpus": ["pairs.jsonl"],
        "base": "bag-of-words:glove-6b-50d",
        "rows": rows,
        "seeds": seeds,
        "bias": BIAS,
        "retained": RETAINED,
        "usefulness": USEFUL,
        "claimed_change": 19,
    }
    return Recipe(RecipeFile.model_validate(content), "pairs.jsonl")


def summary_of(folder: Path, values: Values, recipe: Recipe | None = None) -> Summary:
    """Return the summary of records with values by row, seed and task; None is not run."""
    recipe = recipe or recipe_of()
    steps = {}
    for row in recipe.file.rows:
        for seed in recipe.file.seeds:
            name = f"{row}-seed{seed}"
            file = ResultsFile(folder, name)
            for task in (*BIAS, *RETAINED, *USEFUL):
                value = values(row, seed, task)
                make = similarity if task in USEFUL else record
                if value is not None:
                    file.add([make(task, "none", value, model=name)])
            scores = {"dev": {"accuracy": 0.6}, "test": {"accuracy": 0.59}}
            facts = {"pairs": {"train": 1000, "dev": 50, "test": 50}, "scores": scores}
            steps[f"train {name}"] = StepRecord(
                step=f"train {name}",
                kind="train",
                key="k",
                created="2026-01-01T00:00:00Z",
                seconds=1,
                facts=facts,
                environment={"harness": "0", "python": "3", "platform": "x", "device": "cpu"},
            )
    return summarise(recipe, steps, folder, Registry())[0]


def by_rule(row: str, seed: int, task: str) -> float:
    """A value for each row, seed and task, with c7 negative."""
    start = {"c6": 0.8, "c7": -0.4, "c1": 1.2, "trec": 0.7, "sts": 0.5}[task]
    change = {"original": 0.0, "sub90": -0.1, "sub97": 0.0, "hd": -0.3}[row]
    noise = {1: 0.0, 2: 0.02, 3: -0.02}[seed] * (1 if row == "original" else 1.5)
    return start + (change if task == "c6" else 0) + noise


def test_means_are_over_the_tasks_and_over_the_seeds(tmp_path):
    summary = summary_of(tmp_path, by_rule)
    assert summary.cell("original", MEAN_D).mean == pytest.approx(0.2)
    assert summary.cell("original", MEAN_ABS).mean == pytest.approx(0.6)
    assert summary.cell("original", OVERALL).mean == pytest.approx(0.6)
    assert summary.cell("original", "c6").sd == pytest.approx(0.02)
    assert summary.cell("original", "c6").values == pytest.approx((0.8, 0.82, 0.78))


def test_effect_sizes_count_where_the_primary_score_is_another(tmp_path):
    """The tables of the paper have effect sizes; SEAT is ranked by the association in cosines."""
    recipe = recipe_of({"original": {}}, (1,))
    association = {"score": "association", "bounds": (-4.0, 4.0)}
    file = ResultsFile(tmp_path, "original-seed1")
    summary_of(tmp_path, by_rule, recipe)
    for task in (*BIAS, *RETAINED):
        newer = {"model": "original-seed1", "created": "2026-02-01T00:00:00Z"}
        file.add([record(task, "none", 0.05, **newer, **association)])
        file.add([record(task, "none", 1.5, **newer, primary=False)])
        file.add([record(task, "none", 0.1, **newer, primary=False, scenario="word")])
    summary = summary_of(tmp_path, lambda row, seed, task: None, recipe)
    assert summary.cell("original", "c6").mean == pytest.approx(1.5)
    assert summary.cell("original", "c1").mean == pytest.approx(1.5)
    scores = {measure.measure: measure.score for measure in summary.measures}
    assert scores["c6"] == "effect_size"
    assert scores["trec"] == "spearman"


def test_a_change_is_paired_by_seed(tmp_path):
    change = summary_of(tmp_path, by_rule).cell("hd", "c6").difference
    differences = np.array([-0.3, -0.29, -0.31])
    assert change.mean == pytest.approx(-0.3)
    assert change.sd == pytest.approx(differences.std(ddof=1))
    assert change.low < -0.3 < change.high < 0
    assert change.percent == pytest.approx(-37.5)


def uneven(row: str, seed: int, task: str) -> float:
    noise = np.random.default_rng([seed, len(row), len(task), ord(task[-1])]).normal(0, 0.02)
    return by_rule(row, seed, task) + noise


@pytest.mark.parametrize(
    ("measures", "family"),
    [((MEAN_D,), 3), ((MEAN_ABS,), 3), ((*BIAS, *RETAINED), 9), (USEFUL, 6)],
)
def test_holm_is_over_the_rows_of_a_mean_or_the_cells_of_a_table(tmp_path, measures, family):
    summary = summary_of(tmp_path, uneven)
    changes_ = [
        summary.cell(row, measure).difference
        for row in ("sub90", "sub97", "hd")
        for measure in measures
    ]
    smallest = min(changes_, key=lambda change: change.p_value)
    assert smallest.p_holm == pytest.approx(min(1, family * smallest.p_value))


def test_the_first_row_is_compared_with_none(tmp_path):
    summary = summary_of(tmp_path, by_rule)
    assert summary.cell("original", "c6").difference is None
    assert {row[0] for row in changes(summary).rows} == {"sub90", "sub97", "hd"}


def test_a_row_may_name_another_one_to_be_compared_with(tmp_path):
    rows = ROWS | {"hd": {"mitigator": "hard-debias", "compared_with": "sub97"}}
    summary = summary_of(tmp_path, by_rule, recipe_of(rows))
    assert summary.cell("hd", "c6").difference.mean == pytest.approx(-0.3)
    assert next(row for row in summary.rows if row.row == "hd").compared_with == "sub97"


def test_a_task_that_a_model_lacks_is_out_of_the_means_and_named(tmp_path):
    def values(row: str, seed: int, task: str) -> float | None:
        return None if (row, seed, task) == ("sub90", 2, "c7") else by_rule(row, seed, task)

    summary = summary_of(tmp_path, values)
    assert summary.cell("original", MEAN_D).mean == pytest.approx(0.8)
    assert any("c7" in note for note in summary.notes)
    assert summary.cell("sub90", "c7").difference.n == 2


def test_one_seed_has_no_interval_and_says_so(tmp_path):
    summary = summary_of(tmp_path, by_rule, recipe_of(seeds=(1,)))
    change = summary.cell("sub90", "c6").difference
    assert change.mean == pytest.approx(-0.1)
    assert (change.low, change.p_value, change.p_holm) == (None, None, None)
    assert summary.noise == ()
    assert "one seed" in summary.notes[0]


def test_the_noise_says_how_often_the_claimed_change_comes_by_chance(tmp_path):
    summary = summary_of(tmp_path, by_rule)
    part = next(part for part in summary.noise if part.measure == MEAN_D)
    assert part.other_seeds.df == 6  # three rows with the same word vectors, three seeds
    assert part.one_seed.df == 4
    assert part.claimed == 19
    assert 0.1 < part.other_seeds.chance < 0.5  # 19 % of .2 is about once the noise of two runs
    assert part.one_seed.chance < 0.1  # rows of one seed share their first weights
    assert "19 %" in " ".join(conclusions(summary))


def test_the_same_corpus_under_two_names_is_not_told_apart(tmp_path):
    """On noise alone, no more columns than their level stand out."""
    rng = np.random.default_rng(3)
    excluded = []
    for i in range(40):
        draws: dict[tuple[str, int, str], float] = {}

        def values(row: str, seed: int, task: str, draws: dict = draws) -> float:
            return draws.setdefault((row, seed, task), float(rng.normal(0.5, 0.1)))

        summary = summary_of(tmp_path / str(i), values, recipe_of(seeds=(1, 2)))
        for row in ("sub90", "sub97", "hd"):
            change = summary.cell(row, MEAN_D).difference
            excluded.append(change.low is not None and not change.low <= 0 <= change.high)
    assert np.mean(excluded) <= 0.12  # 120 draws of a share of .05


def test_a_planted_difference_is_found(tmp_path):
    def values(row: str, seed: int, task: str) -> float:
        noise = np.random.default_rng([seed, len(row), len(task)]).normal(0, 0.02)
        return 0.8 - (0.4 if row == "hd" and task in BIAS else 0) + noise

    summary = summary_of(tmp_path, values, recipe_of(seeds=(1, 2, 3, 4, 5)))
    assert summary.cell("hd", MEAN_D).difference.p_holm < 0.01
    assert any(line.startswith("hd") and MEAN_D in line for line in conclusions(summary))
    assert summary.cell("sub90", MEAN_D).difference.p_holm > 0.05


def test_the_interval_over_items_is_of_contributions_averaged_over_the_seeds(tmp_path):
    recipe, rng = recipe_of({"original": {}, "sub90": {"subtract": 90}}, (1, 2)), None
    summary_of(tmp_path, by_rule, recipe)
    rng = np.random.default_rng(1)
    for row, shift in (("original", 0.0), ("sub90", -0.5)):
        for seed in (1, 2):
            file = ResultsFile(tmp_path, f"{row}-seed{seed}")
            (old,) = [r for r in file.records.values() if r.task.name == "c6"]
            words = [
                {"text": f"w{i}", "input": "targets_1", "contribution": float(x)}
                for i, x in enumerate(0.8 + shift + rng.normal(0, 0.1, 12))
            ]
            file.add([old.keeping({}, {}, words)])
    steps = summary_of(tmp_path / "other", by_rule, recipe)
    assert steps.cell("sub90", "c6").difference.items is None  # no samples there
    summary = summary_of_samples(tmp_path, recipe)
    items = summary.cell("sub90", "c6").difference.items
    assert items.low < -0.5 < items.high < -0.3


def summary_of_samples(folder: Path, recipe: Recipe) -> Summary:
    steps = {
        f"train {row}-seed{seed}": StepRecord(
            step="s",
            kind="train",
            key="k",
            created="2026-01-01T00:00:00Z",
            seconds=1,
            environment={"harness": "0", "python": "3", "platform": "x", "device": "cpu"},
        )
        for row in recipe.file.rows
        for seed in recipe.file.seeds
    }
    return summarise(recipe, steps, folder, Registry())[0]


class TestFiles:
    @pytest.fixture
    def summary(self, tmp_path):
        return summary_of(tmp_path / "results", by_rule)

    def test_all_formats_are_written(self, summary, tmp_path):
        recipe_tables.write(summary, tmp_path)
        for name in (
            "tables.txt",
            "tables.csv",
            "tables.md",
            "summary.json",
            "figure-6.json",
            "figure-6.svg",
        ):
            assert (tmp_path / name).stat().st_size > 100, name

    def test_the_json_gives_the_same_tables(self, summary):
        again = Summary.model_validate(summary.model_dump(mode="json"))
        assert tables(again) == tables(summary)
        assert recipe_tables.report(again) == recipe_tables.report(summary)

    def test_a_line_has_each_seed_of_each_row_and_measure(self, summary):
        rows = lines(summary)
        assert len(rows) == 4 * 8  # five tasks and three means
        assert {"seed1", "seed2", "seed3", "low", "high", "p_holm"} <= set(rows[0])

    def test_the_figure_has_a_line_for_each_method_and_the_original(self, summary):
        drawn = [trace for trace in figure(summary)["data"] if trace["visible"]]
        assert [trace["name"] for trace in drawn] == ["subtract", "original"]
        assert drawn[0]["x"] == [90, 97]

    def test_without_percentiles_there_is_no_figure(self, tmp_path):
        rows = {"original": {}, "hd": {"mitigator": "hard-debias"}}
        assert figure(summary_of(tmp_path, by_rule, recipe_of(rows)))["data"] == []

    def test_the_terminal_says_what_a_mean_is_of(self, summary, capsys):
        output.report(recipe_tables.report(summary))
        shown = capsys.readouterr().out
        assert "c6, c7" in shown
        assert "0.600 ± " in shown
        assert all(line in " ".join(shown.split()) for line in legend(summary)[:1])
