"""What models are called in records: of each provider, without a path of this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.commands.main import run
from harness.registry.registry import Registry

WORDS = ["the", "nurse", "is", "a", "man", "woman", "good", "bad", "query", "hello", "world"]
TASK = """\
name: mine
version: 1
title: Mine
category: gender
inputs:
  targets_1: {words: [man, nurse]}
  targets_2: {words: [woman, world]}
  attributes_1: {words: [good, the]}
  attributes_2: {words: [bad, hello]}
metrics: {weat: {}}
primary: {metric: weat, score: effect_size}
"""


@pytest.fixture
def home(tmp_path, monkeypatch, built_model):
    """A home folder with a model of each kind that has files, and a task."""
    folder = tmp_path / "home" / "secret-place"
    shutil.copytree(built_model, folder / "encoder")
    rng = np.random.default_rng(1)
    lines = [f"{w} {' '.join(f'{x:.3f}' for x in rng.standard_normal(4))}\n" for w in WORDS]
    (folder / "glove.4d.txt").write_text("".join(lines))
    lstm = folder / "lstm"
    lstm.mkdir()
    config = {"model_type": "infersent", "word_dimensions": 4, "hidden_size": 3}
    (lstm / "config.json").write_text(json.dumps(config | {"start": "a", "end": "a"}))
    shapes = {"weight_ih_l0": (12, 4), "weight_hh_l0": (12, 3)}
    shapes |= {"bias_ih_l0": (12,), "bias_hh_l0": (12,)}
    weights = {
        f"enc_lstm.{name}{end}": rng.standard_normal(shape).astype(np.float32)
        for name, shape in shapes.items()
        for end in ("", "_reverse")
    }
    save_file(weights, lstm / "model.safetensors")
    (folder / "mine.yaml").write_text(TASK)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


MODELS = {
    "sentence-transformers:{}/encoder?normalize=true": "encoder?normalize=true",
    "last-token:{}/encoder?pooling=mean": "last-token:encoder?pooling=mean",
    "~/secret-place/glove.4d.txt?name=ours": "ours",
    "bag-of-words:vectors:{}/glove.4d.txt": "bag-of-words:glove.4d",
    "infersent:{}/lstm?vectors={}/glove.4d.txt": "lstm?vectors=glove.4d.txt",
}
"""Names as users type them, and their labels."""


def test_records_have_the_label_and_no_path(home, tmp_path, capsys):
    results = tmp_path / "results"
    models = [part for name in MODELS for part in ("-m", name.replace("{}", str(home)))]
    command = ["eval", *models, "-t", str(home / "mine.yaml"), "--results", str(results)]
    assert run(command) == 0, capsys.readouterr().err
    labels = set()
    for file in results.glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        labels |= {line["model"]["name"] for line in lines}
        for text in (str(tmp_path), "secret-place", str(Path.home())):
            assert text not in file.read_text("utf-8")
            assert text.replace("/", "_") not in file.name
    assert labels == set(MODELS.values())


def test_what_is_no_model_is_one_line(home, capsys):
    for place, fact in {
        "mine.yaml": "not recognised as a model",
        "": "not recognised as a model",
        "absent": "no such file or folder",
    }.items():
        assert run(["eval", "-m", str(home / place), "-t", str(home / "mine.yaml")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert fact in error


def test_a_registered_model_is_found_by_its_id_on_the_hub():
    find = Registry().models.find
    for name in (
        "sentence-transformers/all-MiniLM-L6-v2",
        "sentence-transformers:sentence-transformers/all-MiniLM-L6-v2",
    ):
        assert find(name).spec.name == "all-MiniLM-L6-v2"
    assert find("mistralai/Mistral-7B-Instruct-v0.3").spec.provider  # that card has options
    assert find("owner/other").spec.name == "sentence-transformers"


def test_a_label_has_the_options_that_differ_and_change_vectors():
    for name, label in {
        "xlm-roberta-base?pooling=mean": "xlm-roberta-base",
        "xlm-roberta-base?pooling=cls": "xlm-roberta-base?pooling=cls",
        "last-token:owner/model?device_map=auto&eos=true": "last-token:owner/model?eos=true",
        "openai:m?base_url=http://h:1/v1&key=MY_KEY&timeout=1": "openai:m?base_url=http://h:1/v1",
    }.items():
        assert Registry().models.label(name) == label
