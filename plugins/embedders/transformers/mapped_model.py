"""Writes a SentenceTransformer with a map behind it, as a folder that the library loads by itself.

Affine steps become the library's module `Dense`, unit lengths `Normalize`. A sentence after each
text becomes a rule of the tokenizer. It is no prompt: the library puts prompts before texts, which
gives other vectors.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness import folders
from harness.embedder import Role
from harness.errors import (
    PLUGIN_ERRORS,
    DiskError,
    ModelError,
    NotApplicable,
    Unavailable,
    one_line,
)
from harness.mitigator import Affine, Map

from .. import quiet_loading, weight_files

ONNX = Path("onnx") / "model.onnx"
"""Where the library looks for a model in this format, in its folder."""
STATES, VECTORS = "last_hidden_state", "sentence_embedding"
ONNX_ROUNDING = 1e-5
"""Largest difference of a vector of an exported graph that is rounding."""
_EXAMPLES = ("A short text.", "And a text that is longer than the first one, so that it is padded.")
_ENDS, _CLOSERS = r"[.!?…]", "[\"'”’)\\]»]"
"""What `context-injection` takes for the end of a sentence."""
_MOST_CLOSERS = 3


def write(
    model: Any, change: Map, folder: Path, *, prompts: Mapping[Role, str], onnx: bool, name: str
) -> None:
    """Save a model with a map behind it.

    Parameters
    ----------
    model
        The SentenceTransformer; it is left as it is.
    change
        The map.
    folder
        An empty folder.
    prompts
        Prompts in use by role, as in `ModelInfo`. Those of other names are kept.
    onnx
        Whether to write the whole model as a graph, too.
    name
        What errors call the model.

    Raises
    ------
    NotApplicable
        If it has a tokenizer without rules, or cannot become a graph.
    DiskError
        If it cannot be saved.
    Unavailable
        If the package onnx is not installed.
    """
    from sentence_transformers import SentenceTransformer

    steps = [*model, *_modules(change, is_unit=type(model[-1]).__name__ == "Normalize")]
    named, default = _named_prompts(model, prompts)
    with quiet_loading.loading(name):
        mapped = SentenceTransformer(
            modules=steps,
            device=str(model.device),
            prompts=named,
            default_prompt_name=default,
            similarity_fn_name=model.similarity_fn_name,
        )
    try:
        with quiet_loading.loading(name):
            mapped.save_pretrained(str(folder), create_model_card=False)
    except ModelError as error:
        raise DiskError(f"'{name}' cannot be saved ({error.__cause__})") from None
    for sentence in change.sentences:
        _add_sentence(folder, sentence, name)
    if onnx:
        _write_onnx(mapped.eval(), folder / ONNX, name)


def _modules(change: Map, *, is_unit: bool) -> list[Any]:
    """Return the steps as modules; `is_unit` if the vectors before them have length 1."""
    import torch
    from sentence_transformers.base.modules import Dense, Normalize

    modules: list[Any] = []
    for step in change.steps:
        if isinstance(step, Affine):
            wide, narrow = step.matrix.shape
            offset = np.zeros(wide) if step.offset is None else step.offset
            modules.append(
                Dense(
                    narrow,
                    wide,
                    activation_function=torch.nn.Identity(),
                    init_weight=torch.from_numpy(step.matrix.astype(np.float32)),
                    init_bias=torch.from_numpy(offset.astype(np.float32)),
                )
            )
        elif modules or not is_unit:
            modules.append(Normalize())
    return modules


def _named_prompts(model: Any, by_role: Mapping[Role, str]) -> tuple[dict[str, str], str | None]:
    """Return the prompts of a model by name, with those in use, and the name of its default."""
    plain = by_role.get("text", "")
    roles: tuple[Role, ...] = ("query", "document")
    named = {**model.prompts, **{role: by_role.get(role, plain) for role in roles}}
    default = model.default_prompt_name
    if not plain:
        return named, None
    if named.get(default) != plain:
        default, named["text"] = "text", plain
    return named, default


def _add_sentence(folder: Path, sentence: str, name: str) -> None:
    """Let the tokenizers of a folder add a sentence to each text, as `context-injection` does."""
    from tokenizers import Regex, Tokenizer, normalizers
    from transformers import AutoTokenizer

    files = sorted(folder.rglob("tokenizer.json"))
    stated = sorted(folder.rglob("tokenizer_config.json"))
    if not files or [file.parent for file in files] != [file.parent for file in stated]:
        raise NotApplicable(
            f"'{name}': its tokenizer has no file tokenizer.json, whose rules could add a sentence "
            "to each text"
        )
    without = rf"(?<!{re.escape(sentence)})"
    ended = "|".join(_ENDS + _CLOSERS * n for n in range(_MOST_CLOSERS + 1))
    rules = {
        r"\s+\z": "",
        rf"{without}(?<={ended})\z": f" {sentence}",
        rf"{without}\z": f". {sentence}",
    }
    for file in files:
        tokenizer = Tokenizer.from_file(str(file))
        added = [normalizers.Replace(Regex(rule), text) for rule, text in rules.items()]
        after = [tokenizer.normalizer] if tokenizer.normalizer is not None else []
        tokenizer.normalizer = normalizers.Sequence([*added, *after])
        tokenizer.save(str(file))
    for file in stated:
        # Classes of single models make their rules anew instead of reading the file.
        own = AutoTokenizer.from_pretrained(str(file.parent), local_files_only=True)
        settings = weight_files.read_object(file, name) | {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_input_names": list(own.model_input_names),
        }
        folders.write_json(file, settings)


def _write_onnx(model: Any, file: Path, name: str) -> None:
    """Write a model as a graph from tokens to states of tokens and vectors, and compare both."""
    import torch

    try:
        import onnx  # noqa: F401 -- torch needs it, and says so only after the export
        import onnxruntime
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"a graph needs the package '{error.name}': pip install 'embedding-bias-harness[onnx]'"
        ) from None
    if type(model[0]).__name__ != "Transformer":
        raise NotApplicable(
            f"'{name}' begins with {type(model[0]).__name__}: only a model that begins with its "
            "transformer becomes one graph"
        )
    model = model.to("cpu")
    features = {
        key: value
        for key, value in model.preprocess(list(_EXAMPLES)).items()
        if isinstance(value, torch.Tensor)
    }
    inputs = list(features)
    file.parent.mkdir()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # of tracing, about each shape
            torch.onnx.export(
                _graph(model, inputs),
                tuple(features.values()),
                str(file),
                input_names=inputs,
                output_names=[STATES, VECTORS],
                dynamic_axes={
                    **{key: {0: "texts", 1: "tokens"} for key in (*inputs, STATES)},
                    VECTORS: {0: "texts"},
                },
                dynamo=False,
            )
    except PLUGIN_ERRORS as error:  # of many types, such as a graph of more than 2 GB
        raise NotApplicable(f"'{name}' cannot become a graph ({one_line(error)})") from error
    texts = [*_EXAMPLES, "one", "two words"]  # other numbers of texts and tokens
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    arrays = {key: np.asarray(model.preprocess(texts)[key]) for key in inputs}
    vectors, expected = session.run([VECTORS], arrays)[0], model.encode(texts)
    scale = max(1.0, float(np.linalg.norm(expected, axis=1).max()))
    if not np.allclose(vectors, expected, rtol=0, atol=ONNX_ROUNDING * scale):
        raise NotApplicable(f"'{name}': its graph has other vectors than the model itself")


def _graph(model: Any, inputs: Sequence[str]) -> Any:
    import torch

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> tuple[Any, Any]:
            outputs = self.model(dict(zip(inputs, tensors, strict=True)))
            return outputs["token_embeddings"], outputs[VECTORS]

    return Graph().eval()
