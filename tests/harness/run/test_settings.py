"""Settings: the values that callers may give, and the errors for others."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption, UsageError
from harness.progress import Lines, Silent
from harness.run.settings import Settings


def test_settings_have_defaults():
    assert Settings.of(progress=(silent := Silent())) == Settings(progress=silent)


@pytest.mark.parametrize(
    ("value", "devices"),
    [
        ("cpu", ["cpu"]),
        ("cpu,cpu", ["cpu", "cpu"]),
        ("cuda:0, cuda:1,", ["cuda:0", "cuda:1"]),
        ("", []),
        (["cpu", "cpu"], ["cpu", "cpu"]),
        (("cpu",), ["cpu"]),
    ],
)
def test_devices_are_a_list_or_text_with_commas(value, devices):
    assert list(Settings.of(devices=value).devices) == devices


@pytest.mark.parametrize("value", ["a", Path("a"), ["a"], (Path("a"),)])
def test_include_is_one_path_or_several(value):
    assert list(Settings.of(include=value).include) == [Path("a")]


@pytest.mark.parametrize("name", ["results", "cache"])
@pytest.mark.parametrize("folder", ["a", "none"])
def test_a_folder_may_be_text(name, folder):
    assert getattr(Settings.of(**{name: folder}), name) == Path(folder)
    assert getattr(Settings.of(**{name: Path(folder)}), name) == Path(folder)
    assert getattr(Settings.of(**{name: None}), name) is None


@pytest.mark.parametrize("seed", [3, "3", np.int64(3)])
def test_a_seed_is_a_whole_number(seed):
    assert Settings.of(seed=seed).seed == 3


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, [1]])
def test_another_seed_is_an_invalid_option(seed):
    with pytest.raises(InvalidOption, match="seed="):
        Settings.of(seed=seed)


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"devices": [0]}, ["devices=[0]", "valid string"]),
        ({"devices": None}, ["devices=None"]),
        ({"include": 3}, ["include=3"]),
        ({"results": 3}, ["results=3", "valid path"]),
        ({"overwrite": "perhaps"}, ["overwrite=perhaps"]),
    ],
)
def test_a_value_of_another_type_is_an_invalid_option(options, facts):
    with pytest.raises(InvalidOption) as caught:
        Settings.of(**options)
    for fact in facts:
        assert fact in str(caught.value)


def test_evaluate_converts_settings(registry, tmp_path):
    def run(**settings):
        return harness.evaluate(MockEmbedder(), "toy-places", registry=registry, **settings)

    folder = str(tmp_path)
    assert len(run(results=folder, include=folder, devices="cpu", engine="local", concept="none"))
    assert len(run(results=folder, devices="cpu,cpu", concept="none"))


@pytest.mark.parametrize("function", [harness.evaluate, harness.debias, harness.run_study])
def test_every_argument_has_its_own_name_default_and_documentation(function):
    parameters = inspect.signature(function).parameters
    documented = re.findall(
        r"^(\w+)$", re.split("Returns|Raises", inspect.getdoc(function))[0], re.MULTILINE
    )
    assert list(parameters) == [name for name in documented if name != "Parameters"]
    for parameter in parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)


@pytest.mark.parametrize("function", [harness.evaluate, harness.debias, harness.run_study])
def test_a_misspelt_argument_is_a_type_error_that_names_it(function):
    with pytest.raises(TypeError, match="sead"):
        function(sead=1)


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (lambda: harness.evaluate("x", seed=True), r"^seed=True"),
        (lambda: harness.evaluate("x", devices="foo"), r"'foo'"),
        (lambda: harness.evaluate("x", overwrite="perhaps"), r"^overwrite=perhaps"),
        (lambda: harness.evaluate("x", progress="yes"), r"^progress=yes"),
        (lambda: harness.evaluate("x", exclude=3), r"^exclude=3"),
        (lambda: harness.run_study("gender-hard-soft", workers=0), r"^workers=0"),
        (lambda: harness.run_study("gender-hard-soft", workers="4"), r"^workers=4"),
        (lambda: harness.run_study("gender-hard-soft", include=3), r"^include=3"),
        (lambda: harness.debias("x", "none", "y.txt", include=3), r"^include=3"),
    ],
)
def test_an_invalid_value_is_told_by_the_name_of_its_argument(call, fact):
    with pytest.raises(InvalidOption, match=fact):
        call()


@pytest.mark.parametrize(
    ("progress", "kind"), [(False, Silent), (True, Lines), (silent := Silent(), Silent)]
)
def test_progress_is_whether_or_where(progress, kind):
    assert isinstance(Settings.of(progress=progress).progress, kind)


@pytest.mark.parametrize("tasks", ["toy-places, toy-ratings", ["toy-places,toy-ratings"]])
def test_names_of_tasks_may_stand_in_one_text_with_commas(registry, tasks):
    records = harness.evaluate(MockEmbedder(), tasks, registry=registry, concept=None)
    assert {record.task.name for record in records} == {"toy-places", "toy-ratings"}


@pytest.mark.parametrize("tasks", [3, [3], None])
def test_tasks_are_names_paths_or_mappings(registry, tasks):
    with pytest.raises(UsageError, match="tasks: expected a name"):
        harness.evaluate(MockEmbedder(), tasks, registry=registry, concept=None)


@pytest.mark.parametrize("limit", [0, -1, True, "many", 1.5])
def test_a_limit_is_a_whole_number_from_1(limit):
    with pytest.raises(InvalidOption, match="limit"):
        Settings.of(limit=limit)


def test_tasks_to_exclude_may_be_text_with_commas_or_paths():
    assert Settings.of(exclude="weat, seat-*").exclude == ["weat", "seat-*"]
    assert Settings.of(exclude=["weat", Path("a.yaml")]).exclude == ["weat", "a.yaml"]
