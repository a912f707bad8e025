"""`each`: one file with several tasks."""

from __future__ import annotations

import pytest

from harness.errors import InvalidFile
from harness.registry.registry import Registry
from harness.run.tasks import select
from harness.task import yaml_files

TASK = """
each:
  - {language: de, in: German, towns: [Stadt, Dorf]}
  - {language: fr, in: French, towns: [ville, village]}
name: places-${language}
version: 1
title: Places in ${in}
category: places
language: ${language}
inputs:
  targets_1: {words: "${towns}"}
  targets_2: {words: ["${language} farm", field]}
  attributes_1: {words: [good]}
  attributes_2: {words: [bad]}
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
"""


@pytest.fixture
def many(registry, write):
    """A registry with a folder of tasks that has such a file."""

    def of(text: str) -> Registry:
        return Registry(
            registry.plugins, include=[write("more/family/places.yaml", text).parents[1]]
        )

    return of


def test_each_mapping_is_a_task_with_its_values_in_all_texts(many):
    german, french = (entry.file for entry in select(many(TASK), ["places-*"]))
    assert (german.name, german.title, german.language) == ("places-de", "Places in German", "de")
    assert (french.name, french.title, french.language) == ("places-fr", "Places in French", "fr")
    assert german.inputs["targets_1"].words == ("Stadt", "Dorf"), "a variable alone is its value"
    assert french.inputs["targets_2"].words == ("fr farm", "field")


def test_variables_of_an_included_file_are_replaced(many, write):
    write("more/family/_part.yaml", "title: Places in ${in}\n")
    text = "include: _part.yaml\n" + TASK.replace("title: Places in ${in}\n", "")
    titles = [entry.file.title for entry in select(many(text), ["places-*"])]
    assert titles == ["Places in German", "Places in French"]


def test_the_path_of_such_a_file_means_all_of_its_tasks(registry, write):
    path = write("places.yaml", TASK)
    assert [e.file.name for e in select(registry, [str(path)])] == ["places-de", "places-fr"]


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("Places in ${in}", "Places in ${inn}", "7: title", "'each' has no key 'inn'"),
        ("{language: fr, in: French", "{language: fr", "7: title", "'each' has no key 'in'"),
        ("towns: [ville", "include: no.yaml, towns: [ville", "4: each[1].include", "no file 'no"),
        ("language: fr", "language: no", "5: name", "put words like no and on in quotes"),
        ("name: places-${language}", "name: places", "4: each[1]", "a second 'places'"),
        (TASK[1 : TASK.index("name:")], "each: {language: de}\n", "2: each", "list of mappings"),
        (TASK[1 : TASK.index("name:")], "each: [de]\n", "2: each[0]", "expected a mapping"),
    ],
    ids=["key", "missing-key", "include", "truth-value", "name", "no-list", "no-mapping"],
)
def test_a_mistake_is_told_with_its_place(write, old, new, place, problem):
    document = yaml_files.load(write("places.yaml", TASK.replace(old, new)))
    with pytest.raises(InvalidFile) as caught:
        yaml_files.documents(document)
    assert f"places.yaml:{place}" in str(caught.value)
    assert problem in str(caught.value)


def test_an_entry_has_keys_and_includes_of_its_own(many, write):
    write("more/family/_farm.yaml", "title: Farms\ninputs: {targets_1: {words: [farm]}}\n")
    text = TASK.replace("{language: fr,", "{include: _farm.yaml, category: farms, language: fr,")
    german, french = (entry.file for entry in select(many(text), ["places-*"]))
    assert (german.category, french.category) == ("places", "farms")
    assert (german.title, french.title) == ("Places in German", "Farms")
    assert french.inputs["targets_1"].words == ("farm",)
    assert french.inputs["targets_2"].words == ("fr farm", "field"), "what is left is the file's"


def test_tasks_that_nobody_has_reviewed_are_not_ranked(many):
    german, _ = (entry.file for entry in select(many(TASK + "reviewed: false\n"), ["places-*"]))
    assert german.not_ranked == "no reader of the language has reviewed its texts"
    (reviewed, _) = (entry.file for entry in select(many(TASK), ["places-*"]))
    assert reviewed.not_ranked == ""


def test_a_benchmark_file_may_have_it_too(registry, write):
    folder = write("more/family/places.yaml", TASK).parents[1]
    file = write(
        "more/benchmarks/places.yaml",
        """
each:
  - {of: german, tasks: {places-de: 1}}
  - {of: all, tasks: {places-de: 1, places-fr: 1}}
name: ${of}-places
version: 1
title: Places, ${of}
tasks: ${tasks}
""",
    )
    known = Registry(registry.plugins, include=[folder])
    for pattern, names in (
        ("german-places", ["places-de"]),
        ("all-places", ["places-de", "places-fr"]),
        (str(file), ["places-de", "places-fr"]),
    ):
        assert [entry.file.name for entry in select(known, [pattern])] == names
