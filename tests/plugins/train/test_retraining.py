"""The retraining of the paper from its corpus to its rows, and the statistics over its seeds."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats

import harness
from harness.errors import UsageError
from harness.plugins.train.retraining import (
    MEAN_ABS,
    MEAN_D,
    OVERALL,
    Setup,
    chance_of_claim,
    change,
    retrain,
    rows,
    show,
)
from harness.progress import Silent
from harness.registry.registry import Registry

RESULT = Path(__file__).parents[3] / "docs" / "figures" / "retraining-small.csv"
PEOPLE = ("man", "woman", "boy", "girl", "he", "she", "father", "mother", "doctor", "nurse")
VERBS = ("plays", "cooks", "sleeps", "sings", "works", "reads")
PLACES = ("home", "school", "office", "park")
ROWS = ("original", "sub80", "aug80", "random80", "hard-debiased")
SETS = {
    "targets_1": ["the man", "the boy", "the father"],
    "targets_2": ["the woman", "the girl", "the mother"],
    "attributes_1": ["works", "the office"],
    "attributes_2": ["cooks", "the home"],
}
BIAS = {
    "name": "tiny-bias",
    "version": 1,
    "title": "Work and home",
    "category": "gender",
    "concept": "gender",
    "kinds": ["text"],
    "inputs": {name: {"words": texts} for name, texts in SETS.items()},
    "metrics": {"weat": {}},
    "primary": {"metric": "weat", "score": "association"},
}
TRIPLES = itertools.islice(itertools.product(PEOPLE, VERBS, PLACES), 40)
USEFUL = {
    "name": "tiny-useful",
    "version": 1,
    "title": "How similar",
    "measures": "usefulness",
    "category": "similarity",
    "concept": "gender",
    "kinds": ["text"],
    "tables": {
        "pairs": {
            "columns": ["first", "second", "rating"],
            "rows": [
                [f"a {p} {v}", f"the {p} at the {q}", i % 5] for i, (p, v, q) in enumerate(TRIPLES)
            ],
        }
    },
    "inputs": {
        "texts_1": {"table": "pairs", "column": "first"},
        "texts_2": {"table": "pairs", "column": "second"},
        "ratings": {"table": "pairs", "column": "rating", "number": True},
    },
    "metrics": {"similarity-correlation": {}},
    "primary": {"metric": "similarity-correlation", "score": "spearman"},
}


def tiny(folder: Path) -> tuple[Setup, Registry]:
    """Write word vectors, a corpus and two tasks; return a retraining of them."""
    rng = np.random.default_rng(1)
    gender = Registry().concept("gender")
    words = {"a", "at", "the", *PEOPLE, *VERBS, *PLACES}
    words |= {word for pair in gender.definitional_pairs for word in pair}
    words |= {word for set_ in gender.equalize_sets for word in set_}
    vectors = {word: rng.normal(size=6).round(4) for word in sorted(words) if " " not in word}
    (folder / "words.txt").write_text(
        "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in vectors.items())
    )
    with (folder / "pairs.jsonl").open("w") as file:
        for label in ("entailment", "neutral", "contradiction") * 40:
            who, verb, place, other = map(rng.choice, (PEOPLE, VERBS, PLACES, VERBS))
            first, second = f"a {who} {verb} at the {place}", f"the {who} {other}"
            pair = {"premise": first, "hypothesis": second, "label": label}
            file.write(json.dumps(pair) + "\n")
    (folder / "tasks" / "tiny").mkdir(parents=True)
    for task in (BIAS, USEFUL):
        path = folder / "tasks" / "tiny" / f"{task['name']}.yaml"
        path.write_text(yaml.safe_dump(task))
    setup = Setup(
        corpus=str(folder / "pairs.jsonl"),
        out=folder / "out",
        base=f"vectors:{folder / 'words.txt'}",
        seeds=(1, 2),
        percentiles=(80,),
        training={"hidden": 4, "epochs": 2, "batch_size": 8, "device": "cpu"},
        bias=("tiny-bias",),
        retained=(),
        usefulness=("tiny-useful",),
    )
    return setup, Registry(include=[folder / "tasks"])


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return a retraining that was done, with its lines."""
    pytest.importorskip("spacy", reason="swapping genders needs the extra `spacy`")
    setup, registry = tiny(tmp_path_factory.mktemp("retraining"))
    return setup, registry, retrain(setup, registry, Silent())


@pytest.mark.long
class TestEndToEnd:
    def test_every_row_and_seed_has_records_whose_values_are_in_the_tables(self, done):
        setup, _, lines = done
        values = {
            (record.model.name, record.score): record.value
            for record in harness.read_results(setup.out / "results")
        }
        for line in lines:
            score = {"tiny-bias": "effect_size", "tiny-useful": "spearman"}.get(line["measure"])
            for seed in setup.seeds if score else ():
                assert line[f"seed{seed}"] == values[f"{line['row']}-seed{seed}", score]
        assert {line["row"] for line in lines} == set(ROWS)
        tables = [line["table"] for line in lines if line["measure"] == MEAN_D]
        assert tables == ["6, 7 and 11", "6", "7", "control", "11"]

    def test_the_corpora_lose_or_gain_a_fifth(self, done):
        sizes = {}
        for row in ROWS[:4]:
            files = (done[0].out / "corpora" / row).glob("*.jsonl")
            sizes[row] = sum(len(file.read_text().splitlines()) for file in files)
        assert (sizes["original"], sizes["sub80"], sizes["random80"]) == (120, 96, 96)
        assert 120 < sizes["aug80"] <= 144

    def test_the_same_call_trains_nothing_again(self, done):
        setup, registry, lines = done
        weights = sorted(setup.out.rglob("*.safetensors"))
        before = [path.stat().st_mtime_ns for path in weights]
        assert retrain(setup, registry, Silent()) == lines
        assert [path.stat().st_mtime_ns for path in weights] == before

    def test_another_corpus_or_training_in_the_folder_is_refused(self, done):
        setup, registry, _ = done
        for other in ({"limit": 60}, {"training": {**setup.training, "hidden": 5}}):
            with pytest.raises(UsageError):
                retrain(Setup(**{**vars(setup), **other}), registry, Silent())

    def test_the_printed_tables_have_all_rows(self, done, capsys):
        show(done[2], done[0].seeds)
        shown = capsys.readouterr().out
        assert all(row in shown for row in ROWS)
        assert "two trainings on one corpus differ by" in shown


def test_the_documented_rows_follow_from_the_values_of_the_seeds():
    with RESULT.open() as file:
        lines = list(csv.DictReader(file))
    by_task: dict[str, dict[str, Any]] = {}
    for line in lines:
        values = np.array([float(line["seed1"]), float(line["seed2"])])
        by_task.setdefault(line["measure"], {})[line["row"]] = values
    means = {mean: by_task.pop(mean) for mean in (MEAN_D, MEAN_ABS, OVERALL)}
    seat = [task for task in by_task if task.startswith("seat")]
    setup = Setup(
        corpus="snli",
        out=Path(),
        seeds=(1, 2),
        bias=seat[:-2],
        retained=seat[-2:],
        usefulness=[task for task in by_task if task not in seat],
    )
    found = rows(setup, by_task)
    assert len(found) == len(lines)
    for line, documented in zip(found, lines, strict=True):
        for key, value in line.items():
            expected = float(documented[key]) if isinstance(value, float) else value
            assert value == pytest.approx(expected), (line["row"], line["measure"], key)
    changes = {(line["row"], line["measure"]): line.get("percent") for line in found}
    assert changes["sub90", MEAN_D] == pytest.approx(-0.8, abs=0.05)  # docs/training.md
    assert changes["aug90", MEAN_D] == pytest.approx(-5.4, abs=0.05)
    assert changes["hard-debiased", MEAN_ABS] == pytest.approx(-65, abs=0.5)
    assert chance_of_claim(means[MEAN_D])[1] == pytest.approx(0.06, abs=0.005)


class TestStatistics:
    """Exact values, and their level under noise."""

    def test_the_interval_is_that_of_students_t_over_changes_of_one_seed(self):
        values, before = np.array([0.9, 0.5, 0.8, 1.05]), np.array([1.0, 0.8, 1.0, 1.0])
        found = change(values, before)
        expected = stats.ttest_rel(values, before)
        interval = expected.confidence_interval(0.95)
        assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))
        assert found["p_value"] == pytest.approx(expected.pvalue)
        assert found["percent"] == pytest.approx(100 * -0.1375 / 0.95)

    def test_equal_models_differ_by_nothing_for_sure(self):
        found = change(np.array([1 + 1e-8, 2 - 1e-8]), np.array([1.0, 2.0]))
        assert (found["change"], found["low"], found["high"], found["p_value"]) == (0, 0, 0, 1)

    def test_equal_changes_have_no_interval_as_it_would_have_no_width(self):
        assert change(np.array([1.25, 2.25]), np.array([1.0, 2.0])) == {
            "change": 0.25,
            "percent": pytest.approx(100 * 0.25 / 1.5),
        }

    def test_a_mean_within_its_own_spread_gives_no_percents(self):
        assert "percent" not in change(np.array([1.0, 1.5]), np.array([-1.0, 2.0]))

    def test_on_noise_an_interval_excludes_zero_as_often_as_its_level_says(self):
        rng = np.random.default_rng(5)
        for seeds in (2, 5):
            drawn = rng.normal(0, 0.1, (2, 1_000, seeds))
            found = [change(*pair) for pair in zip(*drawn, strict=True)]
            excluded = [not line["low"] <= 0 <= line["high"] for line in found]
            assert 0.03 < np.mean(excluded) < 0.07, seeds

    def test_noise_pools_the_variances_of_the_rows_with_the_same_words(self):
        by_row = {
            "original": np.array([10.0, 11.0, 13.0]),
            "sub90": np.array([9.0, 9.5, 9.1]),
            "hard-debiased": np.array([0.0, 5.0, 9.0]),
        }
        pooled = (np.var(by_row["original"], ddof=1) + np.var(by_row["sub90"], ddof=1)) / 2
        assert chance_of_claim(by_row)[0] == pytest.approx(np.sqrt(2 * pooled))

    def test_the_chance_of_the_claim_is_that_of_two_runs_on_one_corpus(self):
        """Two runs of one corpus: how often they differ by 19 %, against the simulated share."""
        rng = np.random.default_rng(5)
        names = ("original", *(f"sub{i}" for i in range(7)))
        said = [
            chance_of_claim(dict(zip(names, rng.normal(1, 0.1, (8, 3)), strict=True)))[1]
            for _ in range(1_000)
        ]
        hits = np.mean(np.abs(np.diff(rng.normal(1, 0.1, (100_000, 2)))) >= 0.19)
        assert np.mean(said) == pytest.approx(hits, abs=0.02)

    def test_means_within_the_noise_have_no_chance(self):
        assert chance_of_claim({"original": np.array([-1.0, 1.0])})[1] is None
