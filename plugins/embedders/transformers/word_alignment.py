"""Aligns a transformer's tokens with the words of a text, by the positions of the tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.embedder import NO_WORD, TokenStates, words, words_of_tokens
from harness.errors import ModelError

if TYPE_CHECKING:
    from harness.arrays import Vectors


def token_states(
    text: str,
    states: Vectors,
    ids: list[int],
    *,
    tokenizer: Any,
    prompt: str,
    max_length: int | None,
    name: str,
) -> TokenStates:
    """Return the states of a text's tokens, each with the word that it belongs to.

    Parameters
    ----------
    text
        The text, without its prompt.
    states
        (T, d) states of its tokens, without padding.
    ids
        (T,) ids of these tokens, as the model read them.
    tokenizer
        The tokenizer, of transformers.
    prompt
        Text put before the text.
    max_length
        Number of tokens after which a text is cut; None for no limit.
    name
        What to call the model in errors.

    Raises
    ------
    ModelError
        If the tokenizer does not give the positions of its tokens, or gives other tokens.
    """
    if not tokenizer.is_fast:
        raise ModelError(f"'{name}' has no fast tokenizer, and only those give token positions")
    encoding = tokenizer(
        prompt + text,
        truncation=max_length is not None,
        max_length=max_length,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    # The model may have read one more special token behind the text: its end of sequence.
    n = len(encoding["input_ids"])
    if ids[:n] != encoding["input_ids"]:
        raise ModelError(
            f"'{name}' changes texts before it splits them into tokens, so the words of its tokens "
            "are unknown"
        )
    text_words = words(text)
    word_of = np.full(len(ids), NO_WORD, dtype=np.int64)
    word_of[:n] = words_of_tokens(text_words, encoding["offset_mapping"], shift=len(prompt))
    word_of[:n][np.array(encoding["special_tokens_mask"], dtype=bool)] = NO_WORD
    return TokenStates(
        words=tuple(word.text for word in text_words),
        word_of=word_of,
        states=np.asarray(states, dtype=np.float32),
    )
