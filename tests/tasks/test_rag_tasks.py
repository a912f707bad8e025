"""The tasks of retrieval for language models: which answer is of which leaning."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import pytest

from harness import evaluate, tasks
from harness.registry.registry import Registry

DATA = Path(tasks.__file__).parent / "rag" / "data"


@pytest.fixture(scope="module")
def inputs():
    """Return a function from a task's name to its inputs."""
    registry = Registry()
    return lambda name: registry.task(name).scenarios[0].inputs


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of both parts of a data set, the test part first."""
    found = []
    for part in ("test", "train"):
        with gzip.open(DATA / f"{name}_{part}.csv.gz", "rt", encoding="utf-8", newline="") as file:
            found += list(csv.DictReader(file))
    return found


@pytest.mark.parametrize(
    ("task", "data", "columns"),
    [
        ("rag-gender-answers", "GenderBias-QA", ("bias1-document1", "bias2-document1")),
        ("rag-politics-answers", "PoliticBias-QA", ("right_claim", "left_claim")),
    ],
)
def test_each_question_has_both_answers_of_its_row(task, data, columns, inputs):
    found = inputs(task)
    names = ("queries", "versions_1", "versions_2")
    texts = [*zip(*([text.strip() for text in found[name].texts] for name in names), strict=True)]
    columns = ("question", *columns)
    expected = [tuple(row[column].strip() for column in columns) for row in rows(data)]
    assert texts == expected
    assert len(expected) == {"GenderBias-QA": 317, "PoliticBias-QA": 800}[data]
    assert [found[name].role for name in ("queries", "versions_1")] == ["query", "document"]


def test_the_first_answers_are_about_women_and_the_second_about_men(inputs):
    found = inputs("rag-gender-answers")
    for name, her, him in (("versions_1", True, False), ("versions_2", False, True)):
        words = [re.findall(r"\w+", text.lower()) for text in found[name].texts]
        assert sum(bool({"she", "her"} & {*of}) == her for of in words) >= 0.95 * len(words), name
        assert sum(bool({"he", "his"} & {*of}) == him for of in words) >= 0.95 * len(words), name


def test_the_recipe_for_own_topics_gives_a_task_that_runs(tmp_path, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")
    (table,) = re.findall(r"```python\n([^`]*topics\.tsv[^`]*)```", page)
    (recipe,) = re.findall(r"```yaml\n(name: rag-my-topics\n[^`]*)```", page)
    monkeypatch.chdir(tmp_path)
    exec(table, {})
    own = Path("topics.tsv").read_text("utf-8").splitlines()
    assert {line.count("\t") for line in own} == {3}
    things = [(thing, act) for thing in ("car", "train", "milk") for act in ("tax", "ban", "buy")]
    more = [f"x\tWhat of {t}s?\tThe state may {a} {t}s.\tNobody may {a} {t}s." for t, a in things]
    Path("topics.tsv").write_text("\n".join([*own, *more]) + "\n", encoding="utf-8")
    Path("rag-my-topics.yaml").write_text(recipe, encoding="utf-8")
    records = evaluate("random-texts", str(tmp_path / "rag-my-topics.yaml"), cache=tmp_path / "c")
    shares = {record.score: record for record in records}
    assert shares["first_share"].n == len(own) + 9
    assert 0 <= shares["top_share"].value <= 1
    assert {*shares["top_share"].tables} == {"sizes"}
