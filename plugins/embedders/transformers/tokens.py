"""The tokens of texts: how many and which a text has, what is padding, and whose word each is.

Needs the tokenizer, and no weights. A `tokenizer.json` is read by itself, which takes milliseconds.
The model's own tokenizer is loaded where there is no such file, or where the file does not say all:
then transformers is imported.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness.embedder import NO_WORD, TokenStates, words, words_of_tokens
from harness.errors import ModelError

if TYPE_CHECKING:
    from harness.arrays import Vectors

Count: TypeAlias = Callable[[Sequence[str], str], Sequence[int]]
"""Returns the number of tokens of each text behind a prompt."""
_START = 4096  # bytes of tokenizer.json that have its settings: the vocabulary stands behind it
_TRUNCATION = re.compile(r'"truncation"\s*:\s*\{.{0,200}?"max_length"\s*:\s*(\d{1,9})', re.DOTALL)
_PIECE = 10_000
"""Texts that are split into tokens at a time: the tokens of a text take more memory than it."""
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
        read = ("_count", "_tokenizer")
        return {key: value for key, value in self.__dict__.items() if key not in read}

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

    def unknown(self, texts: Sequence[str]) -> list[bool]:
        """Return whether each text has no token that the tokenizer knows, as far as its file says.

        A model reads all such texts alike.
        """
        if self._tokenizer is None:
            return [False] * len(texts)
        return unknown(self._tokenizer, [t.lower() for t in texts] if self._lowercase else texts)

    def _counted(self, texts: Sequence[str], prompt: str) -> list[int]:
        pieces = (texts[i : i + _PIECE] for i in range(0, len(texts), _PIECE))
        return [int(n) + self._added for piece in pieces for n in self._count(piece, prompt)]

    @functools.cached_property
    def _count(self) -> Count:
        if self._tokenizer is not None:
            return self._by_file
        if self._own is not None:
            try:
                return self._own()
            except Exception:  # noqa: S110  # encoding will say what is wrong; an estimate is enough
                pass
        return _estimate

    @functools.cached_property
    def _tokenizer(self) -> Any:
        """What the file holds; None if there is none, or it cannot be read."""
        if self._file is None or not self._file.is_file():
            return None
        try:
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(self._file))
        except Exception:  # the library raises no narrower type
            return None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def _by_file(self, texts: Sequence[str], prompt: str) -> list[int]:
        whole = [f"{prompt}{text}" for text in texts]
        whole = [text.lower() for text in whole] if self._lowercase else whole
        encodings = self._tokenizer.encode_batch(whole, add_special_tokens=self._special)
        return list(map(len, encodings))


def unknown(tokenizer: Any, texts: Sequence[str]) -> list[bool]:
    """Return whether a tokenizer of the library tokenizers knows no part of each text."""
    token, ids = getattr(tokenizer.model, "unk_token", None), tokenizer.token_to_id
    names = {i for name in ("<unk>", "[UNK]", token) if name and (i := ids(name)) is not None}
    if not names:
        return [False] * len(texts)
    nothing = names | {ids("\u2581")}  # the space of SentencePiece
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return [
        nothing.issuperset(itertools.compress(encoding.ids, encoding.attention_mask))
        for encoding in encodings
    ]


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


# Padding, by which each text of a batch keeps the vector that it has alone.
#
# A tokenizer may pad on the left. A model that counts positions from the start of a row then reads
# other positions than it does for the text alone, whatever its pooling. Such texts are padded on
# the right; the mask hides the padding there. Models whose positions are relative, or are counted
# from the mask, are left as they are. A tokenizer without a padding token, or with one that the
# model has no vector for, pads with any token, which the mask hides; one that makes no mask is told
# to.


GENERATING = ("text-generation", "any-to-any")
"""Tasks of a transformer that the library pads on the left."""
MASK = "attention_mask"
"""What says which tokens are padding. Without it each token of a batch counts."""
_DIRECTION = re.compile(r'"padding"\s*:\s*\{.{0,200}?"direction"\s*:\s*"(\w+)"', re.DOTALL)
_RELATIVE = re.compile("rope|rotary|alibi|relative_attention_num")
"""In the names of settings of models that see how far apart two tokens are, and not where."""
_RELATIVE_KINDS = ("rotary", "rope", "alibi", "relative_key", "relative_key_query")
"""Values of `position_embedding_type` of such models."""
# Positions are counted from the padding's id or from the mask, or are relative without a setting
# that says so: see `create_position_ids_from_input_ids` and the like in transformers.
_LEFT_IS_RIGHT = (
    *("roberta", "xlm-roberta", "xlm-roberta-xl", "roberta-prelayernorm", "camembert", "xmod"),
    *("mpnet", "data2vec-text", "luke", "esm", "longformer", "ibert", "opt", "biogpt"),
    *("bloom", "mpt", "xlnet", "t5", "mt5", "umt5", "longt5"),
)


def shifts_positions(config: Mapping[str, Any]) -> bool:
    """Return whether padding on the left gives tokens other positions than they have alone.

    Parameters
    ----------
    config
        The model's `config.json`.
    """
    text = config.get("text_config")
    for settings in (config, text if isinstance(text, Mapping) else {}):
        if (
            settings.get("model_type") in _LEFT_IS_RIGHT
            or settings.get("position_embedding_type") in _RELATIVE_KINDS
            or settings.get("position_biased_input") is False
            or any(value and _RELATIVE.search(key) for key, value in settings.items())
        ):
            return False
    return True


def stated_side(tokenizer: Path, *settings: Mapping[str, Any]) -> str:
    """Return the side that a tokenizer pads, as its files say it: `left` or `right`.

    Parameters
    ----------
    tokenizer
        The file `tokenizer.json`; it may be missing.
    *settings
        Settings with `padding_side`; the first that states it counts, before the file.
    """
    for stated in settings:
        if stated.get("padding_side"):
            return str(stated["padding_side"]).lower()
    try:
        with tokenizer.open("rb") as file:
            start = file.read(_START).decode("utf-8", "ignore")
    except OSError:
        return "right"
    found = _DIRECTION.search(start)
    return found[1].lower() if found else "right"


def settle_padding(tokenizer: Any, config: Mapping[str, Any]) -> None:
    """Set how a tokenizer of transformers pads for the model of a `config.json`."""
    size = config.get("vocab_size")
    size = size if isinstance(size, int) else len(tokenizer)
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id >= size:
        tokenizer.pad_token = _any_token(tokenizer, config, size)
    if shifts_positions(config):
        tokenizer.padding_side = "right"
    if MASK not in tokenizer.model_input_names:
        tokenizer.model_input_names = [*tokenizer.model_input_names, MASK]


def settle_padding_of(model: Any) -> None:
    """Set how the tokenizers of a `SentenceTransformer` pad."""
    for part in _transformers(model):
        settle_padding(part.tokenizer, part.auto_model.config.to_dict())
        if shifts_positions(part.auto_model.config.to_dict()):
            _options_of_texts(part).pop("padding_side", None)


@contextlib.contextmanager
def settled_padding(model: Any) -> Iterator[None]:
    """Set how a `SentenceTransformer` that belongs to the user pads, for a while."""
    before = [
        (
            part,
            part.tokenizer.padding_side,
            part.tokenizer.pad_token,
            part.tokenizer.model_input_names,
            {**_options_of_texts(part)},
        )
        for part in _transformers(model)
    ]
    settle_padding_of(model)
    try:
        yield
    finally:
        for part, side, token, names, options in before:
            part.tokenizer.padding_side, part.tokenizer.model_input_names = side, names
            if part.tokenizer.pad_token != token:
                part.tokenizer.pad_token = token
            _options_of_texts(part).update(options)


def _transformers(model: Any) -> Iterator[Any]:
    """Yield the parts that split texts for a transformer, but for those that generate text.

    The library insists on padding the latter on the left.
    """
    for part in model.modules():
        transformer, tokenizer = (getattr(part, name, None) for name in ("auto_model", "tokenizer"))
        generates = getattr(part, "transformer_task", "") in GENERATING
        if (
            not generates
            and hasattr(tokenizer, "pad_token_id")
            and hasattr(getattr(transformer, "config", None), "to_dict")
        ):
            yield part


def _any_token(tokenizer: Any, config: Mapping[str, Any], size: int) -> str:
    """Return a token to pad with: the one that the model knows as such, else a special one."""
    special = (tokenizer.eos_token_id, tokenizer.unk_token_id, tokenizer.bos_token_id)
    for known in (config.get("pad_token_id"), *special):
        if isinstance(known, int) and 0 <= known < min(size, len(tokenizer)):
            return str(tokenizer.convert_ids_to_tokens(known))
    return str(tokenizer.convert_ids_to_tokens(0))


def _options_of_texts(part: Any) -> dict[str, Any]:
    """Return the options of the library for texts, which take precedence over the tokenizer's."""
    options = getattr(part, "processing_kwargs", None)
    texts = options.get("text") if isinstance(options, dict) else None
    return texts if isinstance(texts, dict) else {}


# The input of a model, made of token ids at once: the library spends more time around a tokenizer
# than in it.


_PROBES = (
    "the old doctor",
    "",
    "  Two  spaces,\ta tab\nand a line; 5% of €3.50 (naïve café)!",
    "ÄÖÜ İstanbul ﬁn e\u0301 日本語 テキスト한국어 😀 [MASK] </s> <s>",
)
"""Texts that are split in both ways."""
_FEW = 2_048
"""Texts that are split at once: what the tokenizer says of each takes a kilobyte."""


class TokenReader:
    """Splits texts for a `SentenceTransformer`, and makes its input of the token ids.

    The library is the reference: there is a reader only if it makes the input that the library
    makes, of texts with all that tokenizers treat otherwise, and of one that is cut.

    Parameters
    ----------
    tokenizer
        The tokenizer, of transformers; it must be a fast one.
    prompt
        Text put before each text.
    limit
        Number of tokens after which a text is cut; None for no limit.
    lowercase
        Whether texts are lower-cased first.
    constants
        What the input has besides arrays.
    arrays
        Names of the arrays of the input.
    """

    def __init__(
        self,
        tokenizer: Any,
        prompt: str,
        *,
        limit: int | None,
        lowercase: bool,
        constants: Mapping[str, Any],
        arrays: Iterable[str],
    ) -> None:
        self._backend, self._prompt, self._limit = tokenizer.backend_tokenizer, prompt, limit
        self._cut_side = tokenizer.truncation_side
        self._pads_left = tokenizer.padding_side == "left"
        self._padding, self._lowercase = tokenizer.pad_token_id or 0, lowercase
        self._constants, self._arrays = dict(constants), tuple(arrays)

    @classmethod
    def of(cls, model: Any, prompt: str) -> TokenReader | None:
        """Return the reader of a model with a prompt; None if the library makes another input."""
        import torch

        first = model[0]
        tokenizer: Any = getattr(first, "tokenizer", None)
        if not getattr(tokenizer, "is_fast", False):
            return None
        stated = first.max_seq_length or tokenizer.model_max_length
        limit = None if stated > _NO_LIMIT else int(stated)
        if limit is not None and limit > _LONGEST_PROBE:
            return None
        probes = [*_PROBES, *(["doctor " * limit] if limit else [])]
        expected, alone = (model.preprocess(texts, prompt=prompt) for texts in (probes, probes[:1]))
        arrays = [key for key, value in expected.items() if isinstance(value, torch.Tensor)]
        constants = {key: value for key, value in expected.items() if key not in arrays}
        if constants.get("modality", "text") != "text" or not set(arrays) <= _ARRAYS:
            return None
        if any(alone.get(key) != value for key, value in constants.items()):
            return None
        reader = cls(
            tokenizer,
            prompt,
            limit=limit,
            lowercase=bool(getattr(first, "lowercase", False)),
            constants=constants,
            arrays=arrays,
        )
        found = reader.features(reader.ids(probes))
        same = all(
            found[key].dtype == expected[key].dtype and torch.equal(found[key], expected[key])
            for key in arrays
        )
        return reader if same else None

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text, as the model reads them."""
        backend = self._backend  # the library sets both again before it uses them
        backend.no_padding()
        if self._limit is None:
            backend.no_truncation()
        else:
            backend.enable_truncation(self._limit, direction=self._cut_side)
        whole = [self._prompt + text for text in texts] if self._prompt else list(texts)
        whole = [text.lower() for text in whole] if self._lowercase else whole
        return [
            encoding.ids
            for start in range(0, len(whole), _FEW)
            for encoding in backend.encode_batch_fast(whole[start : start + _FEW])
        ]

    def features(self, ids: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return the input of a batch: padded arrays on the CPU, and what else the model takes."""
        import torch

        lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        width = int(lengths.max(initial=0))
        columns = np.arange(width)
        is_token = columns < lengths[:, None]
        if self._pads_left:
            is_token = columns >= width - lengths[:, None]
        padded = np.full(is_token.shape, self._padding, dtype=np.int64)
        padded[is_token] = np.fromiter(
            itertools.chain.from_iterable(ids), dtype=np.int64, count=int(lengths.sum())
        )
        arrays = {"input_ids": padded, MASK: is_token.astype(np.int64)}
        if "token_type_ids" in self._arrays:
            arrays["token_type_ids"] = np.zeros_like(padded)
        return {**{key: torch.from_numpy(arrays[key]) for key in self._arrays}, **self._constants}


_ARRAYS = {"input_ids", "attention_mask", "token_type_ids"}
_LONGEST_PROBE = 32_768
"""A model that reads longer texts is left to the library: the probe would take seconds."""
_NO_LIMIT = 10**20
"""Limits above this mean none; it is the constant of transformers."""


# The words of tokens, by the positions of the tokenizer.


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
