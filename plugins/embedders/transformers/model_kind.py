"""Tells embedding encoders from models of other kinds, by their files and before they are loaded.

sentence-transformers reads a sparse encoder, a multi-vector model or a cross-encoder as an encoder
with mean pooling, which nobody trained. These kinds are refused with a line that says what they
are. A language model with a masked word as its task is none of them: its encoder is pooled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import ModelError

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


def check_object(model: object) -> NoReturn:
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
    raise ModelError(f"'{name}' {problem}")
