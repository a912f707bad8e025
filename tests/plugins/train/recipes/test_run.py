"""A recipe from its corpus to its tables, with real training and evaluation of tiny models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiny_recipe

import harness
from harness.commands.main import run
from harness.plugins.train.recipes import steps
from harness.plugins.train.recipes.results import Summary

pytest.importorskip("spacy", reason="swapping genders needs the extra `spacy`")
STEPS = 26
"""A corpus in three parts, scores, three corpora, words, and five rows × two seeds × two."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return the folder of a recipe that has run, in `out`."""
    folder = tmp_path_factory.mktemp("recipe")
    tiny_recipe.write(folder)
    assert command(folder) == 0
    return folder


def command(folder: Path, *options: str, name: str = "tiny.yaml") -> int:
    tasks, out = str(folder / "tasks"), str(folder / "out")
    return run(
        ["train", "--recipe", str(folder / name), "--include", tasks, "--out", out, *options]
    )


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict:
    capsys.readouterr()
    assert command(folder, "--json", *options) == 0
    return json.loads(capsys.readouterr().out)


def stamps(folder: Path) -> dict[str, int]:
    return {str(p): p.stat().st_mtime_ns for p in sorted((folder / "out").rglob("*.safetensors"))}


def test_every_row_and_seed_has_records_under_its_own_label(place):
    records = harness.read_results(place / "out" / "results")
    labels = {f"{row}-seed{seed}" for row in tiny_recipe.ROWS for seed in (1, 2)}
    assert {record.model.name for record in records} == labels
    assert {record.task.name for record in records} == {"tiny-bias", "tiny-useful"}


def test_a_second_run_does_nothing_and_prints_the_same(place, capsys):
    before = stamps(place)
    summary = printed(place, capsys)
    assert stamps(place) == before
    assert summary == json.loads((place / "out" / "summary.json").read_text("utf-8"))


def test_the_table_has_the_values_of_the_records(place, capsys):
    summary = Summary.model_validate(printed(place, capsys))
    records = harness.read_results(place / "out" / "results")
    effects = [record for record in records if record.score == "effect_size"]
    for record in [*effects, *records.select(task="tiny-useful")]:
        row, _, seed = record.model.name.partition("-seed")
        value = summary.cell(row, record.task.name).values[int(seed) - 1]
        assert value == pytest.approx(record.value)


def test_the_corpora_have_their_shares(place, capsys):
    summary = Summary.model_validate(printed(place, capsys))
    rows = {row.row: row for row in summary.rows}
    totals = {name: sum(row.pairs.values()) for name, row in rows.items()}
    assert (totals["original"], totals["sub80"], totals["hd"]) == (120, 96, 120)
    assert 120 < totals["aug80"] <= 144
    assert totals["random80"] == 96
    assert "random80: 24 of 120 pairs removed, drawn at random" in summary.notes
    assert rows["hd"].mitigator == "hard-debias"


def test_the_seeds_give_other_models_of_one_corpus(place, capsys):
    for row in Summary.model_validate(printed(place, capsys)).rows:
        assert len(set(row.models)) == 2


def test_the_item_interval_comes_from_the_samples(place, capsys):
    summary = Summary.model_validate(printed(place, capsys))
    assert summary.cell("hd", "tiny-useful").difference.items is not None


def test_a_dry_run_lists_what_is_done_and_what_is_left(place, capsys):
    capsys.readouterr()
    listed = printed(place, capsys, "--dry-run")["steps"]
    assert len(listed) == STEPS
    assert {step["state"] for step in listed} == {"done"}
    tiny_recipe.write(place / "more", seeds=[1, 2, 3])
    more = (place / "more" / "tiny.yaml").read_text("utf-8")
    (place / "more.yaml").write_text(more.replace(f"{place / 'more'}", str(place)))
    capsys.readouterr()
    assert command(place, "--dry-run", name="more.yaml") == 0
    assert "10 of 36 steps to do" in capsys.readouterr().out


def test_a_task_may_be_added_later_and_nothing_is_trained_again(place, capsys):
    folder = place / "later"
    tiny_recipe.write(folder, rows={"original": {}}, seeds=[1])
    assert command(folder) == 0
    before = stamps(folder)
    tiny_recipe.write(folder, rows={"original": {}}, seeds=[1], retained=["seat-c1"])
    assert command(folder) == 0
    assert stamps(folder) == before
    assert "seat-c1" in capsys.readouterr().out


def test_other_settings_in_the_same_folder_are_refused(place, capsys):
    assert command(place, "--hidden", "8") == 2
    assert "hidden was 4, is 8" in capsys.readouterr().err


def test_a_folder_with_other_files_is_refused(place, tmp_path, capsys):
    (tmp_path / "tables.txt").write_text("years of work")
    assert command(place, "--out", str(tmp_path)) == 2
    assert "has other files" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["tables.txt"]


def test_a_task_that_does_not_apply_is_named_and_the_exit_code_is_1(place, capsys):
    tiny_recipe.write(
        place / "words",
        bias=["tiny-bias", "weat-6"],  # of word vectors only
        rows={"original": {}},
        seeds=[1],
    )
    assert command(place / "words") == 1
    shown = capsys.readouterr().out
    assert "weat-6 did not run" in shown
    assert "without weat-6" in shown


def test_a_corpus_that_is_too_small_is_one_line(tmp_path, capsys):
    tiny_recipe.write(tmp_path, pairs=10)
    assert command(tmp_path) == 2
    error = capsys.readouterr().err
    assert "10 pairs" in error
    assert "Traceback" not in error


def test_progress_counts_the_steps(place, capsys):
    tiny_recipe.write(place / "one", rows={"original": {}}, seeds=[1])
    assert command(place / "one") == 0
    assert "step 3 of 3: evaluate original-seed1" in capsys.readouterr().err


def test_the_format_of_the_file_is_that_of_another_corpus_too(tmp_path):
    """Numbers are labels in a file of SNLI's, and scores elsewhere."""
    path = tmp_path / "official.jsonl"
    pair = {"sentence1": "a man works", "sentence2": "the man reads", "gold_label": "neutral"}
    lines = [pair | {"gold_label": label} for label in ("neutral", "-", "entailment")] * 20
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    settings = {"format": "snli", "limit": None, "holdout": 10_000, "seed": 0}
    facts = steps.split(str(path), tmp_path / "corpora" / "original", settings)
    assert facts["pairs"] == 40
    assert facts["parts"] == {"train": 36, "dev": 2, "test": 2}
    (first, *_) = (tmp_path / "corpora" / "pairs.jsonl").read_text("utf-8").splitlines()
    assert json.loads(first) == {
        "premise": "a man works",
        "hypothesis": "the man reads",
        "label": "neutral",
    }
