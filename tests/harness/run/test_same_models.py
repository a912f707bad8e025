"""Models of one run: names tell them apart, and each is run once."""

from __future__ import annotations

import json

import pytest

from harness.embedder import MockEmbedder
from harness.errors import UsageError
from harness.results.folder import read_results

PLUGIN = """
    from harness import EmbedderSpec, hookimpl

    @hookimpl
    def harness_embedders():
        target = "toy_models:Reference"
        return [
            EmbedderSpec(name="file", target="THIS:File", provider=True, recognises="THIS:is_file"),
            EmbedderSpec(name="three", target=target, options={"reference": "3"}),
        ]

    from pathlib import Path
    from toy_models import Reference

    def is_file(reference):
        return Path(reference).is_file()

    class File(Reference):
        def __init__(self, reference, *, name: str = ""):
            super().__init__(Path(reference).read_text(), name=name)
"""


@pytest.fixture
def files(evaluate, registry_with, plugin):
    """Evaluate models of files, of a provider whose models need no provider in their names."""
    registry = registry_with(plugin(PLUGIN))

    def run(*models, **more):
        return evaluate(list(models), "toy-places", registry=registry, **more)

    return run


def test_settings_of_a_model_have_names_and_files_of_their_own(evaluate, tmp_path):
    models = ["toy-letters", "toy-letters?scale=2", "toy-letters?scale=1"]
    records = evaluate(models, "toy-places", results=tmp_path)
    assert list(dict.fromkeys(r.model.name for r in records)) == models[:2]
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {
        "toy-letters.jsonl", "toy-letters_scale_2.jsonl",
    }  # fmt: skip
    assert records.notices == ()


def test_one_model_under_two_names_is_run_once_under_the_registered_one(files, write, tmp_path):
    path = write("numbers/copy.txt", "3")
    records = files(str(path), "three", results=tmp_path / "results")
    assert {(r.model.name, r.model.aliases) for r in records} == {("three", ("copy",))}
    (notice,) = records.notices
    assert notice == "copy is the same model as three; results are shown under three"


def test_two_models_of_one_name_are_an_error_that_says_what_to_type(files, write, tmp_path):
    first, second = str(write("x/a.txt", "3")), str(write("y/a.txt", "4"))
    with pytest.raises(UsageError) as caught:
        files(first, second, results=tmp_path / "results")
    for fact in ("name 'a'", f"'{first}'", f"'{second}?name=…'"):
        assert fact in str(caught.value)
    records = files(first, f"{second}?name=other", results=tmp_path / "results")
    assert {r.model.name for r in records} == {"a", "other"}
    with pytest.raises(UsageError, match="give one of the objects another `name`"):
        files(MockEmbedder(dimensions=3), MockEmbedder(dimensions=4))


def test_records_under_two_names_are_read_under_one(files, write, tmp_path):
    results = tmp_path / "results"
    files("three", results=results)
    files(str(write("zzz.txt", "3")), results=results)  # read after the other
    assert len(list(results.glob("*.jsonl"))) == 2
    records = read_results(results)
    assert len(records) == 3
    assert {r.model.name for r in records} == {"zzz"}  # the shortest
    (notice,) = records.notices
    assert "is the same model as" in notice
    assert {len(r.model.aliases) for r in records} == {1}


def test_no_record_names_a_place_of_this_machine(files, write, evaluate, tmp_path, toy_task):
    path = write("private/mine.txt", "3")
    task = write("private/mine.yaml", toy_task)
    polite = f"toy-polite?word={tmp_path}/private/word.txt"
    results = tmp_path / "results"
    files(str(path), results=results)
    evaluate("toy:3", [str(task)], ["none", polite], results=results)
    lines = [line for file in results.glob("*.jsonl") for line in file.read_text().splitlines()]
    assert len(lines) == 7
    assert [line for line in lines if str(tmp_path) in line or "private" in line] == []
    assert {json.loads(line)["mitigator"]["label"] for line in lines} == {
        "none", "toy-polite?word=word.txt",
    }  # fmt: skip
