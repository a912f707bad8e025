"""Token counts and truncation."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

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


@pytest.mark.parametrize("kind", ["WordPiece", "WordLevel", "Unigram", "BPE"])
def test_a_text_of_unknown_tokens_alone_is_unknown(tmp_path, kind):
    if kind == "Unigram":
        known = [("<unk>", 0.0), ("▁", -1.0), ("▁good", -1.0)]
        tokenizer = Tokenizer(models.Unigram(known, unk_id=0))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    elif kind == "BPE":  # of bytes: nothing is unknown
        tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate("god john")}, []))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    else:
        known = {"[UNK]": 0, "good": 1}
        tokenizer = Tokenizer(getattr(models, kind)(known, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    lengths = TextLengths(tmp_path / "tokenizer.json", limit=None)
    expected = [kind != "BPE", kind != "BPE", False]
    assert lengths.unknown(["John", "John Paul", "good John"]) == expected
