"""Sentences are read from a corpus line by line; errors name the line."""

from __future__ import annotations

import pytest

from harness.errors import InvalidFile, InvalidOption
from harness.plugins.bias_score import corpus


def read(tmp_path, content, *, kind="jsonl", keys=()):
    path = tmp_path / "corpus"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [tuple(sentence) for sentence in corpus.sentences(str(path), kind, keys)]


def test_json_lines_have_sentences_under_keys(tmp_path):
    content = '{"a": "One.", "b": " Two\\nlines. "}\n\n{"a": "", "b": "Three."}\n'
    assert read(tmp_path, content, keys=("a", "b")) == [
        (1, "a", "One."),
        (1, "b", "Two lines."),
        (3, "b", "Three."),
    ]


def test_a_table_has_columns_by_name_or_number(tmp_path):
    table = 'id\ttext\r\n1\tOne.\r\n2\t"Two.\r\n'
    assert read(tmp_path, table, kind="tsv") == [(2, "text", "One."), (3, "text", '"Two.')]
    assert read(tmp_path, "1\tOne.\n", kind="tsv", keys=("2",)) == [(1, "2", "One.")]


def test_plain_lines_are_sentences(tmp_path):
    assert read(tmp_path, "\ufeffOne.\n\nTwo.", kind="text") == [(1, "", "One."), (3, "", "Two.")]


@pytest.mark.parametrize(
    ("content", "kind", "keys", "location"),
    [
        ('{"text": "a"}\n{"text"\n', "jsonl", (), r"corpus:2: "),
        ("[1]\n", "jsonl", (), r"corpus:1: .*object"),
        (
            '{"premise": "a"}\n',
            "jsonl",
            ("premis",),
            r"corpus:1: premis: .*'premise'",
        ),
        ('{"text": null, "b": "c"}\n', "jsonl", (), r"corpus:1: text: .*\bb\b"),
        ("a\tb\n", "tsv", ("c",), r"corpus:1: c: "),
        ("a\tb\nx\n", "tsv", ("b",), r"corpus:2: .*\b2\b.*\b1\b"),
        (b"fine\n\xff\n", "text", (), r"corpus:2: .*UTF-8"),
    ],
)
def test_an_error_names_the_line_and_the_key(tmp_path, content, kind, keys, location):
    with pytest.raises(InvalidFile, match=location):
        read(tmp_path, content, kind=kind, keys=keys)


def test_a_missing_file_is_an_error():
    with pytest.raises(InvalidFile, match=r"nowhere\.txt.*no such file"):
        list(corpus.sentences("nowhere.txt", "text"))


def test_the_format_follows_from_the_file_extension():
    assert corpus.format_of("a.JSONL") == "jsonl"
    assert corpus.format_of("a.txt") == "text"
    with pytest.raises(InvalidOption, match=r"'a\.csv'.*--format"):
        corpus.format_of("a.csv")


def test_keys_are_invalid_for_plain_text(tmp_path):
    with pytest.raises(InvalidOption, match="--text-key"):
        read(tmp_path, "One.\n", kind="text", keys=("a",))


@pytest.mark.parametrize(("content", "lines"), [("", 0), ("a\nb", 2), ("a\nb\n", 2)])
def test_the_last_line_is_counted_without_a_newline(tmp_path, content, lines):
    path = tmp_path / "corpus.txt"
    path.write_text(content)
    assert corpus.count_lines(str(path)) == lines
    assert corpus.count_lines("-") is None
