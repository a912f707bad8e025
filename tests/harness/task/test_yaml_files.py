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


def test_the_later_of_two_included_files_wins(write):
    write("a.yaml", "name: a")
    write("b.yaml", "name: b")
    assert yaml_files.load(write("c.yaml", "include: [a.yaml, b.yaml]")).data == {"name": "b"}


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


def test_a_missing_include_unlike_any_file_is_reported_without_a_list_of_all_files(write):
    write("other.yaml", "name: x")
    path = write("top.yaml", "name: x\ninclude: absent\n")
    assert "other" not in mistake(path, at="top.yaml:2: include", of=["'absent'"]).problem


def test_a_cycle_of_includes_is_an_error(write):
    write("a.yaml", "include: b.yaml\nname: a")
    path = write("b.yaml", "include: a.yaml\n")
    mistake(path, at="a.yaml:1: include", of=["'b.yaml' includes itself"])


def test_a_cycle_of_includes_through_another_folder_is_an_error(write):
    (write("sub/x.yaml", "name: x")).unlink()
    path = write("a.yaml", "include: sub/../a.yaml\nname: a")
    with pytest.raises(InvalidFile, match="includes itself"):
        yaml_files.load(path)


@pytest.mark.parametrize("value", ["3", "null", "{a: b}", "[1]", "true"])
def test_an_include_that_is_no_file_name_is_an_error(write, value):
    path = write("a.yaml", f"name: x\ninclude: {value}\n")
    mistake(path, at=f"a.yaml:2: include{'[0]' if value == '[1]' else ''}", of=["file name"])


@pytest.mark.parametrize(
    ("word", "read"),
    [("no", "false"), ("yes", "true"), ("on", "true"), ("1984", "1984"), ("~", "null")],
)
def test_a_word_that_yaml_reads_as_something_else_is_an_error(write, word, read):
    path = write("a.yaml", f"name: x\ninner:\n  one:\n    words: [a, {word}]\n")
    mistake(path, at="a.yaml:4: inner.one.words[1]", of=[f" {read},", "quotes"])


def test_a_word_that_yaml_reads_as_a_date_is_an_error(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: [2020-01-01]}}\n")
    mistake(path, at="a.yaml:2: inner.one.words[0]", of=["2020-01-01", "quotes"])


def test_a_date_that_does_not_exist_is_an_error(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: [2020-13-45]}}\n")
    mistake(path, at="a.yaml:2: inner.one.words[0]", of=["not YAML", "2020-13-45"])


def test_quoted_words_stay_text(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: ['no', \"1984\", !!str 7]}}\n")
    assert yaml_files.load(path).validate(Schema).inner["one"].words == ("no", "1984", "7")


def test_a_duplicate_key_is_an_error(write):
    path = write("a.yaml", "name: x\ninner:\n  one: {size: 1}\n  one: {size: 2}\n")
    mistake(path, at="a.yaml:4: inner.one", of=["duplicate"])


def test_a_tab_is_an_error_with_its_line(write):
    mistake(write("a.yaml", "name: x\ninner:\n\tone: {size: 1}\n"), at="a.yaml:3: not YAML")


@pytest.mark.parametrize(("value", "mark"), [("[x", "bracket"), ("'x", "quote")])
def test_what_is_not_closed_is_reported_where_it_opens(write, value, mark):
    path = write("a.yaml", f"name: {value}\n\n\n\ninner: {{}}\n")
    mistake(path, at="a.yaml:1: not YAML", of=[mark, "not closed"])


def test_a_file_that_is_not_utf8_is_an_error(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes("name: caf\xe9".encode("latin-1"))
    mistake(path, at="a.yaml:1", of=["UTF-8", "byte 9"])


def test_a_control_character_is_an_error(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: a\x00b")
    mistake(path, at="a.yaml", of=["not YAML"])


@pytest.mark.parametrize("text", ["- a\n- b\n", "", "just words\n", "# nothing\n"])
def test_a_file_without_keys_is_an_error(write, text):
    mistake(write("a.yaml", text), at="a.yaml:1", of=["mapping"])


def test_two_documents_in_one_file_are_an_error(write):
    with pytest.raises(InvalidFile, match="not YAML"):
        yaml_files.load(write("a.yaml", "name: x\n---\nname: y\n"))


def test_objects_of_python_are_not_created(write):
    path = write("a.yaml", "name: !!python/object/apply:os.system ['true']\n")
    mistake(path, at="a.yaml:1", of=["tag", "python/object/apply:os.system"])
    path = write("a.yaml", "name: !!python/name:os.system\n")
    mistake(path, at="a.yaml:1: name", of=["not YAML", "python/name:os.system"])


def test_a_value_that_contains_itself_is_an_error(write):
    path = write("a.yaml", "name: x\ninner: &loop\n  one: *loop\n")
    mistake(path, at="a.yaml", of=["not YAML", "contains itself"])


def test_a_missing_file_is_an_error(tmp_path):
    mistake(tmp_path / "a.yaml", at="a.yaml", of=["no such file or folder"])


def test_a_folder_is_an_error(tmp_path):
    (tmp_path / "a.yaml").mkdir()
    mistake(tmp_path / "a.yaml", at="a.yaml", of=["Is a directory"])


def test_an_unknown_key_is_reported_before_the_missing_one_that_it_explains(write):
    mistake(write("a.yaml", "nname: x\n"), at="a.yaml:1: nname", of=["unknown", "'name'"])


def test_an_unknown_key_unlike_any_other_is_reported_with_the_known_ones(write):
    path = write("a.yaml", "name: x\nzzzz: 1\n")
    mistake(path, at="a.yaml:2: zzzz", of=["'zzzz'", "inner, name"])


def test_a_missing_key_is_an_error(write):
    mistake(write("a.yaml", "inner: {}\n"), at="a.yaml:1: name", of=["'name'", "missing"])


def test_a_value_of_the_wrong_type_is_reported_with_the_value(write):
    path = write("a.yaml", "name: x\ninner: {one: {size: many}}\n")
    mistake(path, at="a.yaml:2: inner.one.size", of=["integer", "'many'"])


def test_a_word_in_place_of_a_list_is_reported_with_the_list(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: nurse}}\n")
    mistake(path, at="a.yaml:2: inner.one.words", of=["list", "[nurse]"])


def test_words_in_place_of_a_mapping_are_an_error(write):
    path = write("a.yaml", "name: x\ninner:\n  one: [a, b]\n")
    mistake(path, at="a.yaml:3: inner.one[0]", of=["mapping"])


@given(st.lists(st.text(min_size=1), min_size=1))
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


def test_aliases_of_aliases_do_not_fill_the_memory(write):
    lines = ["name: &l0 [x]"]
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12)]
    mistake(write("a.yaml", "\n".join(lines)), at="a.yaml", of=["200,000", "aliases"])
