"""Options are checked against a signature and converted to its types."""

from __future__ import annotations

from typing import Literal

import pytest

from harness import names
from harness.errors import InvalidOption


def function(
    positional,
    *,
    k: int = 1,
    share: float = 0.5,
    flag: bool = False,
    how: Literal["mean", "max"] = "mean",
    limit: int | None = None,
    untyped=None,
    **rest,
):
    """Take options of several types."""


def convert(**values):
    return names.convert_options(function, values, what="model 'm'")


def error_of(**values):
    with pytest.raises(InvalidOption) as caught:
        convert(**values)
    return str(caught.value)


def test_text_is_converted_to_the_annotated_types():
    values = {"k": "2", "share": "0.25", "flag": "true", "how": "max", "limit": "7", "untyped": "x"}
    assert convert(**values) == {
        "k": 2, "share": 0.25, "flag": True, "how": "max", "limit": 7, "untyped": "x",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (int, 2, "2"),
        (float, 0.5, "0.5"),
        (float, 2.0, "2"),
        (float, 1e20, "1e20"),
        (bool, True, "true"),
        (int | None, None, "none"),
        (str, "a,b", "a,b"),
        (str | None, "x", "x"),
        (list[str], ["a", "b"], "a,b"),
        (list[str], ["a,b", "c"], '["a,b", "c"]'),
        (list[str], [], "[]"),
        (tuple[int, ...] | None, (1, 2), "1,2"),
        (dict[str, int], {"a": 1}, '{"a": 1}'),
    ],
)
def test_a_value_is_written_as_one_would_type_it(annotation, value, text):
    def function(*, option):
        pass

    function.__annotations__["option"] = annotation
    assert names.option_text(list(value) if isinstance(value, tuple) else value) == text
    assert names.convert_options(function, {"option": text}, what="m") == {"option": value}


@pytest.mark.parametrize(
    ("option", "value"),
    [("k", "abc"), ("k", "1.5"), ("k", ""), ("flag", "perhaps"), ("how", "sum")],
)
def test_the_error_of_an_invalid_value_names_owner_option_and_value(option, value):
    message = error_of(**{option: value})
    assert "'m'" in message
    assert f"{option}={value}" in message


def test_the_error_of_an_unknown_option_suggests_the_closest_one():
    message = error_of(shore="1")
    assert [part for part in ("'m'", "'shore'", "'share'") if part not in message] == []


def test_the_options_of_a_class_are_those_of_its_init():
    class Configured:
        def __init__(self, k: int = 1) -> None:
            pass

    assert names.convert_options(Configured, {"k": "3"}, what="m") == {"k": 3}


@pytest.mark.parametrize("value", [2**63, -(2**64), str(10**30)])
def test_an_integer_beyond_64_bits_is_an_error(value):
    with pytest.raises(InvalidOption, match="an integer beyond 64 bits"):
        convert(k=value)
