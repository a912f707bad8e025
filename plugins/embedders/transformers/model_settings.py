"""Checks what the configuration files of a model state, before a library reads them.

Each setting that decides how the model is read has the type that the libraries expect, and sizes
fit the weights: a model with ten million layers would be built for hours before its weights were
compared. Settings that lead out of the folder are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.errors import ModelError, suggestion
from harness.plugins.embedders import config_files, weight_files
from harness.plugins.embedders.config_files import expect, is_count, is_texts

POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
LONGEST_PROMPT = 100_000
"""Characters of a prompt: it is put before each text, and read with it."""
_TOKENIZER_FILES = re.compile(
    r"tokenizer\.json|tokenizer_config\.json|vocab\.\w+|.*\.(model|tiktoken|bpe)|.*tokenizer.*"
)
_OTHER_FILES = (
    *("variant", "use_safetensors", "gguf_file", "state_dict", "adapter_kwargs"),
    *("tokenizer_file", "vocab_file", "merges_file", "spm_file", "sp_model_kwargs"),
)
"""Arguments of transformers that choose other files than those with the usual names."""

# The number of steps of a kind, and lengths of arrays, in a config.json.
_LAYERS = re.compile(r"(.*_)?(n|num)_.*layers?|(.*_)?layers|(.*_)?depth")
_PARTS = re.compile(r"(n|num)_.*(experts|groups|blocks|heads|head|labels)")
_SIZES = re.compile(
    r".*(vocab|hidden|intermediate|embedding|input|output|ffn)_?(size|dim)|d_\w+|dim|n_embd|n_inner"
)
_POSITIONS = re.compile(r".*(position_embeddings|positions|n_ctx|seq_length|max_distance)")
_MOST_LAYERS, _MOST_PARTS, _LARGEST_SIZE, _MOST_POSITIONS = 256, 65_536, 65_536, 20_000_000
"""What is never too many, whatever the weights are: some settings have no weights of their own."""


def check_model(settings: Mapping[str, Any], *, name: str) -> None:
    """Check a config_sentence_transformers.json.

    Raises
    ------
    ModelError
        If a setting has the wrong type, the default prompt is unknown, or a prompt is too long.
    """
    at: dict[str, Any] = {"name": name, "file": "config_sentence_transformers.json"}
    prompts, default = settings.get("prompts"), settings.get("default_prompt_name")
    expect(
        prompts is None or isinstance(prompts, dict),
        "an object with a text for each name",
        key="prompts",
        value=prompts,
        **at,
    )
    for key, text in (prompts or {}).items():
        expect(
            text is None or isinstance(text, str), "a text", key=f"prompts.{key}", value=text, **at
        )
        if text is not None and len(text) > LONGEST_PROMPT:
            raise ModelError(
                f"'{name}': config_sentence_transformers.json: prompts.{key} has {len(text):,} "
                f"characters; at most {LONGEST_PROMPT:,} are allowed"
            )
    expect(
        default is None or isinstance(default, str),
        "the name of a prompt, or null",
        key="default_prompt_name",
        value=default,
        **at,
    )
    if default is not None and default not in (prompts or {}):
        raise ModelError(
            f"'{name}': config_sentence_transformers.json: default_prompt_name is '{default}', "
            f"which is not among its prompts{suggestion(default, prompts or ())}"
        )
    kept = settings.get("truncate_dim")
    expect(
        kept is None or is_count(kept),
        "a whole number of 1 or more, or null",
        key="truncate_dim",
        value=kept,
        **at,
    )


def check_transformer(
    folder: Path, config: Mapping[str, Any], settings: Mapping[str, Any], *, name: str
) -> None:
    """Check the configuration of a transformer and of its tokenizer.

    Parameters
    ----------
    folder
        Its folder.
    config
        Its config.json.
    settings
        The settings of sentence-transformers for it.
    name
        What errors call the model.

    Raises
    ------
    ModelError
        If a setting has the wrong type or names other files.
    """
    architectures = config.get("architectures")
    expect(
        architectures is None or is_texts(architectures),
        "a list of names of classes",
        name=name,
        file="config.json",
        key="architectures",
        value=architectures,
    )
    for key, value in config.items():
        if key in ("max_position_embeddings", "hidden_size", "num_hidden_layers", "vocab_size"):
            expect(
                value is None or is_count(value, at_least=-1),
                "a whole number",
                name=name,
                file="config.json",
                key=key,
                value=value,
            )
    file = "sentence_bert_config.json"
    longest = settings.get("max_seq_length")
    expect(
        longest is None or is_count(longest),
        "a whole number of 1 or more, or null",
        name=name,
        file=file,
        key="max_seq_length",
        value=longest,
    )
    _check_other_files(settings, name=name, file=file)
    tokenizer = folder / "tokenizer_config.json"
    if tokenizer.is_file():
        most = config_files.read_object(tokenizer, name).get("model_max_length")
        expect(
            most is None or (isinstance(most, int | float) and not isinstance(most, bool)),
            "a number",
            name=name,
            file=tokenizer.name,
            key="model_max_length",
            value=most,
        )


def check_tokenizer(folder: Path, name: str) -> None:
    """Check that a transformer's folder has a tokenizer.

    A copy in a cache may lack it until it is needed, so this is checked when the model is loaded.

    Raises
    ------
    ModelError
        If there is none.
    """
    if not any(_TOKENIZER_FILES.fullmatch(entry.name) for entry in folder.iterdir()):
        raise ModelError(
            f"'{name}' has no tokenizer: expected tokenizer.json, or the files of another "
            "tokenizer of transformers, beside config.json"
        )


def _check_other_files(settings: Mapping[str, Any], *, name: str, file: str) -> None:
    elsewhere = settings.get("tokenizer_name_or_path")
    if elsewhere is not None:
        raise ModelError(
            f"'{name}': {file}: tokenizer_name_or_path={elsewhere!r} names another place; copy the "
            "tokenizer into the folder and leave the key out"
        )
    for group, values in settings.items():
        if not group.endswith(("_kwargs", "_args")):
            continue
        expect(isinstance(values, dict), "an object", name=name, file=file, key=group, value=values)
        for key in values:
            if key in _OTHER_FILES and values[key] is not None:
                raise ModelError(
                    f"'{name}': {file}: {group}.{key}={values[key]!r} chooses other files than "
                    "those with the usual names; rename the files and leave the key out"
                )


def check_pooling(folder: Path, *, name: str, place: str) -> dict[str, Any]:
    """Return the settings of a pooling step, checked.

    Parameters
    ----------
    folder
        Its folder.
    name
        What errors call the model.
    place
        Path of its file in the model, for errors.

    Raises
    ------
    ModelError
        If the file is missing, or the pooling is unknown.
    """
    config = _settings(folder / "config.json", name=name, place=place)
    size = config.get("embedding_dimension", config.get("word_embedding_dimension"))
    expect(
        is_count(size),
        "the number of dimensions of a token",
        name=name,
        file=place,
        key="embedding_dimension",
        value=size,
    )
    stated = config.get("pooling_mode", "mean")
    modes = [stated] if isinstance(stated, str) else stated
    expect(
        is_texts(modes) and bool(modes) and set(modes) <= set(POOLINGS),
        f"one or several of {', '.join(POOLINGS)}",
        name=name,
        file=place,
        key="pooling_mode",
        value=stated if isinstance(stated, str) or not is_texts(stated) else ", ".join(stated),
    )
    for key, value in config.items():
        if key.startswith("pooling_mode_") or key == "include_prompt":
            expect(
                isinstance(value, bool),
                "true or false",
                name=name,
                file=place,
                key=key,
                value=value,
            )
    return config


def check_layer(kind: str, folder: Path, weights: list[Path], *, name: str, place: str) -> None:
    """Check the settings of a step with few weights, and that they fit the weights.

    Parameters
    ----------
    kind
        Name of its class.
    folder
        Its folder.
    weights
        Its files of weights.
    name
        What errors call the model.
    place
        Path of its folder in the model, for errors.

    Raises
    ------
    ModelError
        If a setting is missing, or does not fit the weights.
    """
    if kind not in _LAYER_SETTINGS:
        return
    file, required, tensor = _LAYER_SETTINGS[kind]
    shown = f"{place}/{file}"
    config = _settings(folder / file, name=name, place=shown)
    sizes = []
    for keys in required:
        key = next((key for key in keys if key in config), keys[0])
        value = config.get(key)
        expect(is_count(value), "a whole number", name=name, file=shown, key=key, value=value)
        sizes.append(int(value or 0))
    for path in weights:
        if path.suffix != ".safetensors":
            if math.prod(sizes) > path.stat().st_size:  # a weight has a byte or more
                raise ModelError(
                    f"'{name}': {shown} states {_sizes(required, sizes)}, more than {path.name} has"
                )
            continue
        shapes = weight_files.named_shapes(path)
        most = max((math.prod(shape) for shape in shapes.values()), default=0)
        for key, value in config.items():
            if is_count(value, at_least=max(most, 4096) + 1):
                raise ModelError(
                    f"'{name}': {shown} has {key}={value}, but the largest of its weights has "
                    f"{most:,} numbers"
                )
        found = shapes.get(tensor)
        expected = [4 * sizes[1], sizes[0]] if kind == "LSTM" else sizes[::-1]
        if found is None or found[: len(expected)] != expected:
            raise ModelError(
                f"'{name}': {shown} states {_sizes(required, sizes)}; {path.name} has "
                + (f"'{tensor}' of shape {found}" if found else f"no '{tensor}'")
            )


_LAYER_SETTINGS: dict[str, tuple[str, list[tuple[str, ...]], str]] = {
    "Dense": ("config.json", [("in_features",), ("out_features",)], "linear.weight"),
    "LSTM": (
        "lstm_config.json",
        [("embedding_dimension", "word_embedding_dimension"), ("hidden_dim",)],
        "encoder.weight_ih_l0",
    ),
    "LayerNorm": ("config.json", [("dimension",)], "norm.weight"),
}
"""File, required settings (by their names in new and old versions), and first weight of a step."""


def _sizes(required: list[tuple[str, ...]], sizes: list[int]) -> str:
    return ", ".join(f"{keys[0]}={size}" for keys, size in zip(required, sizes, strict=True))


def check_sizes(config: Mapping[str, Any], weights: list[Path], *, name: str) -> None:
    """Check that the sizes in a config.json are not absurd for a transformer's weights.

    Small differences are found when the weights are loaded.

    Raises
    ------
    ModelError
        If there are more layers than weights, or a length that no weight has.
    """
    if any(file.suffix == ".safetensors" for file in weights):
        shapes = [s for file in weights for s in weight_files.named_shapes(file).values()]
        n, largest = len(shapes), max((max(shape, default=0) for shape in shapes), default=0)
    else:
        n = sum(map(weight_files.n_pickled, weights))
        largest = sum(file.stat().st_size for file in weights)
    limits = (
        (_LAYERS, max(n, _MOST_LAYERS), f"the model has {n:,} weights"),
        (_PARTS, max(n, largest, _MOST_PARTS), f"the model has {n:,} weights"),
        (_SIZES, max(largest, _LARGEST_SIZE), f"no weight is longer than {largest:,}"),
        (_POSITIONS, max(largest, _MOST_POSITIONS), f"no weight is longer than {largest:,}"),
    )
    for key, value in _numbers(config):
        for pattern, most, why in limits:
            if pattern.fullmatch(key.rpartition(".")[2]) and value > most:
                raise ModelError(f"'{name}': config.json: {key} is {value}, but {why}")


def _numbers(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, int]]:
    """Yield the whole numbers of a configuration and of those inside it, by their keys."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{key}.")
        elif is_count(value):
            yield f"{prefix}{key}", value


def _settings(file: Path, *, name: str, place: str) -> dict[str, Any]:
    if not file.is_file():
        raise ModelError(f"'{name}': {place} is missing; modules.json lists this step")
    return config_files.read_object(file, name)
