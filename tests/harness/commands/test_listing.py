"""`harness list` and `harness show`."""

from __future__ import annotations

import json

import pytest

from harness.commands import show
from harness.registry.registry import Registry


@pytest.fixture
def names(harness, toy):
    """Return the names that `harness list` gives, those of the toy plugin only."""

    def names_of(kind, *arguments):
        result = harness("list", kind, *arguments, "--json")
        assert result.code == 0, result.err
        return [row["name"] for row in json.loads(result.out) if row["name"].startswith("toy")]

    return names_of


def test_list_gives_every_name_of_a_kind(names):
    assert names("models") == ["toy-letters", "toy-words", "toy:…"]
    assert names("mitigators") == ["toy-shift", "toy-polite"]
    assert names("metrics") == ["toy-gap", "toy-draw", "toy-fit"]
    assert names("tasks") == ["toy-places", "toy-places-10", "toy-ratings", "toy-sentences"]
    assert names("concepts") == ["toy-bare", "toy-place"]


def test_models_on_this_machine_come_first_and_providers_last(harness, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    rows = json.loads(harness("list", "models", "--json").out)
    here = [row["here"] for row in rows]
    assert here == sorted(here, key=(True, False, None).index)
    found = {row["name"]: row["here"] for row in rows}
    assert (found["glove-6b-50d"], found["random-words"]) == (True, True)
    assert (found["bge-large-en-v1.5"], found["text-embedding-3-small"]) == (False, False)
    assert found["openai:…"] is None


def test_a_pattern_is_a_glob_or_part_of_a_name(names):
    assert names("tasks", "PLACES") == ["toy-places", "toy-places-10"]
    assert names("tasks", "toy-places") == ["toy-places", "toy-places-10"]
    assert names("tasks", "*-10") == ["toy-places-10"]
    assert names("models", "let?ers") == []
    assert names("models", "*let?ers") == ["toy-letters"]


def test_tasks_are_filtered_by_category_tag_and_kind(names):
    assert names("tasks", "--category", "similarity") == ["toy-ratings"]
    assert names("tasks", "--category", "usefulness") == ["toy-ratings"]
    assert names("tasks", "--tag", "sentences") == ["toy-sentences"]
    assert names("tasks", "--kind", "word") == ["toy-places", "toy-places-10", "toy-ratings"]


def test_a_task_without_its_data_is_shown_by_its_file_with_how_to_fetch_it(harness, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    result = harness("show", "task", "sts-b")
    assert result.code == 0
    assert "title: " in result.out
    assert "licence: " in result.out
    assert "stsb/sts-test.csv: to fetch from https://" in result.out
    assert "harness data fetch sts-b" in result.out


def test_a_model_is_shown_by_its_card(harness, toy):
    card = json.loads(harness("show", "model", "toy-letters", "--json").out)
    assert (card["dimensions"], card["licence"]) == (26, "MIT")
    assert card["registered by"] == "'toy' (toy 1.0)"
    assert "licence: MIT" in harness("show", "model", "toy-letters").out


def test_a_task_is_shown_with_its_resolved_texts(harness, toy):
    facts = json.loads(harness("show", "task", "toy-sentences", "--json").out)
    assert facts["scenarios"]["plain"]["targets_1"] == ["This is a village.", "This is a farm."]
    marked = json.loads(
        harness("show", "task", "toy-sentences", "--scenario", "marked", "--json").out
    )
    assert set(marked["scenarios"]) == {"marked"}
    assert "It is a farm, really." in harness("show", "task", "toy-sentences").out
    ratings = json.loads(harness("show", "task", "toy-ratings", "--json").out)
    assert ratings["scenarios"]["default"]["labels"] == [4, 1, 3.5, 0.5]


@pytest.mark.parametrize(
    ("arguments", "kind", "name", "nearest"),
    [
        (["model", "toy-leters"], "model", "toy-leters", "toy-letters"),
        (["task", "toy-plces"], "task", "toy-plces", "toy-places"),
        (["task", "toy-sentences", "--scenario", "plane"], "scenario", "plane", "plain"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_suggestion(
    harness, toy, arguments, kind, name, nearest
):
    result = harness("show", *arguments)
    assert result.code == 2
    assert result.err.startswith("harness: ")
    assert kind in result.err
    assert f"'{name}'; did you mean '{nearest}'" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["mitigator", "metric", "concept"])  # tasks: test_tasks.py
def test_show_works_for_every_listed_name(harness, kind):
    registry = Registry()
    for row in json.loads(harness("list", f"{kind}s", "--json").out):
        facts = show.describe(registry, kind, row["name"])
        text = "\n".join(show.lines(facts))
        assert row["name"] in text
        reason = facts.get("unavailable", "")
        assert not reason or "missing data" in reason or "its data" in reason or "hf://" in reason
