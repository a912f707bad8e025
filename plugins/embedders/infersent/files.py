"""The folder of an InferSent model, and the conversion of the published weights into one.

::

    config.json         {"model_type": "infersent", "word_dimensions": 300, "hidden_size": 2048,
                         "vectors": "glove.840B.300d.txt", "lowercase": false,
                         "start": "<s>", "end": "</s>"}
    model.safetensors   the LSTM's weights by torch's names, such as enc_lstm.weight_ih_l0 and
                        enc_lstm.weight_ih_l0_reverse; float32 or float16
    glove.840B.300d.txt word vectors, in any format that `vectors:` reads, or a link to them

The published weights are a pickle. `convert` reads it with torch's weights-only loader, which runs
no code; nothing else here reads pickles. On the command line::

    python -m harness.plugins.embedders.infersent.files infersent1.pkl FOLDER glove.840B.300d.txt
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import folders
from harness.errors import HarnessError, ModelError, suggestion, unreadable

from .. import weight_files

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PREFIX = "enc_lstm."
_GATES = 4  # of an LSTM; each weight has the rows of all four


@dataclass(frozen=True, kw_only=True)
class Config:
    """The settings in config.json.

    Parameters
    ----------
    word_dimensions
        Length of a word's vector.
    hidden_size
        Size of each direction's state; a text's vector has twice as many dimensions.
    vectors
        Name of the file of word vectors in the folder; None if the option `vectors` names them.
    lowercase
        Whether words are looked up only in lower case.
    start, end
        Words put around a text, if they have vectors.
    """

    word_dimensions: int
    hidden_size: int
    vectors: str | None = None
    lowercase: bool = False
    start: str = "<s>"
    end: str = "</s>"

    def identity(self) -> dict[str, Any]:
        """Return the settings that change vectors, besides the weights and the word vectors."""
        return {"lowercase": self.lowercase, "start": self.start, "end": self.end}


def recognises(reference: str) -> bool:
    """Return whether a text is a folder whose config.json describes an InferSent model."""
    file = folders.typed(reference) / CONFIG
    if not folders.is_file(file):
        return False
    try:
        stated = weight_files.read_object(file, reference)
    except ModelError:
        return False
    return stated.get("model_type") == "infersent"


def read_config(folder: Path) -> Config:
    """Return the settings in a folder's config.json.

    Raises
    ------
    InvalidFile
        If there is no such folder.
    ModelError
        If the file is missing, or does not describe an InferSent model.
    """
    if not folder.exists():
        raise unreadable(folder)
    if not (folder / CONFIG).exists():
        raise ModelError(f"'{folder}' is not a model folder: {CONFIG} is missing")
    stated = weight_files.read_config(folder / CONFIG, str(folder))
    if not isinstance(stated, dict) or stated.pop("model_type", None) != "infersent":
        raise ModelError(f'\'{folder}\': {CONFIG} must state "model_type": "infersent"')
    types: dict[str, Any] = {
        "word_dimensions": int,
        "hidden_size": int,
        "vectors": (str, type(None)),
        "lowercase": bool,
        "start": str,
        "end": str,
    }
    for name, value in stated.items():
        if name not in types:
            hint = suggestion(name, types)
            raise ModelError(f"'{folder}': {CONFIG} has the unknown key '{name}'{hint}")
        if not isinstance(value, types[name]) or (types[name] is int and value < 1):
            raise ModelError(f"'{folder}': {CONFIG} has the invalid value {name}={value!r}")
    try:
        config = Config(**stated)
    except TypeError:
        raise ModelError(
            f"'{folder}': {CONFIG} must have word_dimensions and hidden_size"
        ) from None
    if config.vectors is not None and Path(config.vectors).name != config.vectors:
        raise ModelError(
            f"'{folder}': {CONFIG} has vectors='{config.vectors}'; expected a file in the folder"
        )
    return config


def shapes(config: Config) -> dict[str, list[int]]:
    """Return the shape of each weight by its name, as in torch's LSTM."""
    rows, d, h = _GATES * config.hidden_size, config.word_dimensions, config.hidden_size
    by_name = {"weight_ih": [rows, d], "weight_hh": [rows, h], "bias_ih": [rows], "bias_hh": [rows]}
    return {
        f"{PREFIX}{name}_l0{side}": shape
        for side in ("", "_reverse")
        for name, shape in by_name.items()
    }


def n_weights(config: Config) -> int:
    """Return the number of weights, without those of the word vectors."""
    d, h = config.word_dimensions, config.hidden_size
    return 2 * _GATES * h * (d + h + 2)


def checked_weights(folder: Path, config: Config) -> Path:
    """Return the file of weights, after a check of their shapes against the config.

    Raises
    ------
    ModelError
        If it is missing, damaged, or has other weights.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise ModelError(f"'{folder}': {WEIGHTS} is missing")
    weight_files.check(path, str(folder))
    actual = weight_files.named_shapes(path)
    expected = shapes(config)
    for name in sorted({*actual, *expected}):
        if actual.get(name) != expected.get(name):
            raise ModelError(
                f"'{folder}': {WEIGHTS} has {_described(name, actual)}; {CONFIG} requires "
                f"{_described(name, expected)}"
            )
    return path


def convert(pickle: Path, folder: Path, vectors: str | None = None) -> Config:
    """Make a model folder from InferSent's published weights.

    The file is read by `torch.load(weights_only=True)`, which loads tensors and runs no code.
    Classifiers that were trained together with the encoder are left out.

    Parameters
    ----------
    pickle
        The published file, such as `infersent1.pkl`: the encoder's weights by name.
    folder
        Folder to write; it is created if it does not exist.
    vectors
        Name of the file of word vectors that you will put into the folder, or link.

    Returns
    -------
    Config
        The settings written to config.json.

    Raises
    ------
    ModelError
        If the file has anything but weights, or not those of a BiLSTM with one layer.
    """
    import torch
    from safetensors.torch import save

    try:
        loaded = torch.load(pickle, map_location="cpu", weights_only=True)
        weights = {
            name: value.contiguous() for name, value in loaded.items() if name.startswith(PREFIX)
        }
        rows, d = weights[f"{PREFIX}weight_ih_l0"].shape
    except FileNotFoundError:
        raise ModelError(f"file not found: '{pickle}'") from None
    except Exception as error:  # torch raises exceptions of many types
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"'{pickle}' is not a file of only the weights of an InferSent encoder ({reason})"
        ) from error
    config = Config(word_dimensions=d, hidden_size=rows // _GATES, vectors=vectors)
    if {name: list(value.shape) for name, value in weights.items()} != shapes(config):
        raise ModelError(f"'{pickle}' does not have the weights of a BiLSTM with one layer")
    stated = {"model_type": "infersent", **dataclasses.asdict(config)}
    folders.write_atomically(folder / WEIGHTS, save(weights, metadata={"format": "pt"}))
    folders.write_atomically(folder / CONFIG, (json.dumps(stated, indent=2) + "\n").encode())
    return config


def _described(name: str, shapes: dict[str, list[int]]) -> str:
    return f"'{name}' of shape {shapes[name]}" if name in shapes else f"no '{name}'"


def _main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3):
        print(
            "usage: python -m harness.plugins.embedders.infersent.files PICKLE FOLDER [VECTORS]",
            file=sys.stderr,
        )
        return 2
    try:
        config = convert(Path(arguments[0]), Path(arguments[1]), *arguments[2:])
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 1
    print(
        f"{arguments[1]}: vectors of {2 * config.hidden_size} dimensions, from word vectors of "
        f"{config.word_dimensions}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
