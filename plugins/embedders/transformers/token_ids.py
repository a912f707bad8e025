"""Which word each token of a transformer belongs to, by what its tokenizer says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import ModelError
from harness.token_states import NO_WORD, TokenStates, words, words_of_tokens

if TYPE_CHECKING:
    from harness.arrays import Vectors


def joined(
    text: str,
    states: Vectors,
    ids: list[int],
    *,
    tokenizer: Any,
    prompt: str,
    max_length: int | None,
    name: str,
) -> TokenStates:
    """Return the states of a text's tokens with the words that they belong to.

    Parameters
    ----------
    text
        The text, without its prompt.
    states
        (T, d) states of its tokens, without padding.
    ids
        (T,) ids of these tokens, as the model was given them.
    tokenizer
        The tokenizer, of transformers.
    prompt
        What the model put before the text.
    max_length
        Tokens after which a text is cut, if there is such a limit.
    name
        What to call the model in errors.

    Raises
    ------
    ModelError
        If it cannot be told where the tokens stand in the text.
    """
    if not tokenizer.is_fast:
        raise ModelError(f"'{name}' has no fast tokenizer, which alone says where its tokens stand")
    made = tokenizer(
        prompt + text,
        truncation=max_length is not None,
        max_length=max_length,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
    )
    # The model may have been given one special token more behind the text, its end of sequence.
    n = len(made["input_ids"])
    if ids[:n] != made["input_ids"]:
        raise ModelError(
            f"'{name}' changes texts before it cuts them into tokens: their words are unknown"
        )
    found = words(text)
    word_of = np.full(len(ids), NO_WORD, dtype=np.int64)
    word_of[:n] = words_of_tokens(found, made["offset_mapping"], shift=len(prompt))
    word_of[:n][np.array(made["special_tokens_mask"], dtype=bool)] = NO_WORD
    return TokenStates(
        words=tuple(word.text for word in found),
        word_of=word_of,
        states=np.asarray(states, dtype=np.float32),
    )
