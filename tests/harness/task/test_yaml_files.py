"""YAML: places of keys, includes, and the traps that YAML lays."""

from __future__ import annotations

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


def told(path, schema=None):
    """Return what a user reads of a file with a mistake, without the folder."""
    with pytest.raises(InvalidFile) as caught:
        yaml_files.load(path).validate(schema or Schema)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_every_key_knows_its_file_and_line(write):
    path = write("a.yaml", "name: x\ninner:\n  one:\n    words: [a,\n      b]\n")
    document = yaml_files.load(path)
    assert document.data == {"name": "x", "inner": {"one": {"words": ["a", "b"]}}}
    assert document.places["inner", "one", "words"] == (path, 4)
    assert document.places["inner", "one", "words", 1] == (path, 5)


def test_what_a_file_says_wins_over_what_it_includes(write):
    write("low.yaml", "name: low\ninner: {one: {size: 1}, two: {size: 2}}\n")
    write("mid.yaml", "include: low.yaml\nname: mid\n")
    path = write("top.yaml", "include: [mid.yaml]\ninner: {one: {size: 9}}\n")
    data = yaml_files.load(path).data
    assert data == {"name": "mid", "inner": {"one": {"size": 9}, "two": {"size": 2}}}


def test_of_two_included_files_the_later_wins(write):
    write("a.yaml", "name: a")
    write("b.yaml", "name: b")
    assert yaml_files.load(write("c.yaml", "include: [a.yaml, b.yaml]")).data == {"name": "b"}


def test_a_mistake_in_an_included_file_is_told_there(write):
    write("low.yaml", "\n\ninner: {one: {sise: 1}}\n")
    path = write("top.yaml", "include: low.yaml\nname: top\n")
    assert told(path) == "low.yaml:3: inner.one.sise: unknown key 'sise'; did you mean 'size'?"


def test_a_missing_include_is_told_with_the_nearest_file(write):
    write("_shared.yaml", "name: x")
    path = write("top.yaml", "name: x\ninclude: _share.yaml\n")
    assert told(path) == (
        "top.yaml:2: include: there is no file '_share.yaml' beside this one; "
        "did you mean '_shared.yaml'?"
    )


def test_a_cycle_of_includes_is_told(write):
    write("a.yaml", "include: b.yaml\nname: a")
    path = write("b.yaml", "include: a.yaml\n")
    assert told(path) == "a.yaml:1: include: 'b.yaml' includes itself"


def test_a_cycle_of_includes_through_another_folder_is_told(write):
    (write("sub/x.yaml", "name: x")).unlink()
    path = write("a.yaml", "include: sub/../a.yaml\nname: a")
    assert "includes itself" in told(path)


@pytest.mark.parametrize("value", ["3", "null", "{a: b}", "[1]", "true"])
def test_an_include_that_names_no_file_is_told(write, value):
    path = write("a.yaml", f"name: x\ninclude: {value}\n")
    assert told(path) == (
        f"a.yaml:2: include{'[0]' if value == '[1]' else ''}: "
        "expected the name of a file, or a list of them"
    )


@pytest.mark.parametrize(
    ("word", "read"),
    [("no", "false"), ("yes", "true"), ("on", "true"), ("1984", "1984"), ("~", "null")],
)
def test_a_word_that_yaml_reads_as_something_else_is_told(write, word, read):
    path = write("a.yaml", f"name: x\ninner:\n  one:\n    words: [a, {word}]\n")
    assert told(path) == (
        f"a.yaml:4: inner.one.words[1]: YAML reads this as {read}, not as text; put it in quotes"
    )


def test_a_word_that_yaml_reads_as_a_date_is_told(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: [2020-01-01]}}\n")
    assert told(path).startswith("a.yaml:2: inner.one.words[0]: YAML reads this as 2020-01-01, not")


def test_a_date_that_does_not_exist_is_told(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: [2020-13-45]}}\n")
    assert told(path).startswith("a.yaml:2: inner.one.words[0]: not YAML")


def test_quoted_words_stay_text(write):
    path = write("a.yaml", "name: x\ninner: {one: {words: ['no', \"1984\"]}}\n")
    assert yaml_files.load(path).validate(Schema).inner["one"].words == ("no", "1984")


def test_a_key_that_stands_twice_is_told(write):
    path = write("a.yaml", "name: x\ninner:\n  one: {size: 1}\n  one: {size: 2}\n")
    assert told(path) == "a.yaml:4: inner.one: this key stands here twice"


def test_a_tab_is_told_with_its_line(write):
    path = write("a.yaml", "name: x\ninner:\n\tone: {size: 1}\n")
    assert told(path).startswith("a.yaml:3: not YAML: ")


def test_an_unclosed_bracket_is_told(write):
    assert ": not YAML: " in told(write("a.yaml", "name: [x\n"))


def test_a_file_that_is_not_utf8_is_told(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes("name: caf\xe9".encode("latin-1"))
    assert told(path) == "a.yaml: is not UTF-8 text (byte 9)"


def test_a_control_character_is_told(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"name: a\x00b")
    assert told(path).startswith("a.yaml: not YAML: ")


@pytest.mark.parametrize("text", ["- a\n- b\n", "", "just words\n", "# nothing\n"])
def test_a_file_without_keys_is_told(write, text):
    assert told(write("a.yaml", text)) == "a.yaml:1: expected a mapping of keys to values"


def test_two_documents_in_one_file_are_told(write):
    assert "not YAML" in told(write("a.yaml", "name: x\n---\nname: y\n"))


def test_objects_of_python_are_not_made(write):
    path = write("a.yaml", "name: !!python/object/apply:os.system ['true']\n")
    assert told(path) == (
        "a.yaml:1: the tag 'tag:yaml.org,2002:python/object/apply:os.system' is not taken"
    )
    path = write("a.yaml", "name: !!python/name:os.system\n")
    assert "a.yaml:1: not YAML: could not determine a constructor" in told(path)


def test_a_structure_within_itself_is_told(write):
    path = write("a.yaml", "name: x\ninner: &loop\n  one: *loop\n")
    assert told(path) == "a.yaml: not YAML: something stands within itself"


def test_a_missing_file_is_told(tmp_path):
    assert told(tmp_path / "a.yaml") == "a.yaml: cannot be read (No such file or directory)"


def test_a_folder_is_told(tmp_path):
    (tmp_path / "a.yaml").mkdir()
    assert told(tmp_path / "a.yaml") == "a.yaml: cannot be read (Is a directory)"


def test_an_unknown_key_is_told_before_the_missing_one_that_it_explains(write):
    path = write("a.yaml", "nname: x\n")
    assert told(path).startswith("a.yaml:1: nname: unknown key 'nname'; did you mean 'name'")


def test_an_unknown_key_like_no_other_is_told_with_those_there_are(write):
    path = write("a.yaml", "name: x\nzzzz: 1\n")
    assert told(path) == "a.yaml:2: zzzz: unknown key 'zzzz'; there are: inner, name"


def test_a_missing_key_is_told(write):
    assert told(write("a.yaml", "inner: {}\n")) == "a.yaml:1: name: missing; expected here: 'name'"


def test_a_value_of_a_wrong_type_is_told_with_the_value(write):
    path = write("a.yaml", "name: x\ninner: {one: {size: many}}\n")
    assert told(path).startswith("a.yaml:2: inner.one.size: input should be a valid integer")
    assert told(path).endswith("but this is 'many'")


def test_words_where_a_mapping_belongs_are_told(write):
    path = write("a.yaml", "name: x\ninner:\n  one: [a, b]\n")
    assert told(path) == "a.yaml:3: inner.one[0]: expected a mapping of keys to values"


@given(st.lists(st.text(min_size=1), min_size=1))
def test_quoted_text_comes_back_as_it_was(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_text(yaml.safe_dump({"name": "x", "inner": {"one": {"words": words}}}))
    assert list(yaml_files.load(path).validate(Schema).inner["one"].words) == words


@given(st.text())
def test_any_text_is_a_mapping_or_a_clear_error(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        document = yaml_files.load(path)
    except InvalidFile as error:
        told = str(error)
    else:
        told = str(document.path)
    assert told.startswith(str(path))


def test_an_alias_stands_for_what_it_names(write):
    path = write("a.yaml", "name: x\ninner: {one: &one {words: [a]}, two: *one}\n")
    assert yaml_files.load(path).data["inner"]["two"] == {"words": ["a"]}


def test_aliases_of_aliases_do_not_fill_the_memory(write):
    lines = ["name: &l0 [x]"]
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert told(write("a.yaml", "\n".join(lines))) == (
        "a.yaml: has more than 1,000,000 keys and items, once its aliases ('*') are filled in"
    )
