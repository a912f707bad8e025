"""YAML: the places of keys, includes, the cache, and mistakes that are easy to make in YAML."""

from __future__ import annotations

import os

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from harness.concept import Word
from harness.errors import InvalidFile
from harness.letters import composed
from harness.task import yaml_files


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    words: tuple[Word, ...] = ()
    size: int = 0


class Schema(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    inner: dict[str, Inner | tuple[Inner, ...]] = {}


def mistake(path, *, at, of=()):
    """Return the error of a file; check its place `at` ("a.yaml:3: key") and facts `of` it."""
    with pytest.raises(InvalidFile) as caught:
        yaml_files.load(path).validate(Schema)
    message = str(caught.value).replace(f"{path.parent}/", "")
    assert message.startswith(f"{at}: ")
    for fact in of:
        assert fact in message.removeprefix(at)
    assert "\n" not in message
    return caught.value


def test_every_key_knows_its_file_and_line(write):
    path = write("a.yaml", "name: x\ninner:\n  one:\n    words: [a,\n      b]\n")
    document = yaml_files.load(path)
    assert document.data == {"name": "x", "inner": {"one": {"words": ["a", "b"]}}}
    assert document.places["inner", "one", "words"] == (path, 4)
    assert document.places["inner", "one", "words", 1] == (path, 5)


def test_a_file_wins_over_what_it_includes(write):
    write("low.yaml", "name: low\ninner: {one: {size: 1}, two: {size: 2}}\n")
    write("mid.yaml", "include: low.yaml\nname: mid\n")
    path = write("top.yaml", "include: [mid.yaml]\ninner: {one: {size: 9}}\n")
    data = yaml_files.load(path).data
    assert data == {"name": "mid", "inner": {"one": {"size": 9}, "two": {"size": 2}}}


def test_a_fragment_of_many_files_is_parsed_once(write, monkeypatch):
    parsed = []

    class Counting(yaml_files.Loader):
        def __init__(self, text):
            parsed.append(text)
            super().__init__(text)

    monkeypatch.setattr(yaml_files, "Loader", Counting)
    write("_shared.yaml", "inner: {one: {size: 1}}\n")
    for i in range(5):
        path = write(f"{i}.yaml", f"include: _shared.yaml\nname: n{i}\n")
        assert yaml_files.load(path).data == {"name": f"n{i}", "inner": {"one": {"size": 1}}}
    assert parsed.count("inner: {one: {size: 1}}\n") == 1
    assert len(parsed) == 6


def test_a_changed_file_is_read_anew(write):
    write("_shared.yaml", "inner: {one: {size: 1}}\n")
    path = write("a.yaml", "include: _shared.yaml\nname: x\n")
    assert yaml_files.load(path).data["inner"] == {"one": {"size": 1}}
    shared = write("_shared.yaml", "inner: {one: {size: 12}}\n")
    assert yaml_files.load(path).data["inner"] == {"one": {"size": 12}}
    write("_shared.yaml", "inner: {one: {size: 13}}\n")  # the same size, another time
    os.utime(shared, ns=(1, 1))
    assert yaml_files.load(path).data["inner"] == {"one": {"size": 13}}


def test_a_caller_who_changes_the_data_changes_his_own_copy_only(write):
    write("_shared.yaml", "inner: {one: {words: [a]}, two: {size: 2}}\n")
    path = write("a.yaml", "include: _shared.yaml\nname: x\ninner: {one: {size: 1}}\n")
    document = yaml_files.load(path)
    document.data["inner"]["one"]["words"].append("b")
    document.data["inner"]["two"]["size"] = 3
    document.data["more"] = document.data.pop("name")
    document.places.clear()
    again = yaml_files.load(path)
    assert again.data == {"name": "x", "inner": {"one": {"words": ["a"], "size": 1},
                                                 "two": {"size": 2}}}  # fmt: skip
    assert again.places["name",] == (path, 2)
    assert yaml_files.load(path.parent / "_shared.yaml").data == {
        "inner": {"one": {"words": ["a"]}, "two": {"size": 2}}
    }


def test_a_mistake_is_reported_at_its_line_in_the_included_file(write):
    write("low.yaml", "\n\ninner: {one: {sise: 1}}\n")
    path = write("top.yaml", "include: low.yaml\nname: top\n")
    mistake(path, at="low.yaml:3: inner.one.sise", of=["unknown", "'sise'", "'size'"])


def test_a_missing_include_is_reported_with_the_nearest_file(write):
    write("_shared.yaml", "name: x")
    path = write("top.yaml", "name: x\ninclude: _share.yaml\n")
    mistake(path, at="top.yaml:2: include", of=["'_share.yaml'", "did you mean '_shared.yaml'"])


def test_a_cycle_of_includes_is_an_error(write):
    write("a.yaml", "include: b.yaml\nname: a")
    path = write("b.yaml", "include: a.yaml\n")
    mistake(path, at="a.yaml:1: include", of=["'b.yaml' includes itself"])


def test_quoted_words_stay_text(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: ['no', \"1984\", !!str 7]}}\n")
    assert yaml_files.load(path).validate(Schema).inner["one"].words == ("no", "1984", "7")


WORDS = "name: x\ninner:\n  one:\n    words: "
MISTAKES = [
    ("name: x\ninclude: 3\n", ":2: include", "file name"),
    (f"{WORDS}[a, no]\n", ":4: inner.one.words[1]", "quotes"),
    (f"{WORDS}[2020-01-01]\n", ":4: inner.one.words[0]", "quotes"),
    (f"{WORDS}nurse\n", ":4: inner.one.words", "[nurse]"),
    ("name: x\ninner:\n  one: {size: 1}\n  one: {size: 2}\n", ":4: inner.one", "duplicate"),
    ("name: x\ninner: {one: {size: many}}\n", ":2: inner.one.size", "'many'"),
    ("name: x\ninner:\n\tone: {size: 1}\n", ":3", "not YAML"),
    ("name: [x\n\n\ninner: {}\n", ":1", "bracket"),
    ("name: a\0b", "", "not YAML"),
    ("- a\n- b\n", ":1", "mapping"),
    ("name: x\n---\nname: y\n", ":2", "not YAML"),
    ("name: !!python/object/apply:os.system ['true']\n", ":1", "python/object/apply:os.system"),
    ("name: x\ninner: &loop\n  one: *loop\n", "", "contains itself"),
    ("nname: x\n", ":1: nname", "'name'"),
    ("inner: {}\n", ":1: name", "missing"),
    ("\n".join(["name: &l0 [x]"] + [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]"
                                    for i in range(1, 12)]), "", "200,000"),
]  # fmt: skip


def test_a_mistake_is_one_line_with_its_place(write):
    wrong = []
    for text, at, fact in MISTAKES:
        path = write("a.yaml", text)
        with pytest.raises(InvalidFile) as caught:
            yaml_files.load(path).validate(Schema)
        message = str(caught.value)
        if not message.startswith(f"{path}{at}: ") or fact not in message or "\n" in message:
            wrong.append((text, message))
    assert not wrong


def test_what_is_no_text_file_is_an_error(tmp_path):
    (tmp_path / "latin.yaml").write_bytes("name: caf\xe9".encode("latin-1"))
    (tmp_path / "folder.yaml").mkdir()
    for name, fact in (("latin", "byte 9"), ("folder", "directory"), ("absent", "no such file")):
        with pytest.raises(InvalidFile, match=fact):
            yaml_files.load(tmp_path / f"{name}.yaml")


@given(st.lists(st.text(min_size=1).map(composed), min_size=1))
def test_quoted_text_is_read_as_it_was_written(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_text(yaml.safe_dump({"name": "x", "inner": {"one": {"words": words}}}))
    assert list(yaml_files.load(path).validate(Schema).inner["one"].words) == words


@given(st.text())
def test_any_text_is_a_mapping_or_a_clear_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        message = str(yaml_files.load(path).path)
    except InvalidFile as error:
        message = str(error)
    assert message.startswith(str(path))


def test_an_alias_stands_for_its_anchor(write):
    path = write("a.yaml", "name: x\ninner: {one: &one {words: [a]}, two: *one}\n")
    assert yaml_files.load(path).data["inner"]["two"] == {"words": ["a"]}
