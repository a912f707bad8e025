"""`harness cache`."""

from __future__ import annotations

import json
import os
import time

import pytest

from harness.store.answers import AnswerCache


@pytest.fixture
def filled(harness, toy, tmp_path):
    """Return the command line, after the embeddings of two models were stored."""
    for model in ("toy-letters", "toy-words"):
        result = harness("eval", "-m", model, "-t", "toy-places", "-r", tmp_path / "results",
                       "--concept", "none")  # fmt: skip
        assert result.code == 0, result.err
    return harness


def stored(run):
    return {
        row["model"]: row["texts"]
        for row in json.loads(run("cache", "info", "--json").out)["stores"]
    }


def test_info_shows_the_stored_models(filled):
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}
    table = filled("cache", "info").out
    assert "toy-letters" in table
    assert "last used" in table


def test_a_damaged_segment_is_made_again(filled, toy, cache, tmp_path):
    (segment,) = cache.rglob("letters*/*.safetensors")
    segment.write_bytes(segment.read_bytes()[:-1])
    toy.clear()
    again = filled("eval", "-m", "toy-letters", "-t", "toy-places", "-r", tmp_path / "r2",
                   "--concept", "none")  # fmt: skip
    assert again.code == 0
    assert segment.name in again.err
    assert len(toy) == 6
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}


def test_prune_removes_a_model_by_name(filled):
    result = filled("cache", "prune", "--model", "toy-words")
    assert result.code == 0
    assert result.out.startswith("removed 1 store and 0 leftovers")
    assert stored(filled) == {"toy-letters": 6}


def test_prune_to_0_gb_removes_everything(filled):
    assert filled("cache", "prune", "--max-gb", "0").out.startswith("removed 2 stores")
    assert stored(filled) == {}


def test_cached_answers_are_shown_and_pruned_on_request(filled, cache):
    AnswerCache("mentions", "model 1").add({"text": "answer"})
    (row,) = json.loads(filled("cache", "info", "--json").out)["answers"]
    assert row["answers"].startswith("mentions-")
    assert row["answers"] in filled("cache", "info").out
    assert filled("cache", "prune").code == 0
    assert list(cache.rglob("*.sqlite"))
    assert "removed 1 file of answers" in filled("cache", "prune", "--answers").out
    assert not list(cache.rglob("*.sqlite"))
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}


def test_prune_removes_graphs_that_were_not_used(filled, cache):
    old = time.time() - 40 * 86_400
    for folder in ("used", "unused", ".unused.0a1b2c3d.tmp"):
        (cache / "graphs" / folder).mkdir(parents=True)
        (cache / "graphs" / folder / "openvino_model.bin").write_bytes(b"weights")
        if folder != "used":
            os.utime(cache / "graphs" / folder, (old, old))
    assert "removed 2 graphs, freed 0.0 MB" in filled("cache", "prune").out
    assert [path.name for path in (cache / "graphs").iterdir()] == ["used"]
    _, graphs = filled("cache", "prune", "--unused-days", "0").out.splitlines()
    assert graphs == "removed 1 graph, freed 0.0 MB"
