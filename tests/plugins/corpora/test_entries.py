"""Corpora are read entry by entry, whatever their format; errors name the line."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import InvalidFile, InvalidOption, Unavailable
from harness.plugins.corpora.entries import BLANK, NO_LABEL, count, entries, format_of


def read(tmp_path, content, kind="jsonl", **options):
    path = tmp_path / "corpus"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(entries(str(path), kind, **options))


def brief(found):
    return [(entry.line, entry.texts, entry.label) for entry in found]


def test_json_lines_have_sentences_under_keys(tmp_path):
    content = '{"a": "One.", "b": " Two\\nlines. "}\n\n{"a": "Three.", "b": "Four.", "c": 5}\n'
    first, second = read(tmp_path, content, keys=("a", "b"))
    assert (first.line, first.texts, first.keys) == (1, ("One.", "Two lines."), ("a", "b"))
    assert second.row == {"a": "Three.", "b": "Four.", "c": 5}


def test_pairs_are_recognised_by_their_keys(tmp_path):
    pairs = '{"premise": "A.", "hypothesis": "B.", "label": "neutral", "id": "x"}\n'
    (pair,) = read(tmp_path, pairs)
    assert (pair.texts, pair.label) == (("A.", "B."), "neutral")
    assert pair.row == {"premise": "A.", "hypothesis": "B.", "label": "neutral", "id": "x"}
    graded = '{"sentence1": "A.", "sentence2": "B.", "score": 4}\n'
    assert brief(read(tmp_path, graded)) == [(1, ("A.", "B."), 4.0)]
    assert brief(read(tmp_path, '{"text": "A."}\n')) == [(1, ("A.",), None)]


def test_a_table_has_columns_by_name_or_number(tmp_path):
    table = 'id\ttext\r\n1\tOne.\r\n2\t"Two.\r\n'
    assert brief(read(tmp_path, table, "tsv")) == [(2, ("One.",), None), (3, ('"Two.',), None)]
    assert brief(read(tmp_path, "1\tOne.\n", "tsv", keys=("2",))) == [(1, ("One.",), None)]


def test_plain_lines_are_sentences(tmp_path):
    dropped = Counter()
    found = read(tmp_path, "\ufeffOne.\n\nTwo.", "text", dropped=dropped)
    assert brief(found) == [(1, ("One.",), None), (3, ("Two.",), None)]
    assert not dropped


SNLI = {
    "gold_label": "neutral",
    "sentence1": "A man sleeps.",
    "sentence2": "He dreams.",
    "sentence1_parse": "(ROOT …)",
    "sentence2_binary_parse": "( He dreams )",
    "pairID": "7#1",
}


@pytest.mark.parametrize("kind", ["snli", "multinli", "jsonl"])
def test_snli_is_read_as_published(tmp_path, kind):
    dropped = Counter()
    lines = [SNLI, SNLI | {"gold_label": "-"}, SNLI | {"sentence2": " "}]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    (entry,) = read(tmp_path, content, kind, dropped=dropped)
    assert entry.texts == ("A man sleeps.", "He dreams.")
    assert entry.row == {
        "label": "neutral",
        "premise": "A man sleeps.",
        "hypothesis": "He dreams.",
        "pairID": "7#1",
    }
    assert dropped == {NO_LABEL: 1, BLANK: 1}


def test_the_tables_of_snli_and_of_the_hub_are_read(tmp_path):
    table = "gold_label\tsentence1\tsentence2\nentailment\tA.\tB.\n-\tA.\tC.\n"
    dropped = Counter()
    assert brief(read(tmp_path, table, "snli", dropped=dropped)) == [
        (2, ("A.", "B."), "entailment")
    ]
    assert dropped[NO_LABEL] == 1
    numbers = '{"premise": "A.", "hypothesis": "B.", "label": 2}\n'
    assert read(tmp_path, numbers, "snli")[0].row["label"] == "contradiction"


def test_the_sts_benchmark_is_read_with_and_without_a_header(tmp_path):
    published = 'main\tMSRvid\t2012\t01\t3.800\tA "man.\tB.\tlicence\n'
    (entry,) = read(tmp_path, published, "stsb")
    assert (entry.texts, entry.label) == (('A "man.', "B."), 3.8)
    assert entry.row["score"] == 3.8
    glue = "index\tgenre\tsentence1\tsentence2\tscore\n0\tmain\tA.\tB.\t5.000\n"
    assert brief(read(tmp_path, glue, "stsb")) == [(2, ("A.", "B."), 5.0)]


MISTAKES = [
    ('{"text": "a"}\n{"text"\n', "jsonl", (), r"corpus:2: "),
    ("[1]\n", "jsonl", (), r"corpus:1: .*object"),
    ('{"text": null, "b": "c"}\n', "jsonl", (), r"corpus:1: text: .*\bb\b"),
    ("a\tb\n\n1\t2\n", "tsv", ("c",), r"corpus:3: c: "),
    ("a\tb\nx\n", "tsv", ("b",), r"corpus:2: b: "),
    ("text\tlabel\nHe left\tx\nShe\tleft\ty\n", "tsv", (), r"corpus:3: .*2 cells.*3: 'y'"),
    ('{"text": "a", "text": "b"}\n', "jsonl", (), r"corpus:1: .*'text' stands twice"),
    (b"fine\n\xff\n", "text", (), r"corpus:2: .*UTF-8"),
    (json.dumps(SNLI | {"gold_label": "neutrl"}), "snli", (), r"corpus:1: label: .*'neutral'"),
    ("a\tb\tc\td\t5.1\tA.\tB.\n", "stsb", (), r"corpus:1: score: '5\.1'"),
    ("a\tb\tc\td\n", "stsb", (), r"corpus:1: sentence1: "),
]


def test_an_error_names_the_line_and_the_key(tmp_path):
    for content, kind, keys, location in MISTAKES:
        with pytest.raises(InvalidFile, match=location):
            read(tmp_path, content, kind, keys=keys)


def test_the_format_follows_from_the_file_extension():
    assert format_of("a.JSONL") == "jsonl"
    assert format_of("a.txt") == "text"
    assert format_of("-") == "text"
    with pytest.raises(InvalidOption, match=r"'a\.csv'.*--format.*stsb"):
        format_of("a.csv")


def test_the_last_line_is_counted_without_a_newline(tmp_path):
    path = tmp_path / "corpus.txt"
    for content, lines in (("", 0), ("a\nb", 2), ("a\nb\n", 2)):
        path.write_text(content)
        assert count(str(path)) == lines
    assert count("-") is None


CARD = """---
configs:
- config_name: default
  data_files:
  - {split: train, path: train.jsonl}
  - {split: test, path: test.jsonl}
dataset_info:
  features:
  - {name: premise, dtype: string}
  - {name: hypothesis, dtype: string}
  - name: label
    dtype:
      class_label:
        names: {'0': entailment, '1': neutral, '2': contradiction}
---
"""


@pytest.fixture
def data_set(tmp_path, monkeypatch):
    """A data set as the hub has it, in a folder: the library reads both alike."""
    pytest.importorskip("datasets")
    folder = tmp_path / "owner" / "name"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    for split, labels in {"train": [1, -1, 2], "test": [0]}.items():
        rows = [{"premise": "A.", "hypothesis": f"{split} {i}", "label": i} for i in labels]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return "hf://owner/name"


def test_a_data_set_of_the_hub_has_the_names_of_its_labels(data_set):
    dropped = Counter()
    assert [entry.label for entry in entries(data_set, dropped=dropped)] == [
        "neutral",
        "contradiction",
    ]
    assert dropped == {NO_LABEL: 1}
    assert count(data_set) is None  # unknown before the end
    both = list(entries(data_set, split="train+test"))
    assert [entry.line for entry in both] == [1, 3, 4]
    assert both[-1].label == "entailment"


def test_a_data_set_that_cannot_be_had_is_one_clear_line(data_set, monkeypatch):
    with pytest.raises(InvalidOption, match=r"--split tset.*'test'"):
        list(entries(data_set, split="tset"))
    with pytest.raises(InvalidOption, match="hf://owner/name@revision"):
        list(entries("hf://name"))
    with pytest.raises(Unavailable, match="hf://owner/other"):
        list(entries("hf://owner/other"))
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(Unavailable, match=r"embedding-bias-harness\[train\]"):
        list(entries(data_set))


def test_the_shared_corpora_are_read_whole():
    folder = os.environ.get("HARNESS_DATA")
    if not folder:
        pytest.skip("HARNESS_DATA is not set")
    root = Path(folder)
    assert sum(1 for _ in entries(str(root / "stsb/sts-train.csv"), "stsb")) == 5749
    labels = Counter(entry.label for entry in entries(str(root / "snli/dev_1k.jsonl")))
    assert sum(labels.values()) == 1000
    assert set(labels) == {"entailment", "neutral", "contradiction"}
