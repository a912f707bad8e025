"""Settings: what callers may give, and what is told of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import harness
from harness.embedder import MockEmbedder
from harness.errors import InvalidOption
from harness.progress import Silent
from harness.run.settings import Settings


def test_nothing_given_leaves_the_defaults():
    assert Settings.of(progress=(silent := Silent())) == Settings(progress=silent)


@pytest.mark.parametrize(
    ("given", "devices"),
    [
        ("cpu", ["cpu"]),
        ("cpu,cpu", ["cpu", "cpu"]),
        ("cuda:0, cuda:1,", ["cuda:0", "cuda:1"]),
        ("", []),
        (["cpu", "cpu"], ["cpu", "cpu"]),
        (("cpu",), ["cpu"]),
    ],
)
def test_devices_are_a_list_however_they_are_given(given, devices):
    assert list(Settings.of(devices=given).devices) == devices


@pytest.mark.parametrize("given", ["a", Path("a"), ["a"], (Path("a"),)])
def test_include_is_a_list_of_paths_however_it_is_given(given):
    assert list(Settings.of(include=given).include) == [Path("a")]


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
def test_a_seed_of_another_kind_is_told(seed):
    with pytest.raises(InvalidOption, match=r"^an evaluation: option seed="):
        Settings.of(seed=seed)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"divices": "cpu"}, "an evaluation has no option 'divices'; did you mean 'devices'?"),
        ({"task": "weat-6"}, "an evaluation has no option 'task'; did you mean 'tasks'?"),
        ({"devices": [0]}, "an evaluation: option devices=[0]: input should be a valid string"),
        ({"devices": None}, "an evaluation: option devices=None: input should be "),
        ({"include": 3}, "an evaluation: option include=3: input should be "),
        ({"results": 3}, "an evaluation: option results=3: input is not a valid path"),
        ({"overwrite": "perhaps"}, "an evaluation: option overwrite=perhaps: input should be "),
    ],
)
def test_a_setting_that_does_not_fit_is_told(given, said):
    with pytest.raises(InvalidOption) as caught:
        Settings.of(**given)
    assert str(caught.value).startswith(said)


def test_evaluate_takes_settings_as_people_write_them(registry, tmp_path):
    def run(**settings):
        return harness.evaluate(MockEmbedder(), "toy-places", registry=registry, **settings)

    folder = str(tmp_path)
    assert len(run(results=folder, include=folder, devices="cpu", engine="local", concept="none"))
    with pytest.raises(InvalidOption, match="no option 'sead'; did you mean 'seed'"):
        run(sead=1)
