"""Checks that each weight of a model was read from its files when the model is loaded.

transformers gives a weight that the files lack a random value, and passes over those that the
model has no place for; both are a warning at most, but the vectors of such a model mean nothing.
sentence-transformers does not pass the report of transformers on, so it is taken where it is made.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, ModelError
from harness.plugins.embedders import config_files
from harness.plugins.embedders.transformers import model_settings

if TYPE_CHECKING:
    from harness.plugins.embedders.transformers.model_folder import ModelFolder

_NAMED = 3
"""How many weights a message names."""
_POOLERS = re.compile(r"(.*\.)?pooler\..*")
_NO_WEIGHTS = re.compile(
    r".*(position_ids|token_type_ids|inv_freq|(cos|sin)_cached|masked_bias|attn\.bias|attention\.bias"
    r"|[kv]_scale|num_batches_tracked)"
)
"""Arrays that older versions saved and that models compute, and those of caches."""
_lock = threading.RLock()


@contextlib.contextmanager
def checked(folder: ModelFolder) -> Iterator[None]:
    """Check each transformer that is loaded inside the context.

    Parameters
    ----------
    folder
        The model.

    Raises
    ------
    ModelError
        If a weight is missing, has another shape than the configuration says, or belongs to a part
        of the model that the configuration lacks; or if there is no tokenizer.
    """
    from transformers import PreTrainedModel

    folders = (
        []
        if folder.is_one_file
        else [module.folder for module in folder.all_modules if module.kind == "Transformer"]
    )
    for transformer in folders:
        model_settings.check_tokenizer(transformer, folder.name)
        if (transformer / "config.json").is_file():
            config = config_files.read_object(transformer / "config.json", folder.name)
            model_settings.check_activation(config, folder.name)
    with _lock:
        library: Any = PreTrainedModel
        original = library.__dict__["from_pretrained"]

        def from_pretrained(class_: Any, *arguments: Any, **options: Any) -> Any:
            asked = options.pop("output_loading_info", False)
            # Without this a mismatch is an error that does not say of which weights.
            options["ignore_mismatched_sizes"] = True
            model, report = original.__func__(
                class_, *arguments, **options, output_loading_info=True
            )
            _check(folder.name, model, report, needs_pooler=folder.reads_pooler)
            return (model, report) if asked else model

        library.from_pretrained = classmethod(from_pretrained)
        try:
            yield
        except HarnessError:
            raise
        except (OSError, ValueError, TypeError, AttributeError):
            for transformer in folders:
                model_settings.explain_tokenizer(transformer, folder.name)
            raise
        finally:
            library.from_pretrained = original


def check_tokens(name: str, tokenizer: Any, rows: int) -> None:
    """Check that each token of a vocabulary has a row in the matrix of a model.

    Tokens that were added to the vocabulary do not count: some models never use theirs.

    Raises
    ------
    ModelError
        If there are more tokens than rows.
    """
    size = getattr(tokenizer, "vocab_size", None)
    if callable(getattr(tokenizer, "get_vocab_size", None)):  # of the package tokenizers
        size = tokenizer.get_vocab_size()
    if isinstance(size, int) and size > rows:
        raise ModelError(
            f"'{name}': its tokenizer has {size:,} tokens, but the weights have rows for {rows:,}; "
            "tokenizer and weights are not of one model"
        )


def check_steps(name: str, model: Any) -> None:
    """Check the tokens of each step of a SentenceTransformer; see `check_tokens`."""
    for step in model.modules():
        tokenizer = getattr(step, "tokenizer", None)
        transformer: Any = getattr(step, "auto_model", None)
        rows = getattr(getattr(step, "embedding", None), "num_embeddings", None)
        if callable(getattr(transformer, "get_input_embeddings", None)):
            with contextlib.suppress(NotImplementedError):
                rows = getattr(transformer.get_input_embeddings(), "num_embeddings", None)
        if tokenizer is not None and isinstance(rows, int):
            check_tokens(name, tokenizer, rows)


def _check(name: str, model: Any, report: Any, *, needs_pooler: bool) -> None:
    missing = sorted(
        key
        for key in report["missing_keys"]
        if not _NO_WEIGHTS.fullmatch(key) and (needs_pooler or not _POOLERS.fullmatch(key))
    )
    if missing:
        raise ModelError(
            f"'{name}': {_weights(missing)} missing from its files and would be random; the files "
            f"are not those of a {type(model).__name__} as config.json describes it"
        )
    mismatched = sorted(
        item
        for item in report["mismatched_keys"]
        if needs_pooler or not _POOLERS.fullmatch(item[0])
    )
    if mismatched:
        key, found, expected = mismatched[0]
        raise ModelError(
            f"'{name}': {_weights([item[0] for item in mismatched])} of another shape than "
            f"config.json says: '{key}' is {_shape(found)}, expected {_shape(expected)}"
        )
    parts = {key for key, _ in model.named_children()}
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    left_over = sorted(
        key
        for key in report["unexpected_keys"]
        if key.removeprefix(prefix).partition(".")[0] in parts
        and not _NO_WEIGHTS.fullmatch(key)
        and not _POOLERS.fullmatch(key)
    )
    if left_over:
        raise ModelError(
            f"'{name}': {_weights(left_over)} in its files, but not part of a "
            f"{type(model).__name__} as config.json describes it; configuration and weights are "
            "not of one model"
        )


def _weights(keys: list[str]) -> str:
    """Return the names of some weights, as the subject of a sentence."""
    named = ", ".join(f"'{key}'" for key in keys[:_NAMED])
    if len(keys) == 1:
        return f"the weight {named} is"
    more = "" if len(keys) <= _NAMED else ", …"
    return f"{len(keys)} weights ({named}{more}) are"


def _shape(shape: Any) -> str:
    return "x".join(map(str, shape))
