"""Tables of a task: where their files are found, how they are parsed, and their mistakes."""

from __future__ import annotations

import csv
import gzip
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import limits
from harness.errors import HarnessError, InvalidFile
from harness.task import data_files
from harness.task.schema import Table

TASK = """\
name: mine
version: 1
title: Mine
category: places
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
inputs:
  targets_1: {table: t, column: word, where: {side: "1"}}
  targets_2: {table: t, column: word, where: {side: "2"}}
tables:
"""
ROWS = "word\tside\na\t1\nb\t2\n"


@pytest.fixture
def texts(registry, write):
    """Resolve a task with a table; return the texts of its two inputs."""

    def resolve(table):
        path = write("mine.yaml", f"{TASK}  t: {{{table}}}\n")
        inputs = registry.task_file(path).scenarios[0].inputs
        return inputs["targets_1"].texts, inputs["targets_2"].texts

    return resolve


@pytest.fixture
def mistake(texts, tmp_path):
    """Check that a table gives an error `at` a place ("a.tsv:3"), with the facts `of` it."""

    def check(table, *, at="", of=(), error=InvalidFile):
        with pytest.raises(HarnessError) as caught:
            texts(table)
        assert type(caught.value) is error
        message = str(caught.value).replace(f"{tmp_path}/", "")
        assert message.startswith(at)
        for fact in of:
            assert fact in message

    return check


@pytest.mark.parametrize(
    ("name", "content", "table"),
    [
        ("a.tsv", ROWS, "file: a.tsv"),
        ("a.csv", "word,side\na,1\nb,2\n", "file: a.csv"),
        ("a.txt", "a|1\nb|2\n", "file: a.txt, delimiter: '|', columns: [word, side]"),
        ("a.csv", '# note\n\n"a","1"\n"b","2"\n', "file: a.csv, comment: '#', quoted: true, "
         "columns: [word, side]"),
        ("a.jsonl", '{"word": "a", "side": "1"}\n{"word": "b", "side": "2"}\n', "file: a.jsonl"),
        ("a.tsv", "word\tside\r\na\t1\r\nb\t2\r\n", "file: a.tsv"),
        ("a.txt", "a:1 x\nb:2 y\n", "file: a.txt, delimiter: ' :', columns: [word, side, more]"),
        ("a.txt", ": 1\na x\n: 2\nb y\n", "file: a.txt, delimiter: ' ', section: side, "
         "columns: [word, more]"),
        ("a.jsonl", "a\t1\nb\t2\n", "file: a.jsonl, columns: [word, side]"),
        ("a.csv", "word,side\ra,1\rb,2\r", "file: a.csv"),
        ("a.tsv", "\ufeffword\tside\na\t1\nb\t2\n", "file: a.tsv"),
        ("a.csv", ",word,side\n0,a,1\n1,b,2\n", "file: a.csv"),
        ("a.csv", "word,side,more\na,1\nb,2,x\n",
         "file: a.csv, columns: [word, side], optional: [more], comment: word"),
    ],
)  # fmt: skip
def test_a_file_beside_the_task_is_read(texts, write, name, content, table):
    write(name, content)
    assert texts(table) == (("a",), ("b",))


def test_rows_may_be_written_in_the_task(texts):
    assert texts('columns: [word, side], rows: [[a, "1"], [b, "2"]]') == (("a",), ("b",))


def test_a_row_is_kept_if_its_cell_is_one_of_a_list(registry, write):
    write("a.tsv", "word\tside\na\t1\nb\t2\nc\t3\n")
    task = TASK.replace('{side: "2"}', '{side: ["2", 3]}')
    path = write("mine.yaml", f"{task}  t: {{file: a.tsv}}\n")
    assert registry.task_file(path).scenarios[0].inputs["targets_2"].texts == ("b", "c")


def test_a_compressed_file_is_read_like_the_file_in_it(texts, tmp_path):
    content = b"word,side\na,1\nb,2\n"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    sha256 = hashlib.sha256(content).hexdigest()
    assert texts(f"file: a.csv.gz, sha256: {sha256}") == (("a",), ("b",))


def test_a_compressed_file_that_is_damaged_is_an_error(mistake, tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(ROWS.encode())[:-9])
    mistake("file: a.tsv.gz", at="a.tsv.gz: ")


def test_a_file_lies_beside_the_fragment_that_names_it(registry, write):
    write("family/data/a.tsv", ROWS)
    write("family/_tables.yaml", "tables: {t: {file: data/a.tsv}}\n")
    write("concepts/c.yaml", "name: c")  # what makes a folder one of task files
    task = TASK.replace("tables:\n", "include: ../family/_tables.yaml\n")
    path = write("other/mine.yaml", task)
    assert registry.task_file(path).scenarios[0].inputs["targets_1"].texts == ("a",)


@pytest.mark.parametrize("path", ["../a.tsv", "/etc/passwd", "sub/../../a.tsv", "c:a.tsv", ""])
@pytest.mark.parametrize("key", ["file", "local"])
def test_a_path_outside_the_folder_is_an_error(mistake, key, path):
    mistake(f"{key}: '{path}'", at=f"mine.yaml:11: tables.t.{key}: ", of=[f"'{path}'"])


def test_a_small_file_that_unpacks_to_a_large_one_is_an_error(mistake, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 1_000)
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(ROWS.encode() + b"c\t1\n" * 1_000))
    mistake("file: a.tsv.gz", at="a.tsv.gz", of=["1,000 bytes", "decompressed"])


@pytest.mark.parametrize(("name", "row"), [("a.tsv", "c\t1"), ("a.jsonl", '{"word": "c"}')])
def test_too_many_rows_are_an_error(mistake, write, monkeypatch, name, row):
    monkeypatch.setattr(limits, "TABLE_ROWS", 10)
    write(name, f"{row}\n" * 20)
    mistake(f"file: {name}", at=name, of=["more than 10 rows"])


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ('{"word": ' + "[" * 30_000 + "]" * 30_000 + "}", "not JSON"),
        ('{"word": "a", "side": "\\ud800"}', "character"),
        ('{"word": "a", "side": ' + "1" * 5_000 + "}", "not JSON"),
        # Who looks for the end of each of these texts anew needs hours.
        ("[]" * 100 + '"' + '\\"' * 400_000, "not JSON"),
    ],
    ids=["deep", "surrogate", "long number", "text without an end"],
)
def test_json_that_no_reader_takes_is_an_error(registry, write, line, fact):
    write("a.jsonl", f'{{"word": "b", "side": "2"}}\n{line}\n')
    task = TASK.replace(', where: {side: "1"}', "").replace(', where: {side: "2"}', "")
    task = task.replace("column: word}", "column: side}", 1)
    path = write("mine.yaml", f"{task}  t: {{file: a.jsonl}}\n")
    with pytest.raises(InvalidFile, match=fact):
        registry.task_file(path)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.invalid/a.tsv",
        "file:///etc/passwd",
        "https://[x",
        "hf://datasets/owner/name@revision",
        "hf://datasets/owner/name/../../a.tsv",
        "hf://models/owner/name/a.tsv",
    ],
)
def test_an_address_of_another_kind_is_an_error(mistake, url):
    forms = ["'https://…'", "'hf://datasets/owner/name@revision/path'"]
    table = f"url: '{url}', sha256: '{'0' * 64}'"
    mistake(table, at="mine.yaml:11: tables.t.url: ", of=[f"'{url}'", *forms])


@pytest.mark.parametrize(
    ("table", "key", "facts"),
    [
        ("columns: [a]", "", ["'rows'", "'file'"]),
        ("url: 'https://x'", "", ["'url'", "'sha256'"]),
        ("file: a.tsv, url: 'https://x'", "", ["'file'", "'url'"]),
        ("file: a.tsv, member: b.tsv", "", ["'member'", "'url'"]),
        ("columns: [word, side], rows: [[a]]", "", ["['a']", "1 cells", "2 columns"]),
        ("columns: [word, side], rows: [[no, '1']]", ".rows[0][0]", ["false", "quotes"]),
        ("columns: [word, side, word], file: a.tsv", "", ["'word'", "two columns"]),
        ("file: absent.tsv", "", ["'absent.tsv'"]),
        ("package: json", "", ["'package'", "'file'"]),
    ],
)
def test_a_mistake_in_a_table_is_reported_with_its_key(mistake, table, key, facts):
    mistake(table, at=f"mine.yaml:11: tables.t{key}: ", of=facts)


@pytest.mark.parametrize(
    ("name", "content", "table", "place", "facts"),
    [
        ("a.tsv", "word\tside\na\t1\nb\n", "file: a.tsv", "a.tsv:3", ["2 cells", "word, side"]),
        ("a.tsv", "", "file: a.tsv", "a.tsv", ["no rows"]),
        ("a.jsonl", '{"word": "a", "side": "1"}\n{"word"\n', "file: a.jsonl", "a.jsonl:2",
         ["not JSON"]),
        ("a.jsonl", "[1]\n", "file: a.jsonl", "a.jsonl:1", ["JSON object"]),
        ("a.tsv", ROWS, "file: a.tsv, encoding: klingon", "mine.yaml:11: tables.t.encoding",
         ["'klingon'"]),
        ("a.csv", '"a,1\n', "file: a.csv, columns: [word, side]", "a.csv:1",
         ["quote"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_reported_with_its_line(
    mistake, write, name, content, table, place, facts
):
    write(name, content)
    mistake(table, at=f"{place}: ", of=facts)


@pytest.fixture
def cells(tmp_path):
    """Return the rows of a file, each a list of cells."""

    def read(content, name="a.csv", **settings):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [
            list(row.values()) for row in data_files.parse_table(Table(file=name, **settings), path)
        ]

    return read


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('a,b\n"He is a doctor, and tall",x\n', [["He is a doctor, and tall", "x"]]),
        ('a,b\n"gets sick.\nUnfortunately",x\n', [["gets sick.\nUnfortunately", "x"]]),
        ('a,b\r\n"one\r\ntwo",x\r\n', [["one\r\ntwo", "x"]]),
        ('a,b\r"one\rtwo",x\r', [["one\rtwo", "x"]]),
        ('a,b\n"one\n\n  \ntwo",x\n', [["one\n\n  \ntwo", "x"]]),
        ('a,b\n"one\n# two\n: three",x\n# a comment\n', [["one\n# two\n: three", "x"]]),
        ('a,b\n"she said ""no""",""\n', [['she said "no"', ""]]),
        ('a,b\nshe said "no",5"\n', [['she said "no"', '5"']]),
        ('a,b\n"x","y"', [["x", "y"]]),
        ('"a\nb",c\nx,y\n', [["x", "y"]]),
        ("a,b\n x , y\n", [[" x ", " y"]]),
        ("a,b\nx\u2028y,z\x85\n", [["x\u2028y", "z\x85"]]),
    ],
)
def test_a_csv_is_read_as_rfc_4180_says(cells, content, expected):
    assert cells(content, comment="#") == expected


def test_quotes_are_text_in_a_tsv_and_in_a_csv_that_says_so(cells):
    assert cells('a\tb\n"x, y\tz"\n', "a.tsv") == [['"x, y', 'z"']]
    assert cells('a\tb\n"x\ty"\tz\n', "a.tsv", quoted=True) == [["x\ty", "z"]]
    assert cells('a,b\n"x, y"\n', quoted=False) == [['"x', ' y"']]
    assert cells('a\tb\n"x"\t"\n', delimiter="\t", quoted=False) == [['"x"', '"']]


@given(
    st.lists(
        st.lists(st.text(alphabet='ab ,"\n\r\té', max_size=6), min_size=2, max_size=2).filter(
            lambda row: "".join(row).strip()
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_the_csv_module_writes_is_read_cell_by_cell(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["one", "two"], *rows])
    assert [list(row.values()) for row in data_files.parse_table(Table(file="a.csv"), path)] == rows


@pytest.mark.parametrize(
    ("encoding", "python"),
    [
        ("latin-1", "latin-1"),
        ("mac_roman", "mac_roman"),
        ("utf-16", "utf-16"),
        ("utf-8", "utf-8-sig"),
    ],
)
def test_a_csv_is_read_in_its_encoding(cells, encoding, python):
    content = 'größe,b\r\n"é\r\nè",x\r\n'
    assert cells(content.encode(python), encoding=encoding) == [["é\r\nè", "x"]]


@pytest.mark.parametrize(
    ("content", "name", "encoding", "line", "facts"),
    [
        ("a,b\nx,y\n".encode("utf-16"), "a.csv", "utf-8", 1, ["'utf-8'", "encoding"]),
        ("a,b\nx,y\n".encode("utf-16-le"), "a.csv", "utf-8", 1, ["NUL", "utf-16-le"]),
        (b"a\tb\nx\ty\0\n", "a.tsv", "utf-8", 2, ["NUL"]),
        ("a,b\nx,é\n".encode("latin-1"), "a.csv", "utf-8", 2, ["'utf-8'", "encoding"]),
        (b"a,b\nx,y,z\n", "a.csv", "utf-8", 2, ["2 cells (a, b)", "found 3", "'z'", "quotes"]),
        (b'a,b\n"x\n\ny",z\nx,y,\n', "a.csv", "utf-8", 5, ["2 cells (a, b)", "found 3"]),
        (b"a,b\n\n\nx\n", "a.csv", "utf-8", 4, ["2 cells (a, b)", "found 1"]),
        (b"a,a\nx,y\n", "a.csv", "utf-8", 1, ["'a'", "second"]),
        (b"a,b,\nx,y,z\n", "a.csv", "utf-8", 1, ["column 3", "empty", "header"]),
        (b'a,b\nx,"y\nx,y\n', "a.csv", "utf-8", 2, ["quote"]),
        (b'a,b\n"x,y\nx,y\n"x",y\n', "a.csv", "utf-8", 2, ["quote"]),
        (b'a,b\nx,"y\n' + b"x\n" * 99_999 + b'"\n', "a.csv", "utf-8", 2,
         ["131072", "quote"]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_text_table_has_its_line(cells, content, name, encoding, line, facts):
    with pytest.raises(InvalidFile) as caught:
        cells(content, name, comment="#", encoding=encoding)
    assert caught.value.line == line
    for fact in facts:
        assert fact in caught.value.problem


@pytest.mark.parametrize(
    ("name", "content", "place", "facts"),
    [
        ("a.csv", "word,side\na,1\n,2\n", "a.csv:3", ["'word'", "empty"]),
        ("a.csv", 'word,side\na,1\n"b\n\nc",2\n"",2\n', "a.csv:6", ["'word'", "empty"]),
        ("a.jsonl", '{"word": "", "side": 1}\n', "a.jsonl:1", ["'word'", "empty"]),
        ("a.jsonl", '\n{"word": 3, "side": 1}\n', "a.jsonl:2", ["'word'", "number", "quotes"]),
        ("a.jsonl", '{"word": true, "side": 1}\n', "a.jsonl:1", ["'word'", "truth value"]),
        ("a.jsonl", '{"side": 1}\n{"word": "a", "side": 2}\n', "a.jsonl:1",
         ["'word'", "no value"]),
        ("a.jsonl", '{"word": "b", "word": "c", "side": 1}\n', "a.jsonl:1", ["'word'", "twice"]),
    ],
)  # fmt: skip
def test_a_cell_that_is_no_text_where_one_is_needed_is_a_mistake(
    mistake, write, name, content, place, facts
):
    write(name, content)
    mistake(f"file: {name}", at=f"{place}: ", of=facts)


def test_a_cell_may_be_empty_where_no_text_is_made_of_it(texts, write):
    write("a.csv", "word,side,more\na,1,\nb,2,\n,3,x\n")
    assert texts("file: a.csv") == (("a",), ("b",))


@pytest.mark.parametrize(("field", "is_used"), [("more", True), ("More", True), ("word", False)])
def test_an_empty_cell_that_a_template_needs_is_a_mistake(registry, write, field, is_used):
    write("a.csv", "word,side,more\na,1,\nb,2,x\n")
    task = TASK.replace("column: word,", "column: word, template: t,")
    task = task.replace("tables:\n", f"templates: {{t: 'a {{{field}}} of {{text}}'}}\ntables:\n")
    path = write("mine.yaml", f"{task}  t: {{file: a.csv}}\n")
    if is_used:
        with pytest.raises(InvalidFile, match=r"a\.csv:2: column 'more': empty"):
            registry.task_file(path)
    else:
        assert registry.task_file(path).scenarios[0].inputs["targets_1"].texts == ("a a of a",)


def test_a_header_is_no_row_of_a_table_that_names_its_columns(mistake, texts, write):
    write("a.csv", "word, side\na,1\nb,2\n")
    mistake("file: a.csv, columns: [word, side]", at="a.csv:1: a header", of=["'columns'"])
    write("a.csv", "word,1\nb,2\n")
    assert texts("file: a.csv, columns: [word, side]") == (("word",), ("b",))
