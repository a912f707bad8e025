"""What is kept of task files between runs saves time and changes nothing."""

from __future__ import annotations

import os
import time

import pytest

from harness import folders
from harness.errors import InvalidFile
from harness.registry.registry import Registry
from harness.task import compiled, compiled_inputs

TASK = """
name: kept-places
version: 1
title: Kept places
category: places
concept: toy-place
templates: {sentence: ["This is a {text}.", "Here is a {text}."]}
tables: {places: {file: places.csv}}
inputs:
  targets_1: {table: places, column: rural, template: sentence}
  targets_2: {words: [city, street]}
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache folder; code that was written a moment ago counts as the code that runs."""
    monkeypatch.setattr(compiled_inputs, "STARTED", time.time() + 60)
    compiled_inputs._code_in.cache_clear()
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def resolve(registry, write):
    """Write the data and the task, and resolve the task in a new registry."""
    write("tasks/places.csv", "rural\nvillage\nfarm\n")
    path = write("tasks/places.yaml", TASK)
    return lambda: Registry(registry.plugins, include=[path.parent]).task("kept-places")


def kept_files(cache):
    return sorted((cache / "compiled").glob("task-*"))


def content(task):
    """Return all that a task has of its inputs."""
    return {
        (scenario.name, name): (
            input_.texts,
            input_.items,
            input_.clusters.tolist(),
            input_.numbers,
            input_.content(),
        )
        for scenario in task.scenarios
        for name, input_ in scenario.inputs.items()
    }


def test_a_task_is_the_same_with_its_inputs_as_made_and_as_kept(resolve, cache):
    made, before = resolve(), kept_files(cache)
    kept = resolve()
    assert len(before) == 1, "the inputs were not kept"
    assert type(made.scenarios[0].inputs["targets_1"]) is not type(
        kept.scenarios[0].inputs["targets_1"]
    ), "the kept inputs were not used"
    assert content(kept) == content(made)
    assert kept.digest == made.digest
    assert kept.scenarios[0].inputs["targets_1"].texts == (
        "This is a village.",
        "Here is a village.",
        "This is a farm.",
        "Here is a farm.",
    )


def test_changed_data_make_other_inputs_in_place_of_the_old_ones(resolve, write, cache):
    before = resolve()
    write("tasks/places.csv", "rural\nvillage\nbarn\n")
    after = resolve()
    assert "This is a barn." in after.scenarios[0].inputs["targets_1"].texts
    assert after.digest != before.digest
    assert len(kept_files(cache)) == 1, "the old inputs are still there"


def test_a_changed_task_file_makes_other_inputs(resolve, write):
    before = resolve()
    write("tasks/places.yaml", TASK.replace("This is a", "There is a"))
    after = resolve()
    assert after.scenarios[0].inputs["targets_1"].texts[0] == "There is a village."
    assert after.digest != before.digest


def test_a_file_that_is_cut_or_changed_anywhere_is_not_used(resolve, cache):
    expected = content(resolve())
    (path,) = kept_files(cache)
    whole = path.read_bytes()
    for position in range(0, len(whole), 97):
        changed = bytes([whole[position] ^ 1])
        for damaged in (whole[:position], whole[:position] + changed + whole[position + 1 :]):
            path.write_bytes(damaged)
            assert content(resolve()) == expected
            (path,) = kept_files(cache)
            assert path.read_bytes() == whole, "it was not written again"


def test_a_cache_that_cannot_be_written_to_costs_only_time(resolve, cache):
    cache.mkdir()
    (cache / "compiled").write_text("a file where the folder should be")
    assert content(resolve()) == content(resolve())


def test_documents_are_kept_once_they_have_not_changed_for_a_moment(
    registry, write, cache, monkeypatch
):
    path = write("tasks/mine.yaml", "include: _part.yaml\nname: mine\nversion: 1\n")
    write("tasks/_part.yaml", "title: Mine\ncategory: 1\n")
    monkeypatch.setattr(compiled, "TICK", -1.0)  # a test does not wait

    def document():
        compiled._KNOWN.clear()  # as in a new process
        return Registry(registry.plugins, include=[path.parent]).task_files["mine"]

    read, kept = document(), document()
    assert type(kept) is compiled.KeptDocument
    assert kept.data == read.data
    assert kept.places == read.places
    with pytest.raises(InvalidFile, match=r"_part\.yaml.*2"):
        raise kept.error("a mistake", ("category",))
    write("tasks/_part.yaml", "title: Yours\ncategory: 1\n")
    assert document().data["title"] == "Yours", "an included file changed"


def test_the_head_of_a_kept_task_is_that_of_its_file_and_needs_no_schema(
    registry, write, cache, monkeypatch
):
    monkeypatch.setattr(compiled, "TICK", -1.0)  # a test does not wait
    path = write("tasks/places.yaml", TASK + "tags: [toy, places]\n")
    write("tasks/wrong.yaml", "name: wrong\nversion: 1\n")

    def documents():
        compiled._KNOWN.clear()  # as in a new process
        return Registry(registry.plugins, include=[path.parent]).task_files

    read, kept = documents()["kept-places"], documents()
    head = compiled.head_of(kept["kept-places"])
    assert head == compiled.head_of(read)
    assert (head.tags, head.language, head.large) == (("toy", "places"), "en", False)
    assert "data" not in vars(kept["kept-places"]), "its data was decoded"
    with pytest.raises(InvalidFile, match="title"):
        compiled.head_of(kept["wrong"])
    write("tasks/places.yaml", TASK.replace("Kept places", "Other places"))
    assert compiled.head_of(documents()["kept-places"]).title == "Other places"


def test_files_that_were_not_used_for_a_month_are_pruned(resolve, cache):
    resolve()
    (path,) = kept_files(cache)
    assert folders.remove_unused(path.parent, folders.UNUSED_DAYS) == (0, 0)
    old = time.time() - 86_400 * (folders.UNUSED_DAYS + 1)
    os.utime(path, (old, old))
    size = path.stat().st_size
    assert folders.remove_unused(path.parent, folders.UNUSED_DAYS) == (1, size)
    assert not path.exists()


def test_a_file_that_is_used_again_is_not_pruned(resolve, cache):
    resolve()
    (path,) = kept_files(cache)
    old = time.time() - 86_400 * (folders.UNUSED_DAYS + 1)
    os.utime(path, (old, old))
    resolve()
    assert folders.remove_unused(path.parent, folders.UNUSED_DAYS) == (0, 0)
