"""Checks what the configuration files of a model state, before a library reads them.

Each setting that decides how the model is read has the type that the libraries expect, and sizes
fit the weights: a model with ten million layers would be built for hours before its weights were
compared. Settings that lead out of the folder are refused.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self, get_args

from harness import limits
from harness.embedder import Kind, Role
from harness.errors import ModelError, suggestion

from .. import weight_files
from ..weight_files import expect, is_count, is_texts

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
        most = weight_files.read_object(tokenizer, name).get("model_max_length")
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
        stated = weight_files.read_object(folder / "tokenizer_config.json", name)
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
    return weight_files.read_object(file, name, place)


# Tells embedding encoders from models of other kinds, by their files and before they are loaded.
#
# sentence-transformers reads a sparse encoder, a multi-vector model or a cross-encoder as an
# encoder with mean pooling, which nobody trained. These kinds are refused with a line that says
# what they are. A language model with a masked word as its task is none of them: its encoder is
# pooled.


ENCODER_STEPS = (
    *("Transformer", "CLIPModel", "StaticEmbedding", "WordEmbeddings", "BoW", "WordWeights"),
    *("Pooling", "WeightedLayerPooling", "LSTM", "CNN", "Dense", "LayerNorm", "Dropout"),
    *("Normalize", "Router", "Asym"),
)
"""The classes of sentence-transformers that an embedding encoder is made of."""
_OF_TEXTS = (
    *("Transformer", "CLIPModel", "StaticEmbedding", "WordEmbeddings", "BoW"),
    *("Router", "Asym"),
)
"""The steps that texts can be given to."""
_ONE_VECTOR = ("Pooling", "StaticEmbedding", "BoW", "CLIPModel")
_LIBRARY = "sentence_transformers."

_SPARSE = (
    "is a sparse encoder (SPLADE or similar): its vectors have a weight for each word of its "
    "vocabulary; expected an embedding encoder, with one dense vector for each text"
)
_MULTI_VECTOR = (
    "is a multi-vector model (ColBERT or similar): it has a vector for each token; expected an "
    "embedding encoder, with one vector for each text"
)
_CROSS_ENCODER = (
    "is a cross-encoder (a reranker): it scores pairs of texts and has no vector of a text; "
    "expected an embedding encoder"
)
_BY_MODEL_TYPE = {
    "SparseEncoder": _SPARSE,
    "MultiVectorEncoder": _MULTI_VECTOR,
    "ColBERT": _MULTI_VECTOR,
    "CrossEncoder": _CROSS_ENCODER,
}
"""What a model is by the `model_type` of config_sentence_transformers.json."""
_BY_PACKAGE = {
    "sentence_transformers.sparse_encoder.": _SPARSE,
    "sentence_transformers.multi_vector_encoder.": _MULTI_VECTOR,
    "sentence_transformers.cross_encoder.": _CROSS_ENCODER,
    "pylate.": _MULTI_VECTOR,
}
"""What a model is by the package of one of its steps."""
_BY_STEP = {
    **dict.fromkeys(
        (
            *("SpladePooling", "MLMTransformer", "SparseAutoEncoder", "CSRSparsity"),
            *("SparseStaticEmbedding", "IDF"),
        ),
        _SPARSE,
    ),
    **dict.fromkeys(("MultiVectorMask", "TokenPooling"), _MULTI_VECTOR),
    "LogitScore": _CROSS_ENCODER,
}
_BY_TASK = {"sequence-classification": _CROSS_ENCODER, "fill-mask": _SPARSE}
"""What a transformer is used for, by `transformer_task` of its settings."""
_CROSS_ENCODER_SETTINGS = ("sentence_transformers", "sbert_ce_default_activation_function")
"""Keys that the library writes only into the config.json of cross-encoders."""
_COLBERT_FILES = ("artifact.metadata",)
_COLBERT_SETTINGS = ("attend_to_expansion_tokens", "skiplist_words")
_COLBERT = re.compile(r"(HF_)?Col[A-Z]\w*|\w*ColBERT\w*|\w*ForMultiVectorRetrieval")
"""Architectures with a vector for each token: ColBERT, ColPali, ColQwen2 …"""


_KINDS: dict[str, tuple[Kind, str]] = {
    _SPARSE: ("sparse", "sparse:"),
    _MULTI_VECTOR: ("multi-vector", "multi-vector:"),
    _CROSS_ENCODER: ("cross-encoder", "cross-encoder:"),
}
"""The kind and the provider of those models of other kinds that the harness reads."""


class OtherKind(ModelError):
    """A folder has a model of another kind than an embedding encoder.

    Attributes
    ----------
    kind
        Its kind; None if the harness cannot read it.
    """

    def __init__(self, message: str, kind: Kind | None) -> None:
        super().__init__(message)
        self.kind = kind


def check_folder(
    folder: Path,
    name: str,
    *,
    settings: Mapping[str, Any],
    steps: Iterable[tuple[str, str]],
    config: Mapping[str, Any],
    transformer_settings: Mapping[str, Any],
    is_plain: bool,
    is_pooled: bool,
) -> None:
    """Check that a model is an embedding encoder.

    Parameters
    ----------
    folder
        The model's folder.
    name
        What the error calls it.
    settings
        Its config_sentence_transformers.json.
    steps
        Name of the class of each step, and the class with its module.
    config
        Its transformer's config.json.
    transformer_settings
        Settings of sentence-transformers for its transformer.
    is_plain
        Whether it has no modules.json, so that its architecture says what it is made for.
    is_pooled
        Whether the user states how tokens are pooled, so that a classifier is read as an encoder.

    Raises
    ------
    ModelError
        If it is another kind of model, or a step is unknown.
    """
    steps = list(steps)
    kind = str(settings.get("model_type") or "SentenceTransformer")
    if kind in _BY_MODEL_TYPE:
        _refuse(name, _BY_MODEL_TYPE[kind])
    for step, class_ in steps:
        for package, problem in _BY_PACKAGE.items():
            if class_.startswith(package):
                _refuse(name, problem)
        if class_.startswith(_LIBRARY) and step not in ENCODER_STEPS:
            _refuse(
                name,
                _BY_STEP.get(step)
                or f"has the step '{class_}' in modules.json, which is no part of an embedding "
                "encoder that this version knows",
            )
    first, class_ = steps[0]
    if class_.startswith(_LIBRARY) and first not in _OF_TEXTS:
        _refuse(
            name,
            f"begins with the step '{first}' in modules.json, which takes no texts; expected one "
            f"of {', '.join(_OF_TEXTS)} (steps run in the order of the list)",
        )
    if kind != "SentenceTransformer":
        _refuse(
            name,
            f"is a '{kind}' by config_sentence_transformers.json; expected a SentenceTransformer, "
            "which is an embedding encoder",
        )
    if is_plain and any(key in config for key in _CROSS_ENCODER_SETTINGS):
        _refuse(name, _CROSS_ENCODER)
    architectures = [str(item) for item in config.get("architectures") or ()]
    if (
        any(map(_COLBERT.fullmatch, architectures))
        or any((folder / file).is_file() for file in _COLBERT_FILES)
        or any(key in settings for key in _COLBERT_SETTINGS)
    ):
        _refuse(name, _MULTI_VECTOR)
    task = transformer_settings.get("transformer_task", "feature-extraction")
    if not is_plain and task != "feature-extraction":
        _refuse(
            name,
            _BY_TASK.get(str(task))
            or f"uses its transformer for '{task}'; expected 'feature-extraction', as embedding "
            "encoders do",
        )
    if is_plain:
        _check_architecture(name, architectures, config, is_pooled=is_pooled)
    elif (
        all(class_.startswith(_LIBRARY) for _, class_ in steps if class_)
        and not any(step in _ONE_VECTOR for step, _ in steps)
        and transformer_settings.get("module_output_name") != "sentence_embedding"
    ):
        _refuse(
            name,
            "has no pooling step in modules.json, nor another that makes one vector of a text; a "
            "model with a vector for each token is no embedding encoder",
        )


def refuse_object(model: object) -> NoReturn:
    """Raise ModelError for an object in memory that is a model of another kind."""
    name = type(model).__name__
    for class_ in type(model).__mro__:
        if class_.__name__ in _BY_MODEL_TYPE:
            raise ModelError(f"this {name} {_BY_MODEL_TYPE[class_.__name__]}")
    raise ModelError(f"this {name} is no embedding encoder")


def check_steps(model: Any) -> None:
    """Check the steps of a `SentenceTransformer` in memory, which may be those of another kind.

    Raises
    ------
    ModelError
        If it is no embedding encoder.
    """
    for step in model.modules():
        class_ = type(step)
        path = f"{class_.__module__}.{class_.__name__}"
        problem = next((p for package, p in _BY_PACKAGE.items() if path.startswith(package)), None)
        if problem is None and path.startswith(_LIBRARY):
            problem = _BY_STEP.get(class_.__name__)
        if problem is not None:
            raise ModelError(f"this {type(model).__name__} {problem}")


def _check_architecture(
    name: str, architectures: list[str], config: Mapping[str, Any], *, is_pooled: bool
) -> None:
    classifier = next((a for a in architectures if a.endswith("ForSequenceClassification")), None)
    if classifier is None:
        return
    labels = config.get("id2label")
    n = len(labels) if isinstance(labels, dict) and labels else config.get("num_labels", 2)
    if n == 1:
        _refuse(name, _CROSS_ENCODER)
    if not is_pooled:
        _refuse(
            name,
            f"is a classifier with {n} labels ({classifier}); expected an embedding encoder. To "
            "read the encoder inside, set pooling=mean or another pooling",
        )


def _refuse(name: str, problem: str) -> NoReturn:
    kind, provider = _KINDS.get(problem, (None, None))
    if provider is not None:
        problem += f", or the provider '{provider}'"
    raise OtherKind(f"'{name}' {problem}", kind)


# Which part of an asymmetric model a text goes through, by the role that a task gives it.
#
# The module `Router` of sentence-transformers has several routes. Its methods `encode_query` and
# `encode_document` name a task, `query` or `document`, and `encode` names none; the module finds
# the route of a task. Here the same is found without loading the model, from `router_config.json`.


MODALITY = "text"
"""What the library calls inputs that are texts, rather than images and the like."""
TASK_SETTINGS = ("query_length", "document_length", "query_expansion")
"""Settings of the library's transformer that change the reading of queries or documents."""
_LONGEST_KEY = 1_000


@dataclass(frozen=True)
class Router:
    """The routes of one module.

    Parameters
    ----------
    routes
        Names of its own modules by route, in order.
    default
        The route of texts without a task; None for none.
    mappings
        Routes by task and kind of input; None stands for any.
    """

    routes: Mapping[str, Sequence[str]]
    default: str | None
    mappings: Mapping[tuple[Any, Any], str]

    @classmethod
    def of_config(cls, config: Mapping[str, Any]) -> Self:
        """Return what a `router_config.json` states.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it does not have the form that the library writes.
        """
        routes = {str(route): list(map(str, steps)) for route, steps in config["structure"].items()}
        parameters = config.get("parameters") or {}
        default = parameters.get("default_route")
        if default is None and parameters.get("allow_empty_key", True):
            default = next(iter(routes))
        mappings = {}
        for key, route in (parameters.get("route_mappings") or {}).items():
            task, kind = ast.literal_eval(key[:_LONGEST_KEY])
            mappings[task, kind] = str(route)
        for route in [*mappings.values(), *([] if default is None else [default])]:
            if not routes.get(route):
                raise ValueError(f"it has no route '{route}'")
        return cls(routes, default, mappings)

    def route(self, task: str | None) -> str | None:
        """Return the route of texts of a task; None if it has none, which the library refuses."""
        for key in ((task, MODALITY), (task, None), (None, MODALITY), (None, None)):
            if key in self.mappings:
                return self.mappings[key]
        for name in (task, MODALITY):
            if name in self.routes:
                return name
        return self.default if task is None else None


@dataclass(frozen=True)
class Routes:
    """What happens to texts of each role.

    Parameters
    ----------
    names
        The route by role; empty if all roles go the same way. A missing role has no route.
    tasks
        The task that the library is given for a role.
    """

    names: Mapping[Role, str] = field(default_factory=dict)
    tasks: Mapping[Role, str] = field(default_factory=dict)

    @classmethod
    def of(cls, routers: Sequence[Router], *, differs: bool = False) -> Self:
        """Return the routes through a model.

        A text that is neither a query nor a document goes the default way; where there is none, it
        goes the way of documents.

        Parameters
        ----------
        routers
            Its modules with several routes.
        differs
            Whether another of its modules treats queries or documents in a way of its own.
        """
        names: dict[Role, str] = {}
        tasks: dict[Role, str] = {}
        if not routers and not differs:
            return cls()
        for role in get_args(Role):
            for task in (None, "document") if role == "text" else (role,):
                found = [router.route(task) for router in routers]
                if None in found:
                    continue
                # A task is a part of the name where it changes more than the route.
                parts = [*filter(None, found), *([task or "default"] if differs else [])]
                names[role] = " + ".join(parts)
                if task is not None:
                    tasks[role] = task
                break
        return cls(names, tasks)

    def arguments(self, role: Role, name: str) -> dict[str, str]:
        """Return the arguments of the library's `encode` for texts of a role.

        Raises
        ------
        ModelError
            If the model, whose name is `name`, has no route for the role.
        """
        if self.names and role not in self.names:
            known = ", ".join(f"{role}: {route}" for role, route in self.names.items())
            raise ModelError(f"'{name}' has no route for the role '{role}' (it has {known})")
        return {"task": self.tasks[role]} if role in self.tasks else {}

    def notices(self) -> list[str]:
        """Return what a user may not expect of the routes, a line for each."""
        if "text" not in self.tasks:
            return []
        return [
            "it has no default route; texts that are neither queries nor documents take the route "
            f"'{self.names['text']}'"
        ]
