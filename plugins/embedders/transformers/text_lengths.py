"""How many tokens a text has, and whether a model cuts it: by the tokenizer, without weights."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class TextLengths:
    """Counts the tokens that a model makes of texts.

    Counting takes about 1 % of the time that encoding takes. Where the tokenizer's file cannot be
    read on its own, lengths are estimated from the characters.

    Parameters
    ----------
    tokenizer
        The file `tokenizer.json`; it need not be there.
    limit
        Tokens after which a text is cut; None if it never is.
    prompt
        What is put before each text.
    added
        Tokens that are put behind each text beside those that the tokenizer adds itself.
    """

    def __init__(
        self, tokenizer: Path, *, limit: int | None, prompt: str | None, added: int = 0
    ) -> None:
        self._file, self._limit, self._prompt, self._added = tokenizer, limit, prompt or "", added

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens of each text the model reads."""
        limit = self._limit or 10**9
        return [min(n, limit) for n in self._counted(texts)]

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Return whether each text is longer than the model reads.

        A text of plain letters has at most one token for each, so that most need no counting.
        """
        if self._limit is None:
            return [False] * len(texts)
        room = self._limit - len(self._prompt) - self._added - self._special
        plain = self._prompt.isascii()
        long = [not plain or not text.isascii() or len(text) > room for text in texts]
        counted = iter(self._counted(list(itertools.compress(texts, long))))
        return [is_long and next(counted) > self._limit for is_long in long]

    def _counted(self, texts: Sequence[str]) -> list[int]:
        if self._tokenizer is None:
            return [2 + (len(self._prompt) + len(text)) // 4 for text in texts]
        found = self._tokenizer.encode_batch([f"{self._prompt}{text}" for text in texts])
        return [len(tokens) + self._added for tokens in found]

    @property
    def _special(self) -> int:
        return 2 if self._tokenizer is None else len(self._tokenizer.encode("")) + 1

    @functools.cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        if not self._file.is_file():
            return None
        try:
            tokenizer = Tokenizer.from_file(str(self._file))
        except Exception:  # the library raises bare ones; lengths only make batches even
            return None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
