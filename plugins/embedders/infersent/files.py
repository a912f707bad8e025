"""The folder of an InferSent model, and how one is made of the published weights.

::

    config.json         {"model_type": "infersent", "word_dimensions": 300, "hidden_size": 2048,
                         "vectors": "glove.840B.300d.txt", "lowercase": false,
                         "start": "<s>", "end": "</s>"}
    model.safetensors   the LSTM's weights by torch's names, such as enc_lstm.weight_ih_l0 and
                        enc_lstm.weight_ih_l0_reverse; float32 or float16
    glove.840B.300d.txt word vectors, in any format that `vectors:` reads; a link will do

The published weights are a pickle. `convert` reads it with torch's loader for weights only, which
runs no code; nothing else here reads pickles. From a shell::

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
from harness.errors import HarnessError, ModelError
from harness.plugins.embedders import weight_files

CONFIG, WEIGHTS = "config.json", "model.safetensors"
PREFIX = "enc_lstm."
_ROWS = 4  # gates of an LSTM: each weight holds those of all four


@dataclass(frozen=True, kw_only=True)
class Config:
    """What config.json says.

    Parameters
    ----------
    word_dimensions
        Length of a word's vector.
    hidden_size
        Of each direction; a text's vector has twice as many dimensions.
    vectors
        Name of the file of word vectors in the folder; None if it is to be named by an option.
    lowercase
        Whether words are looked up in lower case only.
    start, end
        Words put around a text, where they have vectors.
    """

    word_dimensions: int
    hidden_size: int
    vectors: str | None = None
    lowercase: bool = False
    start: str = "<s>"
    end: str = "</s>"

    def what_counts(self) -> dict[str, Any]:
        """Return what changes a text's vector, besides the weights and the word vectors."""
        return {"lowercase": self.lowercase, "start": self.start, "end": self.end}


def config(folder: Path) -> Config:
    """Return what a folder's config.json says.

    Raises
    ------
    ModelError
        If there is none, or it does not describe an InferSent model.
    """
    try:
        stated = json.loads((folder / CONFIG).read_text("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"'{folder}' is not a model folder: it has no {CONFIG}") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"'{folder}': {CONFIG} cannot be read ({error})") from None
    if not isinstance(stated, dict) or stated.pop("model_type", None) != "infersent":
        raise ModelError(f'\'{folder}\': {CONFIG} does not say "model_type": "infersent"')
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
            raise ModelError(f"'{folder}': {CONFIG} says '{name}', which is not known")
        if not isinstance(value, types[name]) or (types[name] is int and value < 1):
            raise ModelError(f"'{folder}': {CONFIG} says {name}={value!r}, which cannot be")
    try:
        found = Config(**stated)
    except TypeError:
        raise ModelError(f"'{folder}': {CONFIG} lacks word_dimensions or hidden_size") from None
    if found.vectors is not None and Path(found.vectors).name != found.vectors:
        raise ModelError(f"'{folder}': {CONFIG} names '{found.vectors}', not a file in the folder")
    return found


def shapes(config: Config) -> dict[str, list[int]]:
    """Return the shape of each weight by its name, as torch's LSTM has them."""
    rows, d, h = _ROWS * config.hidden_size, config.word_dimensions, config.hidden_size
    one = {"weight_ih": [rows, d], "weight_hh": [rows, h], "bias_ih": [rows], "bias_hh": [rows]}
    return {
        f"{PREFIX}{name}_l0{side}": shape
        for side in ("", "_reverse")
        for name, shape in one.items()
    }


def n_weights(config: Config) -> int:
    """Return the number of weights, those of the words left out."""
    d, h = config.word_dimensions, config.hidden_size
    return 2 * _ROWS * h * (d + h + 2)


def checked_weights(folder: Path, config: Config) -> Path:
    """Return the file of weights, whose shapes are those that the config says.

    Raises
    ------
    ModelError
        If it is not there, is damaged, or holds other weights.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise ModelError(f"'{folder}' has no weights: {WEIGHTS} is missing")
    weight_files.check(path, str(folder))
    found = weight_files.named_shapes(path)
    expected = shapes(config)
    for name in sorted({*found, *expected}):
        if found.get(name) != expected.get(name):
            raise ModelError(
                f"'{folder}': {WEIGHTS} has {_told(name, found)}; {CONFIG} speaks of "
                f"{_told(name, expected)}"
            )
    return path


def convert(pickle: Path, folder: Path, vectors: str | None = None) -> Config:
    """Make a model folder of InferSent's published weights.

    The file is read by `torch.load(weights_only=True)`: tensors come in, and code never runs.
    Classifiers that were trained along with the encoder are left out.

    Parameters
    ----------
    pickle
        The published file, such as `infersent1.pkl`: the encoder's weights by name.
    folder
        Where to write; it is made if need be.
    vectors
        Name of the file of word vectors that you will put or link into the folder.

    Returns
    -------
    Config
        What was written into config.json.

    Raises
    ------
    ModelError
        If the file holds anything but weights, or not those of a BiLSTM of one layer.
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
        raise ModelError(f"there is no file '{pickle}'") from None
    except Exception as error:  # torch raises all kinds
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(
            f"'{pickle}' does not hold the weights of an InferSent encoder alone ({told})"
        ) from error
    made = Config(word_dimensions=d, hidden_size=rows // _ROWS, vectors=vectors)
    if {name: list(value.shape) for name, value in weights.items()} != shapes(made):
        raise ModelError(f"'{pickle}' does not hold the weights of a BiLSTM of one layer")
    stated = {"model_type": "infersent", **dataclasses.asdict(made)}
    folders.write_atomically(folder / WEIGHTS, save(weights, metadata={"format": "pt"}))
    folders.write_atomically(folder / CONFIG, (json.dumps(stated, indent=2) + "\n").encode())
    return made


def _told(name: str, shapes: dict[str, list[int]]) -> str:
    return f"'{name}' of shape {shapes[name]}" if name in shapes else f"no '{name}'"


def _main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3):
        print("usage: infersent_files PICKLE FOLDER [VECTORS]", file=sys.stderr)
        return 2
    try:
        made = convert(Path(arguments[0]), Path(arguments[1]), *arguments[2:])
    except HarnessError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{arguments[1]}: {2 * made.hidden_size} dimensions, of words' {made.word_dimensions}")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
