"""Labels: names with the options that differ from their defaults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Mitigator, limits, names


class Method(Mitigator):
    def __init__(
        self,
        k: int = 1,
        share: float = 0.5,
        flag: bool = False,
        word: str = "",
        limit: int | None = None,
        words: tuple[str, ...] = (),
    ):
        self.k, self.share, self.flag = k, share, flag
        self.word, self.limit, self.words = word, limit, words


def test_a_chain_has_the_label_of_each_stage():
    assert (
        names.mitigator_label("method?k=2+method", [Method(k=2), Method()]) == "method?k=2+method"
    )
    assert names.mitigator_label("none", []) == "none"


@given(
    k=st.integers(-limits.INTEGER, limits.INTEGER),
    share=st.floats(allow_nan=False),
    flag=st.booleans(),
    word=st.text(alphabet=st.characters(exclude_characters="/\\~:", codec="utf-8")),
    words=st.lists(st.text("ab,[{", min_size=1)).map(tuple),
)
def test_a_label_can_be_typed_and_gives_the_same_mitigator(**params):
    mitigator = Method(**params)
    (stage,) = names.chain_stages(names.mitigator_label("method", [mitigator]))
    again = Method(**names.convert_options(Method, stage.options, what="m"))
    assert again.get_params() == mitigator.get_params()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/words.txt", "words.txt"),
        ("~/words.txt", "words.txt"),
        ("~nobody-of-this-name/words.txt", "words.txt"),
        ("./words.txt", "words.txt"),
        ("../a/words.txt", "words.txt"),
        ("C:\\data\\words.txt", "words.txt"),
        ("vectors:/home/me/words.txt", "vectors:words.txt"),
        ("http://localhost:8000/v1", "http://localhost:8000/v1"),
        ("owner/model", "owner/model"),
        ("query: ", "query: "),
        ("words.txt", "words.txt"),
        ("x/" + "x" * 5000, "x/" + "x" * 5000),
        ("a/\0b", "a/\0b"),
    ],
)
def test_a_text_that_is_a_path_is_shown_without_its_folder(text, shown):
    assert names.public_value(text) == shown
    assert names.public_value({"a": [text, 1]}) == {"a": [shown, 1]}


def test_a_key_is_in_no_label_and_no_record():
    values = {"api_key": "sk-1234", "key": None, "max_tokens": 5}
    assert names.with_options("x", values) == "x?max_tokens=5"
    assert names.public_value(values) == {"api_key": "***", "key": None, "max_tokens": 5}
    for option in ("apikey", "HF_TOKEN", "authkey", "password", "client_secret"):
        assert names.public_value({option: "sk-1234"}) == {option: "***"}
    for option in ("monkey", "tokens", "keyword"):
        assert names.public_value({option: "a"}) == {option: "a"}


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        ("OPENAI_API_KEY", True),
        ("MY_KEY_2&name=x", True),
        ("sk-abcdef123456", False),
        ("AKIAIOSFODNN7EXAMPLE", False),
        ("ABC-secret", False),
        ("MY_KEY-secret", False),
    ],
)
def test_a_line_has_the_variable_of_a_key_and_no_key(value, is_shown):
    line = f"'openai:m?key={value}' is wrong"
    shown = names.without_secrets(line)
    assert shown == (line if is_shown else "'openai:m?key=***' is wrong")
