"""Pads the texts of a batch so that each keeps the vector that it has alone.

A tokenizer may pad on the left. A model that counts positions from the start of a row then reads
other positions than it does for the text alone, whatever its pooling. Such texts are padded on the
right; the mask hides the padding there. Models whose positions are relative, or are counted from
the mask, are left as they are. A tokenizer without a padding token, or with one that the model has
no vector for, pads with any token, which the mask hides; one that makes no mask is told to.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

GENERATING = ("text-generation", "any-to-any")
"""Tasks of a transformer that the library pads on the left."""
MASK = "attention_mask"
"""What says which tokens are padding. Without it each token of a batch counts."""
_START = 4096  # bytes of tokenizer.json that have its padding: the vocabulary stands behind it
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


def settle(tokenizer: Any, config: Mapping[str, Any]) -> None:
    """Set how a tokenizer of transformers pads for the model of a `config.json`."""
    size = config.get("vocab_size")
    size = size if isinstance(size, int) else len(tokenizer)
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id >= size:
        tokenizer.pad_token = _any_token(tokenizer, config, size)
    if shifts_positions(config):
        tokenizer.padding_side = "right"
    if MASK not in tokenizer.model_input_names:
        tokenizer.model_input_names = [*tokenizer.model_input_names, MASK]


def settle_all(model: Any) -> None:
    """Set how the tokenizers of a `SentenceTransformer` pad."""
    for part in _transformers(model):
        settle(part.tokenizer, part.auto_model.config.to_dict())
        if shifts_positions(part.auto_model.config.to_dict()):
            _options_of_texts(part).pop("padding_side", None)


@contextlib.contextmanager
def settled(model: Any) -> Iterator[None]:
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
    settle_all(model)
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
