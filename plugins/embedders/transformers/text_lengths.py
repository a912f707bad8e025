"""Counts the tokens of texts and tells which are truncated; needs the tokenizer, no weights.

A `tokenizer.json` is read by itself, which takes milliseconds. The model's own tokenizer is loaded
where there is no such file, or where the file does not say all: then transformers is imported.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Count: TypeAlias = Callable[[Sequence[str], str], Sequence[int]]
"""Returns the number of tokens of each text behind a prompt."""
_START = 4096  # bytes of tokenizer.json that have its truncation: the vocabulary stands behind it
_TRUNCATION = re.compile(r'"truncation"\s*:\s*\{.{0,200}?"max_length"\s*:\s*(\d{1,9})', re.DOTALL)
_AROUND = 8
"""Most tokens that a tokenizer puts around a text."""


class TextLengths:
    """Token counts of texts for one model.

    Counting takes about 1 % of the time of encoding. If no tokenizer can be read, the counts are
    estimated: two tokens, and one for every four characters.

    Parameters
    ----------
    tokenizer
        The file `tokenizer.json`, which may be missing; None if it does not give the counts.
    limit
        Number of tokens after which a text is cut; None for no limit.
    added
        Number of tokens put behind each text, besides those that the tokenizer adds itself.
    around
        Most tokens that are put around a text.
    special
        Whether the tokenizer adds its special tokens.
    lowercase
        Whether texts are lower-cased first.
    own
        Returns what counts as the model does, for a model without the file.
    """

    def __init__(
        self,
        tokenizer: Path | None,
        *,
        limit: int | None,
        added: int = 0,
        around: int = _AROUND,
        special: bool = True,
        lowercase: bool = False,
        own: Callable[[], Count] | None = None,
    ) -> None:
        self._file, self._limit, self._added, self._around = tokenizer, limit, added, around
        self._special, self._lowercase, self._own = special, lowercase, own

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process, which reads the tokenizer itself."""
        return {key: value for key, value in self.__dict__.items() if key != "_count"}

    def lengths(self, texts: Sequence[str], prompt: str = "") -> list[int]:
        """Return the number of tokens that the model reads of each text: at most the limit.

        Parameters
        ----------
        texts
            The texts.
        prompt
            Text put before each text.
        """
        limit = self._limit or 10**9
        return [min(n, limit) for n in self._counted(texts, prompt)]

    def truncated(self, texts: Sequence[str], prompt: str = "") -> list[bool]:
        """Return whether each text has more tokens than the limit.

        An ASCII text has at most one token a character, so short ones need no counting.

        Parameters
        ----------
        texts, prompt
            As in `lengths`.
        """
        if self._limit is None:
            return [False] * len(texts)
        room = self._limit - len(prompt) - self._added - self._around
        plain = prompt.isascii()
        maybe_long = [not plain or not text.isascii() or len(text) > room for text in texts]
        if not any(maybe_long):
            return [False] * len(texts)
        counted = iter(self._counted(list(itertools.compress(texts, maybe_long)), prompt))
        return [maybe and next(counted) > self._limit for maybe in maybe_long]

    def _counted(self, texts: Sequence[str], prompt: str) -> list[int]:
        return [int(n) + self._added for n in self._count(texts, prompt)] if texts else []

    @functools.cached_property
    def _count(self) -> Count:
        if self._file is not None and self._file.is_file():
            try:
                return self._of_file(self._file)
            except Exception:  # noqa: S110  # the library raises no narrower type
                pass
        if self._own is not None:
            try:
                return self._own()
            except Exception:  # noqa: S110  # encoding will say what is wrong; an estimate is enough
                pass
        return _estimate

    def _of_file(self, file: Path) -> Count:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(file))
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def count(texts: Sequence[str], prompt: str) -> list[int]:
            whole = [f"{prompt}{text}" for text in texts]
            whole = [text.lower() for text in whole] if self._lowercase else whole
            encodings = tokenizer.encode_batch(whole, add_special_tokens=self._special)
            return list(map(len, encodings))

        return count


def stated_limit(tokenizer: Path) -> int | None:
    """Return the number of tokens after which a `tokenizer.json` itself cuts; None for no limit."""
    try:
        with tokenizer.open("rb") as file:
            start = file.read(_START).decode("utf-8", "ignore")
    except OSError:
        return None
    found = _TRUNCATION.search(start)
    return int(found[1]) if found else None


def by_tokenizer(tokenizer: Any, *, lowercase: bool = False) -> Count:
    """Return what counts as a tokenizer of transformers does."""

    def count(texts: Sequence[str], prompt: str) -> list[int]:
        whole = [f"{prompt}{text}" for text in texts]
        whole = [text.lower() for text in whole] if lowercase else whole
        return list(map(len, tokenizer(whole, truncation=False, verbose=False)["input_ids"]))

    return count


def by_words(folder: Path, settings: Mapping[str, Any]) -> Count:
    """Return what counts as the tokenizer of an encoder of word vectors does.

    Raises
    ------
    ValueError
        If the tokenizer is not one of the library's.
    """
    import importlib

    module, _, name = str(settings["tokenizer_class"]).rpartition(".")
    if not module.startswith("sentence_transformers."):
        raise ValueError(f"{module} is not of sentence-transformers")
    tokenizer = getattr(importlib.import_module(module), name).load(str(folder))

    def count(texts: Sequence[str], prompt: str) -> list[int]:
        return [len(tokenizer.tokenize(f"{prompt}{text}")) for text in texts]

    return count


def by_chat_template(folder: Path, *, is_plain: bool, trusted: bool) -> Count:
    """Return what counts as the library does for a model that gets texts in a chat template.

    It is the library's own transformer, with a model that has no weights.
    """
    import torch
    from sentence_transformers.base.modules import Transformer
    from transformers import AutoModel

    class WithoutWeights(Transformer):
        def _load_model(self, *arguments: Any, **_: Any) -> Any:
            build: Any = AutoModel.from_config
            with torch.device("meta"):
                return build(arguments[2], trust_remote_code=trusted)

    options: dict[str, Any] = {"local_files_only": not trusted, "trust_remote_code": trusted}
    if is_plain:
        kinds = ("model_kwargs", "processor_kwargs", "config_kwargs")
        transformer = WithoutWeights(str(folder), **{kind: dict(options) for kind in kinds})
    else:
        transformer = WithoutWeights.load(str(folder), **options)
    tokenizer = transformer.tokenizer
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.convert_ids_to_tokens(0)
    whole = {"text": {"truncation": False, "max_length": None}}

    def count(texts: Sequence[str], prompt: str) -> list[int]:
        features = transformer.preprocess(list(texts), prompt=prompt, processing_kwargs=whole)
        lengths: list[int] = features["attention_mask"].sum(dim=1).tolist()
        return lengths

    return count


def _estimate(texts: Sequence[str], prompt: str) -> list[int]:
    return [2 + (len(prompt) + len(text)) // 4 for text in texts]
