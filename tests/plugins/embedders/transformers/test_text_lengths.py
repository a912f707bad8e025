"""Token counts and truncation."""

import pytest

from harness.plugins.embedders.transformers.tokens import TextLengths

LONG = "good " * 6


@pytest.fixture
def tokenizer(model):
    return model / "tokenizer.json"


def test_a_text_with_more_tokens_than_the_limit_is_truncated(tokenizer):
    counted = TextLengths(tokenizer, limit=8)
    texts = [LONG, LONG + "bad", "", "hello", "é è ê ë ē ĕ", "é è ê ë ē ĕ ė"]
    assert counted.truncated(texts) == [False, True, False, False, False, True]
    assert counted.lengths(texts) == [8, 8, 2, 3, 8, 8]


def test_a_prompt_and_added_tokens_count_towards_the_limit(tokenizer):
    assert TextLengths(tokenizer, limit=8).truncated([LONG], "query ") == [True]
    assert TextLengths(tokenizer, limit=8, added=1).truncated([LONG]) == [True]


def test_nothing_is_truncated_without_a_limit(tokenizer):
    assert TextLengths(tokenizer, limit=None).truncated([LONG * 99]) == [False]


def test_without_a_tokenizer_file_both_are_estimated(tmp_path):
    counted = TextLengths(tmp_path / "none.json", limit=20)
    assert counted.truncated(["a" * 10, "a" * 100]) == [False, True]
    assert counted.lengths(["a" * 10, "a" * 100]) == [4, 20]
