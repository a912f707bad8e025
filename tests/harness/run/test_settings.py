"""Settings: the values that callers may give, and the errors for others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption
from harness.progress import Silent
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
        ({"divices": "cpu"}, ["'divices'", "did you mean 'devices'?"]),
        ({"task": "weat-6"}, ["'task'", "did you mean 'tasks'?"]),
        ({"devices": [0]}, ["devices=[0]", "valid string"]),
        ({"devices": None}, ["devices=None"]),
        ({"include": 3}, ["include=3"]),
        ({"results": 3}, ["results=3", "valid path"]),
        ({"overwrite": "perhaps"}, ["overwrite=perhaps"]),
    ],
)
def test_an_unknown_setting_or_value_is_an_invalid_option(options, facts):
    with pytest.raises(InvalidOption) as caught:
        Settings.of(**options)
    for fact in facts:
        assert fact in str(caught.value)


def test_evaluate_converts_settings(registry, tmp_path):
    def run(**settings):
        return harness.evaluate(MockEmbedder(), "toy-places", registry=registry, **settings)

    folder = str(tmp_path)
    assert len(run(results=folder, include=folder, devices="cpu", engine="local", concept="none"))
    with pytest.raises(InvalidOption, match=r"'sead'.*'seed'"):
        run(sead=1)
