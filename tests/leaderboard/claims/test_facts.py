"""The facts of tasks: those of the shipped file, and of others, resolved when they are asked."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from harness.leaderboard.claims import facts
from harness.registry.registry import Registry

TASK = """
name: {name}
version: 3
title: Flowers and insects
category: nature
metrics: {{weat: {{}}}}
primary: {{metric: weat, score: effect_size}}
inputs:
  targets_1: {{words: [rose, tulip, lily, daisy]}}
  targets_2: {{words: [ant, wasp, flea, fly]}}
  attributes_1: {{words: [good, nice]}}
  attributes_2: {{words: [bad, foul]}}
"""


def task_file(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(dedent(TASK.format(name=name)))
    return folder


@pytest.fixture
def now() -> Mapping[str, facts.TaskFacts]:
    """The facts of the shipped tasks as they are: tests/tasks/test_tasks.py computes them."""
    return facts.shipped()


def primary_score(task: facts.TaskFacts) -> facts.ScoreFacts:
    return next(s for s in task.scores if (s.scenario, s.metric, s.score) == task.primary)


def test_the_shipped_facts_say_how_to_read_every_score() -> None:
    shipped = facts.shipped()
    assert len(shipped) > 130
    for task in shipped.values():
        assert primary_score(task)
    without = [name for name, task in shipped.items() if task.digest is None]
    fetched = ("x-weat-", "ca-weat-", "toxicity-classifier-")
    assert len([name for name in without if not name.startswith(fetched)]) < 5
    assert facts.FILE.stat().st_size < 2_000 * len(shipped)


def test_only_texts_that_are_in_the_tasks_folder_are_quoted() -> None:
    shipped = facts.shipped()
    assert "She" not in shipped["sts-b"].examples
    assert shipped["sts-b"].examples == {}
    assert shipped["weat-6"].examples["targets_1"][0] == "John"


def test_the_digest_is_that_of_the_resolved_task() -> None:
    assert facts.shipped()["weat-6"].digest == Registry().task("weat-6").digest


def test_a_task_of_an_included_folder_is_resolved(tmp_path: Path) -> None:
    include = [task_file(tmp_path, "mine")]
    known = facts.known({"mine", "weat-6", "no-such-task"}, include)
    assert set(known) == {"mine", "weat-6"}
    mine = known["mine"]
    assert (mine.version, mine.family, mine.measures) == (3, "weat", "bias")
    assert mine.digest == Registry(include=include).task("mine").digest
    assert primary_score(mine).bounds == (-2, 2)
    assert primary_score(mine).may_widen
    assert mine.examples["targets_1"] == ("rose", "lily", "daisy")


def test_an_update_changes_what_is_not_current(now, tmp_path: Path) -> None:
    file, content = tmp_path / "tasks.json", facts.FILE.read_text("utf-8")
    file.write_text(content.replace("Science and arts", "Something else"), "utf-8")
    assert 0 < len(facts.outdated(now, file)) < 10
    facts.update(now, file)
    assert file.read_text("utf-8") == content


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
