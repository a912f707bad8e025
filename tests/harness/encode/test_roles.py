"""Keys of texts in their roles, and groups of keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.embedder import ModelInfo, by_role, role_keys, text_of_key
from harness.errors import NotApplicable

PROMPTS = {"text": "", "query": "query: ", "document": "passage: "}
ROLES = st.sampled_from(["text", "query", "document"])


@given(st.text(), ROLES)
def test_a_key_has_its_text_and_its_role(text, role):
    (key,) = role_keys([text], role, PROMPTS)
    assert text_of_key(key) == text
    (group,) = by_role([key], PROMPTS)
    assert (group.texts, group.arguments.get("role", "text")) == ([text], role)


def test_a_text_has_a_key_for_each_role():
    keys = {role_keys(["a"], role, PROMPTS)[0] for role in PROMPTS}
    assert len(keys) == 3
    assert "a" in keys


@given(st.lists(st.tuples(ROLES, st.sampled_from(["a", "b", ""]))))
def test_groups_have_each_key_once_at_its_position(pairs):
    keys = [role_keys([text], role, PROMPTS)[0] for role, text in pairs]
    groups = by_role(keys, PROMPTS)
    assert sorted(i for group in groups for i in group.positions) == list(range(len(keys)))
    for group in groups:
        assert group.keys(keys) == [keys[i] for i in group.positions]
        assert [pairs[i][1] for i in group.positions] == group.texts
        assert {pairs[i][0] for i in group.positions} == {group.arguments.get("role", "text")}


@given(st.lists(st.text()), ROLES)
def test_a_model_without_prompts_by_role_gets_its_texts_as_they_are(texts, role):
    for prompts in ({}, {"text": "query: "}):
        assert role_keys(texts, role, prompts) == texts
        (group,) = by_role(texts, prompts)
        assert (group.texts, group.arguments) == (texts, {})


def test_a_role_with_the_prompt_of_plain_texts_is_plain():
    prompts = {"text": "query: ", "query": "query: ", "document": "passage: "}
    assert role_keys(["a"], "query", prompts) == ["a"]
    assert role_keys(["a"], "document", prompts) != ["a"]


def test_a_role_with_a_route_of_its_own_has_keys_of_its_own():
    routes = {"text": "long", "query": "short", "document": "long"}
    info = ModelInfo(name="m", kind="text", fingerprint="f", routes=routes)
    assert role_keys(["a"], "document", info.readings) == ["a"]
    (key,) = role_keys(["a"], "query", info.readings)
    (group,) = by_role([key], info.readings)
    assert (group.texts, group.arguments) == (["a"], {"role": "query"})


def test_a_role_without_a_route_is_named():
    info = ModelInfo(name="m", kind="text", fingerprint="f", routes={"document": "only"})
    with pytest.raises(NotApplicable, match="no route for queries"):
        role_keys(["a"], "query", info.readings)
    with pytest.raises(NotApplicable, match="no route for plain texts"):
        role_keys(["a"], "text", info.readings)
