"""Tables of a task: where they lie, and what is told where they do not."""

from __future__ import annotations

import hashlib
import io
import urllib.request
from urllib.response import addinfourl

import pytest

from harness.errors import HarnessError, InvalidFile, Unavailable
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
    """Resolve a task with a table; give the texts of its two inputs."""

    def make(table):
        path = write("mine.yaml", f"{TASK}  t: {{{table}}}\n")
        inputs = registry.task_file(path).scenarios[0].inputs
        return inputs["targets_1"].texts, inputs["targets_2"].texts

    return make


@pytest.fixture
def told(texts, tmp_path):
    def make(table):
        with pytest.raises(HarnessError) as caught:
            texts(table)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return make


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
        ("sub/a.tsv", "word\tside\tmore\na\t1\tx\nb\t2\ty\n", "file: sub/a.tsv"),
    ],
)  # fmt: skip
def test_a_file_beside_the_task_is_read(texts, write, name, content, table):
    write(name, content)
    assert texts(table) == (("a",), ("b",))


def test_rows_may_stand_in_the_task(texts):
    assert texts('columns: [word, side], rows: [[a, "1"], [b, "2"]]') == (("a",), ("b",))


def test_a_row_is_kept_if_its_cell_is_one_of_a_list(registry, write):
    write("a.tsv", "word\tside\na\t1\nb\t2\nc\t3\n")
    task = TASK.replace('{side: "2"}', '{side: ["2", 3]}')
    path = write("mine.yaml", f"{task}  t: {{file: a.tsv}}\n")
    assert registry.task_file(path).scenarios[0].inputs["targets_2"].texts == ("b", "c")


def test_a_byte_order_mark_is_no_part_of_a_column(texts, tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"\xef\xbb\xbf" + ROWS.encode())
    assert texts("file: a.tsv, encoding: utf-8-sig") == (("a",), ("b",))


def test_a_local_copy_is_preferred_to_a_download(texts, told, tmp_path, write, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    sha256 = hashlib.sha256(ROWS.encode()).hexdigest()
    table = f"url: 'https://example.invalid/a.tsv', local: sub/a.tsv, sha256: {sha256}"
    assert "could not be fetched" in told(table)
    write("data/sub/a.tsv", ROWS)
    assert texts(table) == (("a",), ("b",))


def test_a_download_that_is_there_is_not_fetched_again(texts, cache):
    sha256 = hashlib.sha256(ROWS.encode()).hexdigest()
    folder = cache / "downloads" / sha256
    folder.mkdir(parents=True)
    (folder / "table").write_text(ROWS)
    assert texts(f"url: 'https://example.invalid/a.tsv', sha256: {sha256}") == (("a",), ("b",))


@pytest.fixture
def serve(monkeypatch):
    """Have every https address answer with a text."""

    def answer(text):
        class Answers(urllib.request.HTTPSHandler):
            def https_open(self, request):
                found = addinfourl(io.BytesIO(text.encode()), {}, request.full_url, 200)
                found.msg = "OK"
                return found

        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Answers)
        monkeypatch.setattr(urllib.request, "_opener", opener)

    return answer


@pytest.mark.parametrize(
    ("address", "content", "kept"),
    [
        ("a.tsv", ROWS, "table"),
        ("a.csv?download=1", ROWS.replace("\t", ","), "table.csv"),
        ("..%2f.hidden", ROWS, "table"),
        ("", ROWS, "table"),
    ],
)
def test_a_download_is_kept_under_a_name_of_our_own(texts, serve, cache, address, content, kept):
    serve(content)
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    table = f"url: 'https://example.invalid/{address}', sha256: {sha256.upper()}"
    assert texts(table) == (("a",), ("b",))
    files = [path for path in (cache / "downloads").rglob("*") if path.is_file()]
    assert files == [cache / "downloads" / sha256 / kept]


def test_a_download_that_is_not_the_file_meant_is_told_and_not_kept(texts, told, serve, cache):
    serve(ROWS)
    wrong = "0" * 64
    assert told(f"url: 'https://example.invalid/a.tsv', sha256: '{wrong}'") == (
        "what 'https://example.invalid/a.tsv' gives is not the file that the task was made for: "
        f"its sha256 is not {wrong}"
    )
    assert not list(cache.rglob("downloads/**/*"))
    sha256 = hashlib.sha256(ROWS.encode()).hexdigest()
    table = f"url: 'https://example.invalid/a.tsv', sha256: {sha256}"
    serve(ROWS[:-4])
    assert "is not the file" in told(table)
    serve(ROWS)
    assert texts(table) == (("a",), ("b",))


@pytest.mark.parametrize("url", ["https://[x", "https://x:port/a.tsv"])
def test_an_address_that_cannot_be_asked_is_unavailable(texts, url):
    with pytest.raises(Unavailable, match="could not be fetched"):
        texts(f"url: '{url}', sha256: '{'0' * 64}'")


def test_a_file_that_is_not_the_one_meant_is_told(told, write):
    write("a.tsv", ROWS)
    wrong = "0" * 64
    assert told(f"file: a.tsv, sha256: '{wrong}'") == (
        f"a.tsv is not the file that the task was made for: its sha256 is not {wrong}"
    )


def test_data_that_is_not_here_says_what_to_do(texts, monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    with pytest.raises(Unavailable) as caught:
        texts("local: sts/b.csv, how_to_get: Ask its authors.")
    assert str(caught.value) == (
        "its data is not here: put 'sts/b.csv' in the folder that HARNESS_DATA names. "
        "Ask its authors."
    )


@pytest.mark.parametrize("package", ["no_such_package", "no_such.part", "json.decoder.x"])
def test_a_package_that_is_not_installed_is_unavailable(texts, package):
    with pytest.raises(Unavailable) as caught:
        texts(f"package: {package}, file: a.tsv")
    assert str(caught.value) == (
        f"its data comes with the package '{package}': pip install {package}"
    )


def test_a_file_of_an_installed_package_is_read(texts, told, tmp_path, write, monkeypatch):
    write("site/some_data_package/__init__.py", "raise RuntimeError('must not be imported')")
    write("site/some_data_package/a.tsv", ROWS)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert texts("package: some_data_package, file: a.tsv") == (("a",), ("b",))
    assert told("package: some_data_package, file: b.tsv") == (
        "the installed package 'some_data_package' has no file 'b.tsv'"
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://example.invalid/a.tsv",
        "file:///etc/passwd",
        "https://",
        "hf://datasets/foo",
        "hf://datasets/owner/name@revision",
        "hf://datasets/owner/name@/a.tsv",
        "hf://datasets/owner/name/../../a.tsv",
        "hf://models/owner/name/a.tsv",
    ],
)
def test_an_address_of_another_kind_is_told(told, url):
    assert told(f"url: '{url}', sha256: '{'0' * 64}'") == (
        f"mine.yaml:11: tables.t.url: '{url}' is neither 'https://…' "
        "nor 'hf://datasets/owner/name@revision/path'"
    )


@pytest.mark.parametrize("rest", ["name/a.tsv", "name@main/sub/a b.tsv"])
def test_an_address_on_the_hub_is_taken(rest):
    url = f"hf://datasets/owner/{rest}"
    assert Table(url=url, sha256="0" * 64).url == url


@pytest.mark.parametrize("sha256", ["0" * 63, "0" * 65, "g" * 64, "../" + "0" * 61, ""])
def test_a_sha256_of_another_form_is_told(told, write, sha256):
    write("a.tsv", ROWS)
    assert told(f"file: a.tsv, sha256: '{sha256}'") == (
        "mine.yaml:11: tables.t.sha256: string should match pattern '^[0-9a-fA-F]{64}$', "
        f"but this is '{sha256}'"
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("columns: [a]", "mine.yaml:11: tables.t: a table has either 'rows', or one of 'file'"),
        ("rows: [[a]], file: a.tsv", "mine.yaml:11: tables.t: a table has either 'rows', or one "),
        ("url: 'https://x'", "mine.yaml:11: tables.t: a 'url' needs the 'sha256' of what it must"),
        ("columns: [word, side], rows: [[a]]", "mine.yaml:11: tables.t: the row ['a'] has 1 cells "
         "for 2 columns"),
        ("columns: [word, side], rows: [[no, '1']]", "mine.yaml:11: tables.t.rows[0][0]: YAML "
         "reads this as false, not as text; put it in quotes"),
        ("columns: [word, side], rows: [[~, '1']]", "mine.yaml:11: tables.t.rows[0][0]: YAML "
         "reads this as null"),
        ("file: absent.tsv", "mine.yaml:11: tables.t: there is no file 'absent.tsv' beside this"),
        ("package: json", "mine.yaml:11: tables.t: a 'package' needs the 'file' in it"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_table_is_told(told, table, said):
    assert told(table).startswith(said)


@pytest.mark.parametrize(
    ("name", "content", "table", "said"),
    [
        ("a.tsv", "word\tside\na\t1\nb\n", "file: a.tsv", "a.tsv:3: has 1 cells where 2 are "
         "expected (word, side)"),
        ("a.tsv", "", "file: a.tsv", "a.tsv: has no rows"),
        ("a.tsv", "word\tside\n", "file: a.tsv", "a.tsv: has no rows"),
        ("a.tsv", "\n\n", "file: a.tsv, columns: [word, side]", "a.tsv: has no rows"),
        ("a.jsonl", "", "file: a.jsonl", "a.jsonl: has no rows"),
        ("a.jsonl", '{"word": "a", "side": "1"}\n{"word"\n', "file: a.jsonl", "a.jsonl:2: not"),
        ("a.jsonl", "[1]\n", "file: a.jsonl", "a.jsonl:1: expected a JSON object"),
        ("a.tsv", ROWS, "file: a.tsv, encoding: klingon", "a.tsv: cannot be read (unknown"),
        ("a.tsv", ROWS, "file: a.tsv, delimiter: '||', quoted: true", "a.tsv: cannot be read ("),
        ("a.csv", '"a,1\n', "file: a.csv, quoted: true, columns: [word, side]", "a.csv:1: has 1 "
         "cells where 2"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_told(told, write, name, content, table, said):
    write(name, content)
    assert told(table).startswith(said)


def test_text_in_another_encoding_is_told(told, tmp_path):
    (tmp_path / "a.tsv").write_bytes("wörd\tside\n".encode("latin-1"))
    assert told("file: a.tsv").startswith("a.tsv: cannot be read ('utf-8' codec")


@pytest.mark.parametrize("second", ['{"side": "1"}', '{"word": null, "side": "1"}'])
def test_a_cell_that_is_missing_in_a_later_row_is_told(texts, write, second):
    write("a.jsonl", '{"word": "a", "side": "1"}\n{"word": "b", "side": "2"}\n' + second + "\n")
    with pytest.raises(InvalidFile, match="row 3 of table 't' has nothing in column 'word'"):
        texts("file: a.jsonl")
