"""`harness compare` on the toy model, and its exit codes."""

from __future__ import annotations

import json

import pytest

import harness as package
from harness.run import evaluation


@pytest.fixture
def compare(harness, toy, tmp_path):
    """Run `harness compare` on the toy model under its mitigator, with further arguments."""

    def run(*arguments):
        options = ["-r", tmp_path / "results", "--concept", "toy-place", "--quiet"]
        tasks = ["-t", "toy-places,toy-ratings"]
        return harness(
            "compare", "-m", "toy-letters", "-M", "toy-shift", *tasks, *options, *arguments
        )

    return run


def test_bias_that_could_not_be_measured_has_its_own_exit_code(compare, tmp_path):
    said = compare()
    assert said.code == 4
    assert "toy-letters under toy-shift beside toy-letters under none" in said.out
    assert "fails: bias was not measured: no task counts in both (exit code 4)" in said.out
    assert list((tmp_path / "results" / "samples").iterdir())


def test_it_prints_json_and_markdown(compare):
    content = json.loads(compare("--json").out)
    assert [failure["code"] for failure in content["failures"]] == [4]
    assert content["left_out"]["bias"]
    assert compare("--markdown").out.startswith("## toy-letters under toy-shift beside")


def test_the_page_is_one_file_with_models_tasks_and_limits(compare, tmp_path):
    page = tmp_path / "verdict.html"
    assert compare("--html", page).code == 4
    content = page.read_text()
    for text in ("toy-letters under toy-shift", "toy-ratings", "What was measured", "Limits"):
        assert text in content
    assert "asked: fail on more" in content
    assert "fails: bias was not measured" in content
    assert "<script" not in content
    assert "http" not in content, "nothing is loaded from elsewhere"


def test_a_named_task_that_does_not_run_is_no_pass(harness, toy, tmp_path):
    said = harness(
        "compare", "-m", "toy-letters", "-M", "toy-shift", "-t", "toy-places,toy-ratings",
        "-t", "weat-6", "-r", tmp_path, "--concept", "toy-place", "--fail-on", "never", "--quiet",
    )  # fmt: skip
    assert said.code == 1
    assert "fails: not run: toy-letters under none on weat-6" in said.out
    assert "passes" not in said.out


def test_python_returns_the_same_object(toy, tmp_path):
    verdict = package.compare_models(
        "toy-letters", mitigator="toy-shift", tasks=["toy-places", "toy-ratings"],
        concept="toy-place", results=tmp_path,
    )  # fmt: skip
    assert verdict.names == ("toy-letters under none", "toy-letters under toy-shift")
    assert verdict.overall("usefulness").tasks == 1
    assert list((tmp_path / "samples").iterdir())


def test_tasks_of_screening_are_shown_and_not_among_the_results(toy, tmp_path, monkeypatch):
    """A comparison of the recorded scores says the same: they do not count there either."""
    monkeypatch.setattr(evaluation, "SCREENING", "toy-ratings")
    verdict = package.compare_models(
        "toy-letters", mitigator="toy-shift", tasks="toy-places", concept="toy-place",
        results=tmp_path, screening=True,
    )  # fmt: skip
    assert {record.task.name for record in verdict.screened} == {"toy-ratings"}
    recorded = package.read_results(tmp_path)
    assert {record.task.name for record in recorded} == {"toy-places"}
    sides = (recorded.select(mitigator=name) for name in ("none", "toy-shift"))
    assert package.compare(*sides).verdict.differences == verdict.differences


def test_seeds_are_one_model_beside_the_base(toy):
    verdict = package.compare_models(
        ["toy-letters"] * 3, base="toy-letters", tasks="toy-ratings", concept="toy-place"
    )
    assert verdict.seeds == 3
    assert verdict.names[1].startswith("3 seeds (toy-letters")
    assert verdict.overall("usefulness").words == "equal"


def test_a_mistake_in_the_last_name_is_found_before_a_text_is_encoded(harness, toy):
    said = harness("compare", "-m", "toy-lettres", "-b", "toy-letters", "--quiet")
    assert said.code == 2
    assert "toy-lettres" in said.err
    said = harness("compare", "-m", "toy-letters", "-M", "toy-shft", "--quiet")
    assert said.code == 2
    assert "unknown mitigator 'toy-shft'" in said.err
    assert toy == []


def test_vectors_of_words_are_not_compared_with_vectors_of_texts(harness, toy):
    said = harness("compare", "-m", "toy-words", "-b", "toy-letters", "--quiet")
    assert said.code == 2
    assert "'toy-words' has vectors of words and 'toy-letters' of texts" in said.err
