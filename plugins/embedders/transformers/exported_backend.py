"""Runs a transformer that was exported to ONNX or OpenVINO, as a step of sentence-transformers.

The library's own way to do so asks for packages that do not go with the versions of transformers
it needs itself, so the exported file is given to its runtime directly. Exports nothing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.errors import InvalidOption, ModelError, Unavailable
from harness.plugins.embedders import quiet_loading, weight_files
from harness.plugins.embedders.weight_files import Backend

if TYPE_CHECKING:
    from pathlib import Path

    from harness.arrays import Vectors
    from harness.plugins.embedders.transformers.model_folder import ModelFolder

Run: TypeAlias = Callable[[Mapping[str, Any]], "Vectors"]
"""Gives (n, T, d) states of tokens for the arrays of a batch by their names."""

_RUNTIME = {"onnx": "onnxruntime", "openvino": "openvino"}
_STATES = ("last_hidden_state", "token_embeddings")


def checked(backend: Backend, precision: str) -> Backend:
    """Return the backend that was asked for.

    Raises
    ------
    InvalidOption
        If a precision is asked of weights that were exported in another.
    Unavailable
        If its runtime is not installed.
    """
    if backend == "torch":
        return backend
    if precision != "float32":
        raise InvalidOption(
            f"precision={precision} is for backend=torch; exported weights have their own"
        )
    package = _RUNTIME[backend]
    if importlib.util.find_spec(package) is None:
        raise Unavailable(
            f"backend={backend} needs the package '{package}': "
            f'pip install "embedding-bias-harness[{backend}]"'
        )
    return backend


def load(
    folder: ModelFolder, poolings: Sequence[str], *, max_length: int | None, device: str | None
) -> Any:
    """Return a SentenceTransformer whose transformer is the exported one.

    Raises
    ------
    InvalidOption
        If the runtime at hand does not know the device.
    ModelError
        If the file cannot be read, or gives no states of tokens.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import AutoTokenizer

    from harness.plugins.embedders.transformers.exported_step import ExportedTransformer

    file = weight_files.exported(folder.transformer, folder.backend, folder.name)[0]
    opened = {"onnx": _onnx, "openvino": _openvino}[folder.backend]
    with quiet_loading.loading(folder.name):
        run, inputs = opened(file, device, folder.name)
        tokenizer = AutoTokenizer.from_pretrained(str(folder.transformer), local_files_only=True)
        first = ExportedTransformer(
            run,
            inputs,
            tokenizer,
            max_seq_length=max_length,
            lowercase=bool(folder.transformer_settings.get("do_lower_case")),
        )
        steps: list[Any] = [first]
        if folder.is_plain:
            steps.append(modules.Pooling(folder.hidden_size, pooling_mode=poolings[0]))
        for step in folder.modules[1:]:
            kind = getattr(modules, step.kind, None)
            if kind is None:
                raise ModelError(f"'{folder.name}' has a step, {step.kind}, of its own code")
            made = kind.load(str(step.folder), local_files_only=True)
            if step.kind == "Pooling" and tuple(poolings) != folder.poolings:
                size = made.embedding_dimension
                made = kind(size, pooling_mode=poolings[0], include_prompt=made.include_prompt)
            steps.append(made)
        model = SentenceTransformer(modules=steps, device="cpu", truncate_dim=folder.truncate_dim)
    return model.eval()


def _onnx(file: Path, device: str | None, name: str) -> tuple[Run, list[str]]:
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3  # errors; it warns of what graphs hold on standard error
    providers: list[Any] = ["CPUExecutionProvider"]
    if device is not None and device.startswith("cuda"):
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise InvalidOption(
                f"device={device}: this onnxruntime knows no GPU; use device cpu, or install "
                "onnxruntime-gpu in its place"
            )
        number = int(device.partition(":")[2] or 0)
        providers.insert(0, ("CUDAExecutionProvider", {"device_id": number}))
    elif device not in (None, "cpu"):
        raise InvalidOption(f"device={device}: backend=onnx runs on cpu or cuda")
    session = onnxruntime.InferenceSession(str(file), options, providers=providers)
    inputs = [given.name for given in session.get_inputs()]
    output = _states_of([made.name for made in session.get_outputs()], name)

    def run(arrays: Mapping[str, Any]) -> Vectors:
        states: Vectors = session.run([output], dict(arrays))[0]
        return states

    return run, inputs


def _openvino(file: Path, device: str | None, name: str) -> tuple[Run, list[str]]:
    import openvino
    import torch

    if device not in (None, "cpu"):
        raise InvalidOption(f"device={device}: backend=openvino runs on cpu")
    # Without this it computes in half precision on processors that can.
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
    }
    compiled = openvino.Core().compile_model(str(file), "CPU", settings)
    inputs = [given.get_any_name() for given in compiled.inputs]
    output = _states_of([made.get_any_name() for made in compiled.outputs], name)

    def run(arrays: Mapping[str, Any]) -> Vectors:
        states: Vectors = compiled(dict(arrays))[output]
        return states

    return run, inputs


def _states_of(outputs: list[str], name: str) -> str:
    for known in _STATES:
        if known in outputs:
            return known
    raise ModelError(
        f"'{name}': the exported file gives {', '.join(outputs)} and no states of tokens, which "
        f"are called {' or '.join(_STATES)}"
    )
