"""Reading a corpus line by line, and what it says of mistakes."""

from __future__ import annotations

import pytest

from harness.errors import InvalidFile, InvalidOption
from harness.plugins.bias_score import corpus


def read(tmp_path, content, *, kind="jsonl", keys=()):
    path = tmp_path / "corpus"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [tuple(found) for found in corpus.sentences(str(path), kind, keys)]


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
    ("content", "kind", "keys", "told"),
    [
        ('{"text": "a"}\n{"text"\n', "jsonl", (), r"corpus:2: no JSON"),
        ("[1]\n", "jsonl", (), r"corpus:1: expected a JSON object"),
        (
            '{"premise": "a"}\n',
            "jsonl",
            ("premis",),
            r"corpus:1: premis: no such key; did you mean",
        ),
        ('{"text": null, "b": "c"}\n', "jsonl", (), r"corpus:1: text: no text.*b"),
        ("a\tb\n", "tsv", ("c",), r"corpus:1: c: no such column"),
        ("a\tb\nx\n", "tsv", ("b",), r"corpus:2: expected at least 2 columns, not 1"),
        (b"fine\n\xff\n", "text", (), r"corpus:2: not UTF-8"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, content, kind, keys, told):
    with pytest.raises(InvalidFile, match=told):
        read(tmp_path, content, kind=kind, keys=keys)


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(InvalidFile, match="No such file"):
        list(corpus.sentences("nowhere.txt", "text"))


def test_the_ending_tells_the_format():
    assert corpus.format_of("a.JSONL") == "jsonl"
    assert corpus.format_of("a.txt") == "text"
    with pytest.raises(InvalidOption, match=r"'a\.csv'.*--format"):
        corpus.format_of("a.csv")


def test_keys_are_not_for_plain_text(tmp_path):
    with pytest.raises(InvalidOption, match="plain text"):
        read(tmp_path, "One.\n", kind="text", keys=("a",))


@pytest.mark.parametrize(("content", "lines"), [("", 0), ("a\nb", 2), ("a\nb\n", 2)])
def test_lines_are_counted_with_the_last(tmp_path, content, lines):
    path = tmp_path / "corpus.txt"
    path.write_text(content)
    assert corpus.count_lines(str(path)) == lines
    assert corpus.count_lines("-") is None
