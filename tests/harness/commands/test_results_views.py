"""`harness results items`, `show --tables` and `figures`: what lies behind and beside scores."""

from __future__ import annotations

import json
import re

import pytest
from score_records import record

from harness.results.folder import ResultsFile

WORDS = ("<i>nurse", "writer", "miner", "coach")


@pytest.fixture
def folder(tmp_path):
    """The projections of four professions by two models; the second lacks a word."""
    for model, projections in (("one", (-0.4, 0.1, 0.2, 0.3)), ("two", (-0.5, 0.3, 0.2, None))):
        rows = [
            {"input": "occupations", "text": word, "projection": value, "contribution": 1.0}
            for word, value in zip(WORDS, projections, strict=True)
            if value is not None
        ]
        table = {"extremes": [{"first": "nurse", "second": "coach"}]}
        kept = record("professions", model=model).keeping(table, rows)
        ResultsFile(tmp_path / "results", model).add([kept])
        other = record("professions", model=model, scenario="all", primary=False)
        ResultsFile(tmp_path / "results", model).add([other.keeping({}, rows[:2])])
    return tmp_path / "results"


def test_items_are_joined_by_their_text_and_correlated(harness, folder):
    line = ("results", "items", "one", "two", "-r", folder, "--column", "projection")
    said = harness(*line)
    assert said.code == 0
    assert "0.500" in said.out, "the ranks of the three shared words are 1 2 3 and 1 3 2"
    (part,) = json.loads(harness(*line, "--json").out)
    assert (part["context"], part["task"], part["n"]) == ("none", "professions", 3)
    assert part["spearman"] == pytest.approx(0.5)
    assert part["items"][0] == {"text": "<i>nurse", "a": -0.4, "b": -0.5}


@pytest.fixture
def with_table(tmp_path):
    """A results folder, in which a score that is not the primary one has a table."""
    pairs = [{"triplet": 1, "cosine": 0.25, "text": "Zuri slept."}]
    named = record("t", scenario="all", primary=False).keeping({"pairs": pairs}, None)
    ResultsFile(tmp_path / "results" / "deep", "m").add([named, record("u")])
    return tmp_path / "results"


def test_show_prints_the_tables_beside_the_scores(harness, with_table):
    said = harness("results", "show", with_table, "--tables", "*")
    assert said.code == 0
    assert "m, none, t (all), effect_size: pairs" in said.out
    assert "0.250" in said.out
    assert "Zuri slept." in said.out
    (table,) = json.loads(harness("results", "show", with_table, "--tables", "pairs", "--json").out)
    assert table["table"] == "pairs"
    assert table["rows"] == [{"triplet": 1, "cosine": 0.25, "text": "Zuri slept."}]


def test_a_table_outside_the_results_folder_is_not_read(harness, with_table):
    file = with_table / "deep" / "m.jsonl"
    (table,) = (with_table / "deep" / "tables").iterdir()
    table.rename(with_table / table.name)
    lines = re.sub(',"check":"[0-9a-f]+"', "", file.read_text())
    file.write_text(lines.replace(f"tables/{table.name}", f"../{table.name}"))
    said = harness("results", "show", with_table, "--tables", "*")
    assert (said.code, said.out) == (2, "")
    assert f"'../{table.name}'" in said.err


def test_figures_lists_what_can_be_drawn(harness, folder, tmp_path):
    line = ("results", "figures", folder)
    (row,) = json.loads(harness(*line, "-m", "one", "--name", "extremes", "--json").out)
    assert (row["scenario"], row["figure"]) == ("default", "extremes")
    ResultsFile(tmp_path / "bare", "m").add([record("professions")])
    assert "no figure" in harness("results", "figures", tmp_path / "bare").out


def test_tables_of_two_rows_are_drawn_in_one_of_the_primary_scenario(harness, tmp_path):
    rows = [{"first": "she", "second": "he", "accuracy": 0.5}]
    for mitigator in ("none", "leace"):
        for scenario in ("default", "other"):
            own = {"scenario": scenario, "primary": scenario == "default"}
            kept = record("ratings", mitigator).model_copy(update=own)
            kept = kept.model_copy(update={"id": kept.identity()})
            ResultsFile(tmp_path / "results", "m").add([kept.keeping({"a": rows, "b": rows}, None)])
    page = tmp_path / "both.svg"
    line = ("results", "figures", tmp_path / "results", "--out", page)
    assert "--name" in harness(*line).err
    assert harness(*line, "--name", "a").code == 0
    text = page.read_text("utf-8")
    assert "she : he" in text
    assert "leace: accuracy" in text
    assert "other" not in text
    assert harness(*line, "--name", "a").code == 2, "the page exists"
    said = harness(*line, "--name", "c", "--overwrite")
    assert said.code == 2
    assert "'c'" in said.err


def test_the_items_of_a_task_are_drawn_in_one_and_other_suffixes_are_mistakes(
    harness, folder, tmp_path
):
    line = ("results", "figures", folder, "--name", "items", "--scenario", "default")
    for suffix, begin in ((".svg", b"<?xml"), (".pdf", b"%PDF-"), (".png", b"\x89PNG")):
        out = tmp_path / f"items{suffix}"
        assert harness(*line, "--out", out).code == 0
        assert out.read_bytes().startswith(begin)
    text = (tmp_path / "items.svg").read_text("utf-8")
    assert "occupations, one" in text
    assert "occupations, two" in text
    said = harness(*line, "--out", tmp_path / "items.html")
    assert said.code == 2
    assert ".svg, .pdf, .png" in said.err
    assert not (tmp_path / "items.html").exists()
