"""Options: checked against a signature and converted to its types."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import options
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


def convert(**given):
    return options.convert(function, given, what="model 'm'")


def told(**given):
    with pytest.raises(InvalidOption) as caught:
        convert(**given)
    return str(caught.value)


def test_text_becomes_what_the_signature_says():
    given = {"k": "2", "share": "0.25", "flag": "true", "how": "max", "limit": "7", "untyped": "x"}
    assert convert(**given) == {
        "k": 2, "share": 0.25, "flag": True, "how": "max", "limit": 7, "untyped": "x",
    }  # fmt: skip


def test_none_is_none_only_where_the_type_has_it():
    assert convert(limit="none") == {"limit": None}
    assert "option k=none" in told(k="none")


def test_nothing_given_is_nothing_converted():
    assert convert() == {}


@given(st.integers())
def test_whole_numbers_come_through(number):
    assert convert(k=str(number)) == {"k": number}


def test_text_where_a_number_belongs_is_told():
    assert told(k="abc") == (
        "model 'm': option k=abc: input should be a valid integer, "
        "unable to parse string as an integer"
    )


@pytest.mark.parametrize(
    ("option", "value"), [("k", "1.5"), ("k", ""), ("flag", "perhaps"), ("how", "sum")]
)
def test_a_value_that_does_not_fit_is_told_with_its_option(option, value):
    assert told(**{option: value}).startswith(f"model 'm': option {option}={value}: ")


def test_an_unknown_option_is_told_with_the_nearest():
    assert told(shore="1").startswith("model 'm' has no option 'shore'; did you mean 'share'")


def test_an_option_of_something_that_takes_none_is_told():
    with pytest.raises(InvalidOption) as caught:
        options.convert(lambda: None, {"k": "1"}, what="mitigator 'x'")
    assert str(caught.value) == "mitigator 'x' has no option 'k'; it takes none"


def test_only_the_known_names_may_be_given():
    with pytest.raises(InvalidOption, match="has no option 'positional'"):
        options.convert(function, {"positional": "1"}, what="m", known={"k"})


def test_a_class_is_checked_against_its_init():
    class Thing:
        def __init__(self, k: int = 1) -> None:
            pass

    assert options.convert(Thing, {"k": "3"}, what="m") == {"k": 3}


def test_annotations_that_cannot_be_followed_leave_the_value():
    def function(k: Nowhere = 1):  # noqa: F821 -- on purpose
        pass

    assert options.convert(function, {"k": "3"}, what="m") == {"k": "3"}
