"""`harness cite`: the papers of exactly what a results folder was made with."""

from __future__ import annotations

import re

import pytest
from score_records import record

from harness.commands import cite
from harness.registry.registry import Registry
from harness.results.folder import ResultsFile


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture(scope="module")
def known(registry):
    return cite._read(registry, ())


@pytest.fixture
def folder(tmp_path):
    names = {"metric": "weat", "concept": "gender"}
    records = [
        record("weat-6").model_copy(update=names),
        record("weat-6", "hard-debias+leace").model_copy(update=names),
        record("crows-pairs").model_copy(update={"metric": "gone", "concept": None}),
    ]
    ResultsFile(tmp_path / "results", "m").add(records)
    return tmp_path / "results"


def test_exactly_the_papers_of_the_results_are_cited(harness, folder, tmp_path):
    said = harness("cite", folder)
    assert said.code == 0
    assert "% metric weat: caliskan2017, ethayarajh2019, may2019" in said.out
    assert "% metric gone: is not installed here" in said.out
    assert "% mitigator leace: belrose2023, ledoit2004" in said.out
    assert "% task crows-pairs: nangia2020" in said.out
    assert re.search("^% data of crows-pairs: data-", said.out, re.MULTILINE)
    entries = cite.read_entries(said.out)
    keys = [entry.key for entry in entries]
    assert keys[0] == "embedding-bias-harness"
    assert len(keys) == len(set(keys))
    cited = {
        key for line in re.findall("^% .*?: (.*)$", said.out, re.M) for key in line.split(", ")
    }
    assert set(keys) == cited - {"is not installed here"}
    assert not {"zhao2019", "manzini2019"} & set(keys)
    out = tmp_path / "new" / "refs.bib"
    assert harness("cite", folder, "--out", out).code == 0
    assert out.read_text("utf-8") == said.out
    assert harness("cite", folder, "--out", out).code == 2, "the file exists"


def test_a_folder_of_tasks_brings_its_own_entries_and_other_texts_are_kept(
    harness, folder, tmp_path
):
    text = "@misc{mine,\n  author = {Caliskan, A. and others},\n  year = {2017},\n}\n"
    assert cite.entries_of("Caliskan et al. (2017), equation 5", cite.read_entries(text))
    (kept,) = cite._unknown("task", "x_y", "Somebody (2020), 5 % of $1 & a_b")
    assert r"5 \% of \$1 \& a\_b" in kept.text
    assert "author = {{Somebody}},\n" in kept.text
    assert not cite._unknown("task", "x", "our own words")


def test_every_paper_that_a_part_names_has_an_entry(registry, known):
    texts = {name: cite.references(registry.metric(name).function) for name in registry.metrics}
    texts |= {name: cite._task(registry, name).source for name in registry.task_files}
    texts |= {name: registry.concept(name).source for name in registry.concept_files}
    assert len({entry.key for entry in known}) == len(known) > 80
    without = {
        name: text
        for name, text in texts.items()
        if len(cite.entries_of(text, known)) < len(set(re.findall(r"\(((?:1[89]|20)\d\d)\)", text)))
    }
    assert not without


def test_entries_have_what_their_type_needs_and_an_address(known):
    places = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}
    without_address = {"green2002", "yang2006"}
    for entry in known:
        kind = re.match(r"@(\w+)", entry.text)[1]
        fields = set(re.findall(r"^  (\w+) = \{.", entry.text, re.MULTILINE))
        assert {"author", "title", "year", places.get(kind, "title")} <= fields, entry.key
        assert fields & {"url", "doi"} or entry.key in without_address, entry.key


def test_entries_of_two_papers_of_one_author_and_year_need_their_titles(known):
    text = 'Zhao et al. (2018), "Learning gender-neutral word embeddings"'
    assert [entry.key for entry in cite.entries_of(text, known)] == ["zhao2018neutral"]
    assert [e.key for e in cite.entries_of("Wilson and Caliskan (2024)", known)] == ["wilson2024"]
