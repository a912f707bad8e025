"""Words that mitigators are fitted on, in the texts of the tasks that ship."""

from __future__ import annotations

import functools
import os
import re
import unicodedata
from pathlib import Path

import pytest

from harness import tasks
from harness.embedder import Kind, MockEmbedder
from harness.errors import NotApplicable
from harness.mitigator import Mitigator
from harness.registry.discovery import files_of, load_file
from harness.registry.registry import Registry
from harness.run.plan import concept_for
from harness.run.unseen import Fitted, fitting_texts, fitting_words, units
from harness.task import yaml_files

ROOT = Path(tasks.__file__).parent
DATA = [
    part.data for path in files_of(ROOT, "task") for part in yaml_files.documents(load_file(path))
]
WITHOUT_COPY = ("x-weat-", "ca-weat-")
"""Tasks of which HARNESS_DATA has no data."""


def is_at_hand(data) -> bool:
    """Whether a task is not too large, and its data need not be fetched."""
    fetched = any("url" in table for table in data.get("tables", {}).values())
    has_copy = "HARNESS_DATA" in os.environ and not data["name"].startswith(WITHOUT_COPY)
    return not data.get("large") and (has_copy or not fetched)


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def mitigators(registry):
    """The mitigators that are fitted on texts, by name."""
    named = {name: registry.mitigator(name) for name in registry.mitigators if name != "anonymize"}
    return {
        name: chain
        for name, chain in named.items()
        if type(chain.mitigators[0]).fitting_texts is not Mitigator.fitting_texts
    }


@functools.cache
def spaced(text: str) -> str:
    """Return a text in lower case with a space around each word."""
    words = re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", text.casefold()))
    return f" {words.strip()} "


def fitted_by(name, chain, task, kind: Kind, registry):
    """Return the fitting texts and words of a mitigator for a task, and what the task has."""
    try:
        concept = concept_for(
            chain.in_language(task.file.language), name, task, MockEmbedder(kind).info,
            registry.concept("gender"), registry.concept_in,
        )  # fmt: skip
        texts = fitting_texts(chain, concept)
    except NotApplicable:
        return (), (), None
    alike = {spaced(text) for text in texts}
    judged = units(task.texts())
    words = tuple(fitting_words(texts, concept))
    same = (text for text in judged if spaced(text) in alike)
    return tuple(texts), words, Fitted([*texts, *same], words, ignoring_case=True)


def test_no_task_has_fitted_words_that_its_records_do_not_count(registry, mitigators):
    for data in filter(is_at_hand, DATA):
        check_counts_of_fitted_words(registry.task(data["name"]), registry, mitigators)


def check_counts_of_fitted_words(task, registry, mitigators):
    measurements = [
        {i.name: i for i in measurement.inputs.values() if i.texts}
        for scenario in task.scenarios
        for measurement in scenario.measurements
    ]
    read: dict[int, str] = {}
    for inputs in measurements:
        for input_ in inputs.values():
            if id(input_) not in read:
                read[id(input_)] = "\n".join(map(spaced, dict.fromkeys(input_.texts)))
    seen = set()  # most mitigators are fitted on the texts and words of another one
    for label, chain in mitigators.items():
        texts, words, fitted = fitted_by(label, chain, task, task.file.kinds[0], registry)
        if (texts, words) in seen:
            continue
        seen.add((texts, words))
        words = {spaced(text) for text in texts if len(spaced(text).split()) == 1}
        for inputs in measurements if words else ():
            parts = {part.input: part for part in fitted.word_overlap(inputs.values())}
            for input_name, input_ in inputs.items():
                present = [word for word in words if word in read[id(input_)]]
                assert parts[input_name].holding or not present, (task.name, label, present[:3])


def counts(name, label, registry, mitigators):
    task = registry.task(name)
    *_, fitted = fitted_by(label, mitigators[label], task, "text", registry)
    (measurement,) = [m for m in task.scenarios[0].measurements
                      if m.metric.name == task.file.primary.metric]  # fmt: skip
    inputs = measurement.inputs.values()
    parts = fitted.word_overlap(inputs)
    return {part.input: (part.holding, part.versions, part.texts) for part in parts}


def test_versions_of_sentences_that_differ_in_fitted_words_are_counted(registry, mitigators):
    """They stood at overlap 0: most sentences of these tasks have words of the fit."""
    expected = {
        "bec-pro-en": [(0, 0, 600), (10, 10, 10), (10, 10, 10)],
        "gest-en": [(11, 0, 640), (640, 640, 640), (640, 640, 640)],
        "nli-bias-occupations": [(0, 0, 720), (12, 12, 12), (12, 12, 12)],
        "winogender-similarity": [(0, 0, 60), (116, 116, 120), (120, 116, 120)],
    }
    for name, of_inputs in expected.items():
        found = counts(name, "hard-debias", registry, mitigators)
        names = ("sentences", "versions_1", "versions_2")
        assert found == dict(zip(names, of_inputs, strict=True)), name
