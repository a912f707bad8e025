"""`harness list` and `harness show`."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def names(harness, toy):
    """The names in a list, of toys only."""

    def listed(kind, *arguments):
        said = harness("list", kind, *arguments, "--json")
        assert said.code == 0, said.err
        return [row["name"] for row in json.loads(said.out) if row["name"].startswith("toy")]

    return listed


def test_everything_of_a_kind_is_listed(names):
    assert names("models") == ["toy-letters", "toy-words", "toy:…"]
    assert names("mitigators") == ["toy-shift", "toy-polite"]
    assert names("metrics") == ["toy-gap", "toy-draw", "toy-fit"]
    assert names("tasks") == ["toy-places", "toy-places-10", "toy-ratings", "toy-sentences"]
    assert names("concepts") == ["toy-bare", "toy-place"]


def test_a_pattern_is_a_glob_or_a_part_of_a_name(names):
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


def test_models_are_filtered_by_kind(names):
    assert names("models", "--kind", "text") == ["toy-letters"]
    assert names("models", "--kind", "word") == []


def test_as_a_table(harness, toy):
    said = harness("list", "tasks", "toy-*")
    assert said.code == 0
    lines = [line.split() for line in said.out.splitlines() if line.strip()]
    assert lines[0][:3] == ["name", "version", "measures"]
    assert [line[0] for line in lines[2:]] == [
        "toy-places", "toy-places-10", "toy-ratings", "toy-sentences",
    ]  # fmt: skip


def test_nothing_that_fits_is_told(harness, toy):
    said = harness("list", "tasks", "nothing-like-it")
    assert (said.code, said.out, said.err) == (0, "", "no tasks fit\n")


@pytest.mark.parametrize(
    ("option", "name", "told"),
    [
        ("--category", "similarty", "unknown category 'similarty'; did you mean 'similarity'"),
        ("--tag", "sentenses", "unknown tag 'sentenses'; did you mean 'sentences'"),
    ],
)
def test_a_filter_that_nothing_has_is_told_with_the_nearest(harness, toy, option, name, told):
    said = harness("list", "tasks", option, name)
    assert said.code == 2
    assert said.err.startswith(f"harness: {told}")


def test_a_tag_is_no_task_but_its_tasks_can_be_listed(harness, toy):
    said = harness("show", "task", "sentences")
    assert said.code == 2
    assert said.err.endswith("but a tag is: harness list tasks --tag sentences\n")


def test_a_task_without_its_data_is_shown_by_its_file_with_the_reason(harness, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    said = harness("show", "task", "sts-b")
    assert said.code == 1
    assert "title: " in said.out
    assert "licence: " in said.out
    assert said.err.startswith("harness: ")
    assert "its data is not here" in said.err


def test_a_model_is_shown_by_its_card(harness, toy):
    said = json.loads(harness("show", "model", "toy-letters", "--json").out)
    assert (said["dimensions"], said["licence"]) == (26, "MIT")
    assert said["registered by"] == "'toy' (toy 1.0)"
    assert "licence: MIT" in harness("show", "model", "toy-letters").out


def test_a_provider_is_shown_by_its_documentation(harness, toy):
    said = json.loads(harness("show", "model", "toy", "--json").out)
    assert said["name"] == "toy:REFERENCE"
    assert said["documentation"] == "Counts letters and multiplies by the reference."


def test_a_model_without_a_card_is_shown_by_what_it_says_of_itself(harness, toy):
    assert json.loads(harness("show", "model", "toy:2", "--json").out)["name"] == "toy:2"
    assert json.loads(harness("show", "model", "toy-words", "--json").out)["kind"] == "word"


def test_a_mitigator_is_shown_with_its_parameters_and_needs(harness, toy):
    said = json.loads(harness("show", "mitigator", "toy-shift?k=3+toy-polite", "--json").out)
    assert said["toy-shift"]["parameters"] == {"k": 3}
    assert said["toy-shift"]["needs of a concept"] == "definitional_pairs"
    assert said["toy-polite"]["works on"] == "text"
    assert "the model as it is" in harness("show", "mitigator", "none").out


def test_a_metric_is_shown_with_its_inputs_options_and_source(harness, toy):
    said = json.loads(harness("show", "metric", "toy-gap", "--json").out)
    assert said["inputs"] == {"targets_1": "needed", "targets_2": "needed"}
    assert said["options"] == {"centre": False, "power": 1.0}
    assert said["scores"]["gap"]["bounds"] == [0, None]
    assert "toy_methods.py:" in said["source"]


def test_a_task_is_shown_with_its_resolved_texts(harness, toy):
    said = json.loads(harness("show", "task", "toy-sentences", "--json").out)
    assert said["scenarios"]["plain"]["targets_1"] == ["This is a village.", "This is a farm."]
    marked = json.loads(
        harness("show", "task", "toy-sentences", "--scenario", "marked", "--json").out
    )
    assert set(marked["scenarios"]) == {"marked"}
    assert "It is a farm, really." in harness("show", "task", "toy-sentences").out
    ratings = json.loads(harness("show", "task", "toy-ratings", "--json").out)
    assert ratings["scenarios"]["default"]["labels"] == [4, 1, 3.5, 0.5]


def test_a_concept_is_shown(harness, toy):
    said = json.loads(harness("show", "concept", "toy-place", "--json").out)
    assert said["definitional_pairs"] == [["village", "city"], ["farm", "street"]]
    assert "village – city" in harness("show", "concept", "toy-place").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["model", "toy-leters"], "unknown model 'toy-leters'; did you mean 'toy-letters'"),
        (["mitigator", "toy-shft"], "unknown mitigator 'toy-shft'; did you mean 'toy-shift'"),
        (["metric", "toy-gab"], "unknown metric 'toy-gab'; did you mean 'toy-gap'"),
        (["task", "toy-plces"], "unknown task 'toy-plces'; did you mean 'toy-places'"),
        (["concept", "toy-plce"], "unknown concept 'toy-plce'; did you mean 'toy-place'"),
        (["task", "toy-sentences", "--scenario", "plane"], "unknown scenario 'plane'; did "
         "you mean 'plain'"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_with_the_nearest(harness, toy, arguments, told):
    said = harness("show", *arguments)
    assert said.code == 2
    assert said.err.startswith(f"harness: {told}")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["mitigator", "metric", "task", "concept"])
def test_every_built_in_thing_can_be_shown(harness, kind):
    for row in json.loads(harness("list", f"{kind}s", "--json").out):
        said = harness("show", kind, row["name"])
        unavailable = "its data" in said.err or "could not be fetched" in said.err
        assert said.code == 0 or unavailable, said.err
