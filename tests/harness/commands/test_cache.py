"""`harness cache`."""

from __future__ import annotations

import json

import pytest

from harness.store.answers import AnswerCache


@pytest.fixture
def filled(harness, toy, tmp_path):
    """Give the command line, with two models' embeddings stored."""
    for model in ("toy-letters", "toy-words"):
        said = harness("eval", "-m", model, "-t", "toy-places", "-r", tmp_path / "results",
                       "--concept", "none")  # fmt: skip
        assert said.code == 0, said.err
    return harness


def stored(run):
    return {
        row["model"]: row["texts"]
        for row in json.loads(run("cache", "info", "--json").out)["stores"]
    }


def test_an_empty_cache_is_told(harness, cache):
    said = harness("cache", "info")
    assert (said.code, said.out) == (0, f"nothing is stored in {cache}/embeddings\n")
    assert harness("cache", "verify").out == "0 segments, 0 damaged\n"
    assert harness("cache", "prune").code == 0


def test_what_is_stored_is_shown(filled):
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}
    table = filled("cache", "info").out
    assert "toy-letters" in table
    assert "last used" in table


def test_another_folder_may_be_named(filled, tmp_path):
    said = filled("cache", "info", "--cache", tmp_path / "other")
    assert said.out == f"nothing is stored in {tmp_path}/other\n"


def test_whole_segments_are_whole(filled):
    said = filled("cache", "verify")
    assert (said.code, said.out) == (0, "2 segments, 0 damaged\n")


def test_a_damaged_segment_is_told_set_aside_and_made_again(filled, toy, cache, tmp_path):
    (segment,) = cache.rglob("letters*/*.safetensors")
    content = bytearray(segment.read_bytes())
    content[-1] ^= 0xFF
    segment.write_bytes(content)
    said = filled("cache", "verify")
    assert said.code == 1
    assert "2 segments, 1 damaged" in said.out
    assert segment.name in said.out
    assert stored(filled)["toy-words"] == 6
    assert stored(filled).get("toy-letters", 0) == 0
    toy.clear()
    again = filled("eval", "-m", "toy-letters", "-t", "toy-places", "-r", tmp_path / "r2",
                   "--concept", "none")  # fmt: skip
    assert again.code == 0
    assert len(toy) == 6
    assert filled("cache", "verify").code == 0


def test_a_models_embeddings_are_removed_by_name(filled):
    said = filled("cache", "prune", "--model", "toy-words")
    assert said.code == 0
    assert said.out.startswith("removed 1 store and 0 leftovers")
    assert stored(filled) == {"toy-letters": 6}


def test_pruning_without_a_wish_removes_no_store(filled):
    assert filled("cache", "prune").out.startswith("removed 0 stores")
    assert filled("cache", "prune", "--unused-days", "1").out.startswith("removed 0 stores")
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}


def test_everything_is_removed_for_no_room(filled):
    assert filled("cache", "prune", "--max-gb", "0").out.startswith("removed 2 stores")
    assert stored(filled) == {}


@pytest.mark.parametrize("option", ["--unused-days", "--max-gb"])
def test_less_than_nothing_is_no_limit_to_prune_by(filled, option):
    said = filled("cache", "prune", option, "-1")
    assert said.code == 2
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}


def test_a_model_of_which_nothing_is_stored_is_told(filled):
    said = filled("cache", "prune", "--model", "toy-leters")
    assert said.code == 2
    assert said.err.startswith(
        "harness: unknown stored model 'toy-leters'; did you mean 'toy-letters'"
    )
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}


def test_settings_of_one_model_are_told_apart_by_the_end_of_their_fingerprint():
    from harness.commands.cache import _end

    assert _end("sentence-transformers-" + "a" * 32) == "…" + "a" * 12
    assert _end("mock-text-16") == "mock-text-16"


def test_as_json_the_fingerprint_is_whole_and_the_keys_are_names(filled):
    (row, _) = json.loads(filled("cache", "info", "--json").out)["stores"]
    assert list(row) == ["model", "fingerprint", "texts", "segments", "bytes", "last_used"]
    assert row["bytes"] > 0


def test_kept_answers_are_shown_and_removed_when_asked(filled, cache):
    AnswerCache("mentions", "model 1").add({"text": "answer"})
    (row,) = json.loads(filled("cache", "info", "--json").out)["answers"]
    assert row["answers"].startswith("mentions-")
    assert "answers of" in filled("cache", "info").out
    assert filled("cache", "prune").code == 0
    assert list(cache.rglob("*.sqlite"))
    assert "removed 1 file of answers" in filled("cache", "prune", "--answers").out
    assert not list(cache.rglob("*.sqlite"))
    assert stored(filled) == {"toy-letters": 6, "toy-words": 6}
