"""The task on Bias in Bios, with a made-up data set in place of that of the hub."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from harness.errors import Unavailable
from harness.registry.registry import Registry

OCCUPATIONS = 28
WOMEN = [round(320 * share) for share in np.linspace(0.1, 0.9, OCCUPATIONS)]


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A folder that the library reads as the data set: 320 biographies of each occupation."""
    pytest.importorskip("datasets")
    folder = tmp_path / "LabHC" / "bias_in_bios"
    folder.mkdir(parents=True)
    lines = [
        {"hard_text": f"Biography {i} of {k}.", "profession": k, "gender": int(i < WOMEN[k])}
        for k in range(OCCUPATIONS)
        for i in range(320)
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    monkeypatch.chdir(tmp_path)


def test_each_occupation_has_300_biographies_and_its_share_of_women(hub):
    (scenario,) = Registry().task("bias-in-bios").scenarios
    labels, groups = (scenario.inputs[name].numbers for name in ("labels", "groups"))
    assert Counter(labels.tolist()) == dict.fromkeys(range(OCCUPATIONS), 300)
    for k, text in zip(labels, scenario.inputs["items"].texts, strict=True):
        assert text.endswith(f" {k:.0f}.")
    assert set(groups.tolist()) == {0, 1}
    shares = [groups[labels == k].mean() for k in range(OCCUPATIONS)]
    assert shares == pytest.approx(np.array(WOMEN) / 320, abs=0.03)
    assert "she" in scenario.inputs["poles_2"].texts
    assert scenario.inputs["poles_1"].texts[2] == "he"


def test_without_the_hub_the_task_is_missing_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Unavailable, match="LabHC/bias_in_bios"):
        Registry().task("bias-in-bios")
