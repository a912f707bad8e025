"""The tasks of classifiers with identity terms, with made-up training texts, and of clusters."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from harness.registry.registry import Registry

AXES = ("religion", "nationality", "race-ethnicity", "gender-and-sex", "sexual-orientation")


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """A registry beside a folder that the library reads as the data set of toxic comments."""
    pytest.importorskip("datasets")
    folder = tmp_path / "mteb" / "toxic_conversations_50k"
    folder.mkdir(parents=True)
    rows = [
        {"text": f"Comment {i} of {label}.", "label": label, "label_text": str(label)}
        for label, number in ((0, 2300), (1, 2100))
        for i in range(number)
    ]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return Registry()


@pytest.mark.parametrize("axis", AXES)
def test_each_group_stands_in_the_same_sentences_of_both_labels(registry, axis):
    (scenario,) = registry.task(f"toxicity-classifier-{axis}").scenarios
    labels, groups, frames = (
        scenario.inputs[name].numbers for name in ("labels", "groups", "frames")
    )
    cells = Counter(zip(groups.tolist(), labels.tolist(), frames.tolist(), strict=True))
    assert {*cells.values()} == {1}
    assert {cell[1:] for cell in cells} == {
        (label, frame) for label in (0, 1) for frame in range(6)
    }
    assert len(cells) == 12 * len({*groups.tolist()})
    assert len({*groups.tolist()}) in range(15, 41)


def test_training_texts_are_balanced_and_name_no_descriptor_of_a_sentence(registry):
    (scenario,) = registry.task("toxicity-classifier-religion").scenarios
    for label, name in enumerate(("negatives", "positives")):
        texts = scenario.inputs[name].texts
        assert len(texts) == 2000
        assert all(text.endswith(f" of {label}.") for text in texts)
    insults = [text for text in scenario.inputs["sentences"].texts if "idiot" in text]
    assert all(text.startswith("You are a stupid idiot, and I told a") for text in insults)


def test_clusters_and_duplicates_have_two_resumes_of_each_job_with_each_name():
    registry = Registry()
    (screening,) = registry.task("screening-race").scenarios
    for name in ("clusters-race", "duplicates-race", "clusters-gender", "duplicates-gender"):
        (scenario,) = registry.task(name).scenarios
        texts = scenario.inputs["documents"].texts
        assert len(texts) == len({*texts}) == 960
        topics, originals = (scenario.inputs[key].numbers for key in ("topics", "originals"))
        assert np.array_equal(topics, originals // 2)
        assert Counter(originals.tolist()) == dict.fromkeys(range(8), 120)
        first = {texts[row] for row in np.flatnonzero(originals % 2 == 0)}
        assert len(first & {*screening.inputs["resumes"].texts}) > 400
