"""Runs a transformer that was exported to ONNX or OpenVINO, inside sentence-transformers.

The library's own support needs packages that conflict with the versions of transformers that it
needs itself, so the exported file is given directly to its runtime. `backend=auto` exports the
transformer itself, once for its files.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from harness import folders
from harness.encode.stored_embedder import visible_gpus
from harness.errors import (
    PLUGIN_ERRORS,
    DiskError,
    InvalidOption,
    ModelError,
    Unavailable,
    one_line,
)

from .. import quiet_loading, weight_files
from ..weight_files import Backend
from . import model_settings, tokens

if TYPE_CHECKING:
    from harness.arrays import Vectors

    from .model_folder import ModelFolder

Run: TypeAlias = Callable[[Mapping[str, Any]], "Vectors"]
"""Returns the (n, T, d) states of tokens, from the arrays of a batch by their names."""

_RUNTIME = {"onnx": "onnxruntime", "openvino": "openvino"}
_STATES = ("last_hidden_state", "token_embeddings")


def check(backend: Backend, precision: str) -> None:
    """Check that a backend is installed and the precision is one that it offers.

    Raises
    ------
    InvalidOption
        If a precision is set for exported weights, which have their own.
    Unavailable
        If the backend's runtime is not installed.
    """
    if precision != "float32":
        raise InvalidOption(
            f"precision={precision} is for backend=torch; exported weights keep their precision"
        )
    package = _RUNTIME[backend]
    if importlib.util.find_spec(package) is None:
        raise Unavailable(
            f"backend={backend} needs the package '{package}': "
            f'pip install "embedding-bias-harness[{backend}]"'
        )


_ROUNDING = 1e-4
"""Largest difference of a state of a graph, relative to the largest state. Measured: 5e-6."""
_EXAMPLES = (
    ("The doctor, who was late, read the newspaper in the garden.", "She is a nurse."),
    ("hello",),
    (" ".join(["one two three"] * 30), "", "seven and five"),
)
"""Batches that a graph is compared on; the first one is traced."""


def has_fast_runtime(device: str | None) -> bool:
    """Return whether a graph of `backend=auto` is run: OpenVINO is there, and the CPU is used."""
    is_installed = importlib.util.find_spec(_RUNTIME["openvino"]) is not None
    return is_installed and (device == "cpu" or (device is None and not visible_gpus()))


def graph_of(model: Any, key: str, name: str) -> Path:
    """Return the graph of a model's transformer for OpenVINO in float32; exported if it is missing.

    Another version of OpenVINO makes a graph of its own.

    Parameters
    ----------
    model
        Returns the `SentenceTransformer` that begins with the transformer; called to export it.
    key
        Identifies the files of the model.
    name
        What errors call the model.

    Raises
    ------
    ModelError
        If it cannot be exported, or the graph has other states.
    DiskError
        If it cannot be written.
    """
    folder = folders.graphs() / f"{key}-openvino-{version(_RUNTIME['openvino'])}"
    file = folder / "openvino_model.xml"
    if file.is_file():
        folders.note_use(folder)
        return file
    folders.make(folder.parent)
    try:
        with folders.temporary_beside(folder) as temporary:
            made = temporary / "graph"
            made.mkdir()
            try:
                with warnings.catch_warnings(), quiet_loading.loading(name):
                    warnings.simplefilter("ignore")  # of tracing, about each shape
                    _export(model(), made / file.name, name)
            except ModelError:
                raise
            except PLUGIN_ERRORS as error:  # of many types
                raise ModelError(
                    f"'{name}' cannot become a graph of OpenVINO ({one_line(error)}); use "
                    "backend=torch"
                ) from error
            try:
                made.rename(folder)
            except OSError:
                if not file.is_file():  # else another process was faster
                    raise
    except OSError as error:
        raise DiskError(f"cannot write '{folder}' ({error.strerror})") from None
    return file


def _export(model: Any, file: Path, name: str) -> None:
    """Write the graph of a model's transformer, and compare the two."""
    import openvino
    import torch

    transformer = model[0]
    batches = [
        {key: v for key, v in model.preprocess(list(texts)).items() if isinstance(v, torch.Tensor)}
        for texts in _EXAMPLES
    ]
    inputs = list(batches[0])

    class States(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer

        def forward(self, *arrays: Any) -> Any:
            return self.transformer(dict(zip(inputs, arrays, strict=True)))[_STATES[1]]

    with torch.no_grad():
        graph = openvino.convert_model(
            States().eval(),
            example_input=tuple(batches[0].values()),
            input=[openvino.PartialShape([-1, -1])] * len(inputs),
        )
        for argument, key in zip(graph.inputs, inputs, strict=True):
            argument.get_tensor().set_names({key})
        graph.outputs[0].get_tensor().set_names({_STATES[0]})
        openvino.save_model(graph, str(file), compress_to_fp16=False)
        run, _ = _openvino(file, None, name)
        for batch in batches:
            expected = transformer(dict(batch))[_STATES[1]].numpy()
            found = run({key: value.numpy() for key, value in batch.items()})
            is_token = batch[tokens.MASK].bool().numpy()
            apart = np.abs(found - expected)[is_token].max(initial=0)
            if not apart <= _ROUNDING * np.abs(expected[is_token]).max(initial=1e-9):
                raise ModelError(
                    f"'{name}': its graph for OpenVINO has other states; use backend=torch"
                )


def load(
    folder: ModelFolder,
    poolings: Sequence[str],
    *,
    max_length: int | None,
    device: str | None,
    graph: Path | None = None,
) -> Any:
    """Return a SentenceTransformer that runs the exported transformer.

    Parameters
    ----------
    folder
        The model; its `backend` says which export is run.
    poolings
        How tokens are pooled; used where it differs from the model's own.
    max_length
        Number of tokens after which a text is cut; None for no limit.
    device
        `cpu`, or for ONNX also `cuda:1`; None for the CPU.
    graph
        What `graph_of` returned; by default the model's own export is run.

    Raises
    ------
    InvalidOption
        If the runtime does not support the device.
    ModelError
        If the file cannot be read or has no output of token states, or the model has its own code.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import AutoTokenizer

    from .exported_transformer import ExportedTransformer

    kinds = [step.kind for step in folder.all_modules]
    if kinds[0] != "Transformer" or kinds.count("Transformer") > 1:
        raise ModelError(
            f"'{folder.name}' does not begin with its only transformer, so that only backend=torch "
            "can run it"
        )
    model_settings.check_tokenizer(folder.transformer, folder.name)
    if graph is None:
        file = weight_files.exported(folder.transformer, folder.backend, folder.name)[0]
        open_file = {"onnx": _onnx, "openvino": _openvino}[folder.backend]
    else:
        file, open_file = graph, _openvino
    with quiet_loading.loading(folder.name):
        run, inputs = open_file(file, device, folder.name)
        tokenizer = AutoTokenizer.from_pretrained(str(folder.transformer), local_files_only=True)
        tokens.settle_padding(tokenizer, folder.config)
        transformer = ExportedTransformer(
            run,
            inputs,
            tokenizer,
            max_seq_length=max_length,
            lowercase=bool(folder.transformer_settings.get("do_lower_case")),
        )
        steps: list[Any] = [transformer]
        if folder.is_plain:
            steps.append(modules.Pooling(folder.hidden_size, pooling_mode=poolings[0]))
        for step in folder.modules[1:]:
            kind = getattr(modules, step.kind, None)
            if kind is None:
                raise ModelError(
                    f"'{folder.name}' has its own code for the step {step.kind}, which only "
                    "backend=torch can run"
                )
            module = kind.load(str(step.folder), local_files_only=True)
            if step.kind == "Pooling" and tuple(poolings) != folder.poolings:
                module = kind(
                    module.embedding_dimension,
                    pooling_mode=poolings[0],
                    include_prompt=module.include_prompt,
                )
            steps.append(module)
        model = SentenceTransformer(modules=steps, device="cpu", truncate_dim=folder.truncate_dim)
    return model.eval()


def _onnx(file: Path, device: str | None, name: str) -> tuple[Run, list[str]]:
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3  # errors only: it prints warnings about graphs
    providers: list[Any] = ["CPUExecutionProvider"]
    if device is not None and device.startswith("cuda"):
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise InvalidOption(
                f"device={device}: the installed onnxruntime supports no GPU; use device=cpu, or "
                "install onnxruntime-gpu instead"
            )
        number = int(device.partition(":")[2] or 0)
        providers.insert(0, ("CUDAExecutionProvider", {"device_id": number}))
    elif device not in (None, "cpu"):
        raise InvalidOption(f"device={device}: backend=onnx runs on cpu or cuda")
    session = onnxruntime.InferenceSession(str(file), options, providers=providers)
    inputs = [argument.name for argument in session.get_inputs()]
    output = _states_output({o.name: len(o.shape) for o in session.get_outputs()}, name)

    def run(arrays: Mapping[str, Any]) -> Vectors:
        states: Vectors = session.run([output], dict(arrays))[0]
        return states

    return run, inputs


def _openvino(file: Path, device: str | None, name: str) -> tuple[Run, list[str]]:
    import openvino
    import torch

    if device not in (None, "cpu"):
        raise InvalidOption(f"device={device}: backend=openvino runs on cpu")
    # Without this hint it computes in half precision on processors that support it.
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
    }
    compiled = openvino.Core().compile_model(str(file), "CPU", settings)
    inputs = [argument.get_any_name() for argument in compiled.inputs]
    ranks = {o.get_any_name(): o.get_partial_shape().rank for o in compiled.outputs}
    output = _states_output(
        {o: rank.get_length() if rank.is_static else 0 for o, rank in ranks.items()}, name
    )

    def run(arrays: Mapping[str, Any]) -> Vectors:
        states: Vectors = compiled(dict(arrays))[output]
        return states

    return run, inputs


def _states_output(ranks: Mapping[str, int], name: str) -> str:
    """Return the name of the output with the states of tokens.

    It is known by its name, else as the only output with three dimensions.

    Parameters
    ----------
    ranks
        Number of dimensions of each output, by its name.
    name
        What errors call the model.
    """
    arrays = [output for output, rank in ranks.items() if rank == 3]
    named = [output for output in _STATES if output in ranks]
    for found in (named[:1], arrays):
        if len(found) == 1:
            return str(found[0])
    raise ModelError(
        f"'{name}': the exported file has the outputs {', '.join(ranks)}; expected one named "
        f"{' or '.join(_STATES)}, with the states of tokens"
    )
