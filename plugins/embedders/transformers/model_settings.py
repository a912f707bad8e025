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

from harness import limits
from harness.errors import ModelError, suggestion
from harness.plugins.embedders import config_files, weight_files
from harness.plugins.embedders.config_files import expect, is_count, is_texts

POOLINGS = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
_VOCABULARIES = re.compile(r"tokenizer\.json|vocab\.\w+|.*\.(model|tiktoken|bpe)|tekken\.json")
_OF_BYTES = ("ByT5Tokenizer", "CanineTokenizer", "PerceiverTokenizer")
"""Tokenizers without a vocabulary: each byte or character is a token."""
_DTYPE = re.compile(r"(torch\.)?(auto|b?float16|float(32|64)|float8_\w+|half|double|u?int\d+)")
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
_POSITION_MATRIX = re.compile(r"(.*\.)?(position_embeddings|wpe|embed_positions)\.weight")
_MOST_LAYERS, _MOST_PARTS, _LARGEST_SIZE, _MOST_POSITIONS = 256, 65_536, 4_096, 20_000_000
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
        if text is not None and len(text) > limits.PROMPT_CHARACTERS:
            raise ModelError(
                f"'{name}': config_sentence_transformers.json: prompts.{key} has "
                + limits.too_many(len(text), limits.PROMPT_CHARACTERS, "characters")
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
    for entry in folder.iterdir():
        if _VOCABULARIES.fullmatch(entry.name) and entry.is_file():
            weight_files.check_pointer(entry, name)
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
    for key in ("torch_dtype", "dtype"):
        value = config.get(key)
        expect(
            value is None or (isinstance(value, str) and _DTYPE.fullmatch(value) is not None),
            "a type of numbers such as float32",
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
    """Check that a transformer's folder has the files of a tokenizer.

    Without them transformers makes a tokenizer that knows no word, and says nothing. A copy in a
    cache may lack them until they are needed, so this is checked when the model is loaded.

    Raises
    ------
    ModelError
        If one is missing.
    """
    files = {entry.name for entry in folder.iterdir()}
    stated: Mapping[str, Any] = {}
    if "tokenizer_config.json" in files:
        stated = config_files.read_object(folder / "tokenizer_config.json", name)
    if stated.get("tokenizer_class") in _OF_BYTES or "auto_map" in stated:
        return
    if not any(map(_VOCABULARIES.fullmatch, files)):
        raise ModelError(
            f"'{name}' has no tokenizer: tokenizer.json is missing, and there is no other "
            "vocabulary, such as vocab.txt"
        )
    others = [file for file in files if _VOCABULARIES.fullmatch(file) and file != "vocab.json"]
    if "vocab.json" in files and not others and "merges.txt" not in files:
        raise ModelError(
            f"'{name}' has half a tokenizer: vocab.json is there, but neither merges.txt nor "
            "tokenizer.json"
        )


def explain_tokenizer(folder: Path, name: str) -> None:
    """Raise ModelError if the tokenizer of a transformer that could not be loaded is the reason.

    The messages of transformers do not name the file, and list all that a processor could be.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if file.is_file():
        try:
            Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises no narrower type
            raise ModelError(f"'{name}': tokenizer.json cannot be read ({error})") from None


def check_activation(config: Mapping[str, Any], name: str) -> None:
    """Raise ModelError if a config.json names an activation that transformers does not know."""
    from transformers.activations import ACT2FN

    for key in ("hidden_act", "hidden_activation", "activation_function"):
        value = config.get(key)
        if isinstance(value, str) and value not in ACT2FN:
            raise ModelError(
                f"'{name}': config.json: {key} is '{value}', which transformers does not know"
                f"{suggestion(value, ACT2FN)}"
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
    if kind in _MATRICES:
        _check_matrix(_MATRICES[kind], weights, name=name)
    if kind == "WordEmbeddings":
        shown = f"{place}/wordembedding_config.json".removeprefix("./")
        config = _settings(folder / "wordembedding_config.json", name=name, place=shown)
        class_ = config.get("tokenizer_class")
        expect(
            isinstance(class_, str),
            "the class of its tokenizer",
            name=name,
            file=shown,
            key="tokenizer_class",
            value=class_,
        )
    if kind not in _LAYER_SETTINGS:
        return
    file, required, tensor = _LAYER_SETTINGS[kind]
    shown = f"{place}/{file}".removeprefix("./")
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
    "CNN": (
        "cnn_config.json",
        [("in_embedding_dimension", "in_word_embedding_dimension"), ("out_channels",)],
        "convs.0.weight",
    ),
    "LayerNorm": ("config.json", [("dimension",)], "norm.weight"),
}
"""File, required settings (by their names in new and old versions), and first weight of a step."""


_MATRICES = {
    "StaticEmbedding": ("embedding.weight", "embeddings"),
    "WordEmbeddings": ("emb_layer.weight",),
}
"""Names of the matrix of a step that looks its tokens up."""


def _check_matrix(names: tuple[str, ...], weights: list[Path], *, name: str) -> None:
    for path in weights:
        if path.suffix == ".safetensors":
            shapes = weight_files.named_shapes(path)
            if not any(len(shapes.get(key, ())) == 2 for key in names):
                raise ModelError(
                    f"'{name}': {path.name} has no matrix '{names[0]}', the row of each token"
                )


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
    rows: int | None = None  # of a matrix of positions; some models compute positions instead
    if any(file.suffix == ".safetensors" for file in weights):
        shapes = {k: s for file in weights for k, s in weight_files.named_shapes(file).items()}
        n = len(shapes)
        largest = max((max(shape, default=0) for shape in shapes.values()), default=0)
        rows = next((s[0] for k, s in shapes.items() if _POSITION_MATRIX.fullmatch(k)), None)
    else:
        n = sum(map(weight_files.n_pickled, weights))
        largest = sum(file.stat().st_size for file in weights)
    check_numbers(config, n=n, largest=largest, rows=rows, name=name, file="config.json")


def check_numbers(
    config: Mapping[str, Any],
    *,
    n: int,
    largest: int,
    rows: int | None = None,
    name: str,
    file: str,
) -> None:
    """Check sizes against the number of weights, and the largest length of one.

    Parameters
    ----------
    config
        The sizes, by the names of a config.json.
    n
        Number of arrays of weights.
    largest
        The largest length of one.
    rows
        Number of positions that the weights have; None if they have none.
    name, file
        What errors call the model and the file.

    Raises
    ------
    ModelError
        If one is absurd.
    """
    limits = (
        (_LAYERS, max(n, _MOST_LAYERS), f"the model has {n:,} weights"),
        (_PARTS, max(n, largest, _MOST_PARTS), f"the model has {n:,} weights"),
        (_SIZES, max(largest, _LARGEST_SIZE), f"no weight is longer than {largest:,}"),
        (
            _POSITIONS,
            max(largest, _MOST_POSITIONS) if rows is None else rows,
            f"the weights have {largest if rows is None else rows:,} positions",
        ),
    )
    for key, value in _numbers(config):
        for pattern, most, why in limits:
            if pattern.fullmatch(key.rpartition(".")[2]) and value > most:
                raise ModelError(f"'{name}': {file}: {key} is {value}, but {why}")


def _numbers(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, int]]:
    """Yield the whole numbers of a configuration and of those inside it, by their keys."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{key}.")
        elif is_count(value):
            yield f"{prefix}{key}", value


def _settings(file: Path, *, name: str, place: str) -> dict[str, Any]:
    if not file.is_file():
        raise ModelError(f"'{name}': {place} is missing; the model has this step")
    return config_files.read_object(file, name, place)
