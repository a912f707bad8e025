"""YAML that would end the process, fill the memory or never end: one clear line instead."""

from __future__ import annotations

import os

import pytest

from harness import limits
from harness.errors import InvalidFile
from harness.task import yaml_files


def refusal(path) -> str:
    """Return the message for a file that is refused."""
    with pytest.raises(InvalidFile) as caught:
        yaml_files.load(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "value",
    [
        "[" * 30_000 + "]" * 30_000,
        "\n" + "? " * 300 + "x",
    ],
)
def test_deep_nesting_is_refused(write, value):
    assert f"at most {limits.NESTING}" in refusal(write("a.yaml", f"name: {value}\n"))


def test_a_long_chain_of_aliases_is_refused(write):
    lines = ["a0: &a0 [x]", *(f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 5_000))]
    assert "aliases" in refusal(write("a.yaml", "\n".join(lines)))


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        ("9223372036854775808", "64 bits"),
        ("0x" + "f" * 1_000_000, "not a valid value"),
        ("1" * 5_000, "not a valid value"),
        ("!!int ''", "not a valid value"),
        ("!!binary aGk=", "unsupported tag"),
    ],
)
def test_a_value_that_no_reader_takes_is_refused_with_its_key(write, value, fact):
    message = refusal(write("a.yaml", f"name: x\nsize: {value}\n"))
    assert "a.yaml:2: size: " in message
    assert fact in message


@pytest.mark.parametrize("key", ["include", "tables"])
@pytest.mark.parametrize(
    "name",
    ["../outside.yaml", "sub/../../outside.yaml", "{above}/outside.yaml", "link.yaml"],
)
def test_an_include_outside_of_the_folder_is_refused(write, tmp_path, name, key):
    outside = write("outside.yaml", "secret: word")
    path = write("inside/a.yaml", "")
    (path.parent / "link.yaml").symlink_to(outside)
    name = name.replace("{above}", str(tmp_path))
    if key == "include":
        path.write_text(f"name: x\ninclude: {name}\n")
        message = refusal(path)
        assert "a.yaml:2: include: " in message
    else:
        path.write_text(f"tables: {{t: {{file: {name}}}}}\n")
        document = yaml_files.load(path)
        with pytest.raises(InvalidFile) as caught:
            document.locate(name, ("tables", "t", "file"))
        message = str(caught.value)
        assert "a.yaml:1: tables.t.file: " in message
    assert f"'{path.parent}'" in message
    assert "word" not in message


def test_an_include_in_the_root_is_read(write, tmp_path):
    write("shared.yaml", "title: t")
    path = write("family/a.yaml", "name: x\ninclude: ../shared.yaml\n")
    assert yaml_files.load(path, tmp_path).data == {"name": "x", "title": "t"}
    assert "is not in the folder" in refusal(path)


@pytest.mark.posix
def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    for name, fact in (("pipe", "pipe or device"), ("zero", "pipe or device"), ("loop", "links")):
        assert fact in refusal(tmp_path / f"{name}.yaml")
