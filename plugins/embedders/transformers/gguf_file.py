"""A language model in one GGUF file, as llama.cpp keeps models: what its header says.

transformers loads such a file with the packages `gguf` and `accelerate`, and computes with the
quantised weights as floats. The package `gguf` can read headers, too, but takes seconds for the
words of a tokenizer, which are not needed here. The format is described in docs/gguf.md of
github.com/ggml-org/ggml.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import mmap
import shutil
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness import folders
from harness.errors import InvalidOption, ModelError, Unavailable

from . import hub, model_settings
from .model_folder import ModelFolder, Module

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_NUMBERS = dict(enumerate("BbHhIif?", start=0)) | {10: "Q", 11: "q", 12: "d"}
"""Format of a number, as in the module `struct`, by the type that the file states."""
_SPLIT = "split.count"
_SIZES = {
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "num_attention_heads": "attention.head_count",
}
"""Sizes that a header states, by the names of a config.json."""
# ggml.h of github.com/ggml-org/ggml; of another type only the begin is known
_BYTES = {
    1: {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2},
    32: {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 20: 18},
    256: {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292, 23: 136},
}
_BLOCKS = {kind: (n, size) for n, sizes in _BYTES.items() for kind, size in sizes.items()}
"""Weights and bytes of a block by the type of a tensor, such as 14 for Q6_K."""


class GgufFile(ModelFolder):
    """A model in a GGUF file, with what `ModelFolder` says of a model in a folder.

    Other files in its folder are not read. Its tokens can be counted only by the loaded model, so
    the lengths of texts are estimates.

    Parameters
    ----------
    file
        The file.
    name
        What errors call the model.

    Raises
    ------
    ModelError
        If it is no GGUF file, is damaged, or is one of several parts.
    Unavailable
        If the packages that load it are not installed.
    """

    def __init__(self, file: Path, name: str) -> None:
        self.path, self.name, self.backend = file.parent, name, "torch"
        self.kind = "text"
        self.file = file
        try:
            self._facts, self._shapes = header(file)
        except (OSError, ValueError, KeyError, struct.error, RecursionError) as error:
            raise ModelError(f"'{name}' is no GGUF file, or is damaged ({error})") from None
        self._check_sizes()
        parts = self._facts.get(_SPLIT)
        if isinstance(parts, int) and parts > 1:
            raise ModelError(
                f"'{name}' is one of {parts} parts; join them with llama-gguf-split --merge"
            )
        for package in ("gguf", "accelerate"):
            if importlib.util.find_spec(package) is None:
                raise Unavailable(
                    f"'{name}' needs the package '{package}': "
                    'pip install "embedding-bias-harness[gguf]"'
                )

    def _check_sizes(self) -> None:
        kind = self._facts.get("general.architecture")
        model_settings.check_numbers(
            {key: self._facts.get(f"{kind}.{stated}") for key, stated in _SIZES.items()},
            n=len(self._shapes),
            largest=max((max(shape, default=0) for shape in self._shapes), default=0),
            name=self.name,
            file="its header",
        )

    @property
    def is_one_file(self) -> bool:
        """That its tokenizer is inside."""
        return True

    @property
    def reads_pooler(self) -> bool:
        """That its tokens' states are read."""
        return False

    @functools.cached_property
    def loading(self) -> Mapping[str, Any]:
        """That transformers takes tokenizer and weights from the file; the configuration is read.

        Without it, transformers would read the words of the tokenizer twice more, for seconds.
        """
        from transformers import AutoConfig

        file = {"gguf_file": self.file.name}
        config = AutoConfig.from_pretrained(str(self.transformer), **file, local_files_only=True)
        return {**file, "config": config}

    @property
    def modules(self) -> list[Module]:
        """One step: the transformer."""
        return [Module("Transformer", self.transformer)]

    @property
    def is_plain(self) -> bool:
        """It states no pooling."""
        return True

    @functools.cached_property
    def config(self) -> Mapping[str, Any]:
        """The facts of the header, by the names of a config.json."""
        kind = self._facts.get("general.architecture")
        return {
            "hidden_size": self._facts.get(f"{kind}.embedding_length"),
            "max_position_embeddings": self._facts.get(f"{kind}.context_length"),
            "is_encoder_decoder": f"{kind}.decoder_start_token_id" in self._facts,
        }

    @property
    def prompts(self) -> dict[str, str]:
        """No prompts: a GGUF file states none."""
        return {}

    @property
    def default_prompt(self) -> str:
        """No prompt."""
        return ""

    @property
    def max_tokens(self) -> int | None:
        """Longest input in tokens; None if the header does not say."""
        return self.max_positions

    @property
    def n_parameters(self) -> int | None:
        """Number of weights."""
        return sum(map(math.prod, self._shapes))

    @functools.cached_property
    def transformer(self) -> Path:
        """A folder with nothing but the file: transformers would also read files beside it."""
        self._alone = tempfile.TemporaryDirectory(prefix="harness-")  # removed with this object
        folder = Path(self._alone.name)
        try:
            (folder / self.file.name).symlink_to(self.file.resolve())
        except OSError:  # Windows allows links only to administrators
            shutil.copy(self.file, folder)
        return folder

    @property
    def tokenizer(self) -> Path:
        """No file: the tokenizer is inside the GGUF file."""
        return self.file / "tokenizer.json"

    def files(self, *, code: bool) -> dict[str, Path]:
        """Return the file, under a name that does not change when it is renamed."""
        return {"model.gguf": self.file}


def locate(reference: str, revision: str | None) -> tuple[ModelFolder, str | None]:
    """Return the model of a GGUF file, a folder or the hub, and its commit on the hub.

    Raises
    ------
    InvalidOption
        If a revision is set for a file or folder.
    ModelError, Unavailable
        See `GgufFile`, `ModelFolder` and `hub.folder`.
    """
    if not recognises(reference):
        path, commit = hub.folder(reference, revision)
        return ModelFolder(path, reference, is_pooled=True), commit
    if revision is not None:
        raise InvalidOption(f"revision={revision}: '{reference}' is a file and has no revisions")
    return GgufFile(folders.typed(reference), reference), None


def recognises(reference: str) -> bool:
    """Return whether a text is the path of a GGUF file."""
    file = folders.typed(reference)
    return file.suffix == SUFFIX and folders.is_file(file)


def header(file: Path) -> tuple[dict[str, Any], list[tuple[int, ...]]]:
    """Return the single values in a GGUF file's header by key, and the shape of each tensor.

    Raises
    ------
    OSError, ValueError, KeyError, struct.error
        If the file cannot be read or does not have the format.
    """
    with file.open("rb") as opened:
        if opened.read(4) != _MAGIC:
            raise ValueError("it does not begin with GGUF")
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            reader = _Reader(content)
            version = reader.number("I")
            if version not in (2, 3):
                raise ValueError(f"version {version}; expected 2 or 3")
            n_tensors, n_facts = reader.number("Q"), reader.number("Q")
            facts = {reader.string(): reader.value() for _ in range(n_facts)}
            tensors = [reader.tensor() for _ in range(n_tensors)]
            alignment = int(facts.get("general.alignment") or 32)
            start = -(-reader.at // alignment) * alignment
            for tensor in tensors:
                if start + tensor.end > len(content):
                    raise ValueError(
                        f"it ends early: {len(content):,} bytes, expected {start + tensor.end:,} "
                        "or more"
                    )
    return facts, [tensor.shape for tensor in tensors]


class _Tensor(NamedTuple):
    shape: tuple[int, ...]
    type: int
    offset: int

    @property
    def end(self) -> int:
        """Number of bytes from the begin of all weights to the end of these."""
        block, size = _BLOCKS.get(self.type, (1, 0))
        return self.offset + math.prod(self.shape) // block * size


class _Reader:
    """Reads a header from behind the magic bytes."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content, self._at = content, len(_MAGIC)

    @property
    def at(self) -> int:
        """The place of the next byte."""
        return self._at

    def number(self, format: str) -> Any:  # noqa: A002 -- as in the module struct
        (value,) = struct.unpack_from(f"<{format}", self._content, self._at)
        self._at += struct.calcsize(f"<{format}")
        return value

    def string(self) -> str:
        n = self.number("Q")
        if n > len(self._content) - self._at:
            raise ValueError("a text is cut off")
        text = self._content[self._at : self._at + n]
        self._at += n
        return text.decode("utf-8", "replace")

    def value(self, kind: int | None = None) -> Any:
        """Return the next value; None for an array, which is passed over."""
        kind = self.number("I") if kind is None else kind
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.number(_NUMBERS[kind])
        of, n = self.number("I"), self.number("Q")
        if of in _NUMBERS:
            self._at += n * struct.calcsize(f"<{_NUMBERS[of]}")
        else:
            for _ in range(n):
                self.value(of)
        return None

    def tensor(self) -> _Tensor:
        self.string()
        shape = tuple(self.number("Q") for _ in range(self.number("I")))
        return _Tensor(shape, self.number("I"), self.number("Q"))
