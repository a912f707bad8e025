"""The grammar of names that users type."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import names
from harness.errors import HarnessError, InvalidOption

KEY = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1)


def test_a_registered_model_has_no_reference():
    assert names.model("all-MiniLM-L6-v2") == names.Name("all-MiniLM-L6-v2", {})


def test_a_reference_may_have_colons_and_slashes():
    parsed = names.model("vectors:C:/models/a.txt?limit=5")
    assert (parsed.name, parsed.reference) == ("vectors", "C:/models/a.txt")
    assert parsed.options == {"limit": "5"}


def test_a_path_that_exists_is_a_path_whatever_is_in_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "2024-05-01T12:30:00"
    folder.mkdir(parents=True)
    (folder / "why?.txt").touch()
    for path in (folder, "runs/2024-05-01T12:30:00", folder / "why?.txt"):
        assert names.model(str(path)) == names.Name(str(path), {})
    assert names.model(f"{folder}?name=x") == names.Name(str(folder), {"name": "x"})
    assert names.model(f"vectors:{folder}") == names.Name("vectors", {}, str(folder))


def test_a_provider_without_a_reference_is_refused():
    with pytest.raises(InvalidOption, match="'vectors:'"):
        names.model("vectors:")


@given(options=st.dictionaries(KEY, st.text()))
def test_quoted_options_are_parsed_back_to_their_values(options):
    query = "&".join(f"{key}={quote(value, safe='')}" for key, value in options.items())
    assert names.model(f"a:b?{query}").options == options
    assert [stage.options for stage in names.chain_stages(f"x?{query}+y")] == [options, {}]


@given(value=st.text())
def test_a_quoted_value_is_parsed_back_and_has_no_space_at_its_end(value):
    name = names.with_option("a", "prompt", value)
    assert names.model(name).options == {"prompt": value}
    assert not name.endswith(" ")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a?k", ["'a?k'", "'k'", "KEY=VALUE"]),
        ("a?=2", ["'a?=2'", "'=2'", "KEY=VALUE"]),
        ("a?k=1&k=2", ["'a?k=1&k=2'", "'k'", "twice"]),
    ],
)
def test_options_that_are_no_pairs_of_key_and_value_are_refused(text, facts):
    for parse in (names.model, names.chain_stages):
        with pytest.raises(InvalidOption) as caught:
            parse(text)
        assert [fact for fact in facts if fact not in str(caught.value)] == []


def test_a_chain_has_its_stages_in_order():
    stages = names.chain_stages("first?k=2+second+none")
    assert [(stage.name, stage.options) for stage in stages] == [
        ("first", {"k": "2"}),
        ("second", {}),
    ]


def test_none_is_the_empty_chain():
    assert names.chain_stages("none") == []
    assert names.plain("none") == "none"


@pytest.mark.parametrize("name", ["a b", "a/b", "../a", "a?b", "a+b", "", "none", "é", "-a", "a:b"])
def test_a_plugin_cannot_register_an_invalid_name(name):
    with pytest.raises(HarnessError, match=r"'mine'.*metric") as caught:
        names.check(name, "metric", "mine")
    assert f"'{name}'" in str(caught.value)
