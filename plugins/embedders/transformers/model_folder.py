"""Reads what a folder with a sentence-transformers or transformers model says of the model.

Reads configuration files and the headers of weights, no weights, and imports neither torch nor
transformers, so that asking what a model is costs milliseconds.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ModelError
from harness.plugins.embedders import weight_files
from harness.plugins.embedders.weight_files import Backend

_POOLINGS = {  # names in files of sentence-transformers before 6: today's names
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_WITHOUT_LIMIT = 10**6  # tokenizers write 10**30 where they know no limit
# Models that count positions from their padding token's on: two places are never used.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl")
_NO_MATTER = ("data_config.json", "generation_config.json", "trainer_state.json")


@dataclass(frozen=True)
class Module:
    """One step of a sentence-transformers model: its class and the folder of its files."""

    kind: str
    folder: Path


class ModelFolder:
    """A model on disk.

    Parameters
    ----------
    path
        Folder of the model.
    name
        What to call it in errors.
    backend
        What runs its transformer: which of its weights are looked at.

    Raises
    ------
    ModelError
        If the folder holds no model, lacks weights, or holds damaged ones.
    """

    def __init__(self, path: Path, name: str, backend: Backend = "torch") -> None:
        self.path, self.name, self.backend = path, name, backend
        if not (path / "modules.json").is_file() and not (path / "config.json").is_file():
            raise ModelError(
                f"'{name}' is not a model folder: it has neither modules.json nor config.json"
            )
        if (path / "adapter_config.json").is_file():
            raise ModelError(f"'{name}' is an adapter without its base; merge them and save that")
        for module in self.modules:
            if module.kind in ("Transformer", "StaticEmbedding", "Dense"):
                for file in self._weights(module.folder):
                    weight_files.check(file, name)

    @functools.cached_property
    def modules(self) -> list[Module]:
        """The steps, in order; a plain transformers model has one, `Transformer`."""
        if not (self.path / "modules.json").is_file():
            return [Module("Transformer", self.path)]
        listed = self._json(self.path / "modules.json")
        try:
            return [
                Module(str(m["type"]).rpartition(".")[2], self._inside(m["path"])) for m in listed
            ]
        except (TypeError, KeyError):
            raise ModelError(f"'{self.name}': modules.json does not list modules") from None

    @property
    def is_plain(self) -> bool:
        """Whether it is a transformers model that says nothing of pooling."""
        return not (self.path / "modules.json").is_file()

    @functools.cached_property
    def runs_own_code(self) -> bool:
        """Whether the model comes with Python code that it wants to be run."""
        listed = [] if self.is_plain else self._json(self.path / "modules.json")
        foreign = any(not str(m["type"]).startswith("sentence_transformers.") for m in listed)
        return foreign or "auto_map" in self.config

    @functools.cached_property
    def config(self) -> Mapping[str, Any]:
        """The transformer's config.json; empty for a model without one."""
        return self._optional(self.transformer / "config.json")

    @functools.cached_property
    def prompts(self) -> dict[str, str]:
        """The model's prompts by name, those that say something."""
        stated = self._settings.get("prompts") or {}
        return {str(name): str(text) for name, text in stated.items() if text}

    @property
    def default_prompt(self) -> str:
        """The prompt that the model puts before each text unless told otherwise, or nothing."""
        return self.prompts.get(self._settings.get("default_prompt_name") or "", "")

    @property
    def truncate_dim(self) -> int | None:
        """How many dimensions the model keeps of each vector; None for all."""
        return self._settings.get("truncate_dim")

    @functools.cached_property
    def poolings(self) -> tuple[str, ...]:
        """How the model pools, as `("mean",)`; empty if it has no pooling step.

        For a plain model it is what sentence-transformers takes: the last token of a model that
        generates text, the mean of any other.
        """
        if self.is_plain:
            architecture = str((self.config.get("architectures") or [""])[0])
            return ("lasttoken",) if architecture.endswith("ForCausalLM") else ("mean",)
        for module in self.modules:
            if module.kind == "Pooling":
                config = self._json(module.folder / "config.json")
                stated = config.get("pooling_mode")
                if stated:
                    return (stated,) if isinstance(stated, str) else tuple(stated)
                return tuple(new for old, new in _POOLINGS.items() if config.get(old)) or ("mean",)
        return ()

    @property
    def normalizes(self) -> bool:
        """Whether the model brings its vectors to length 1 by itself."""
        return any(module.kind == "Normalize" for module in self.modules)

    @property
    def hidden_size(self) -> int | None:
        """Length of a token's vector, where config.json says."""
        for key in ("hidden_size", "d_model", "dim", "n_embd"):
            if isinstance(self.config.get(key), int):
                return int(self.config[key])
        return None

    def dimensions(self, poolings: int) -> int | None:
        """Return the length of a text's vector, `poolings` ways of pooling joined, or None."""
        size = self.hidden_size
        for module in self.modules:
            if module.kind == "Dense":
                size = self._json(module.folder / "config.json").get("out_features")
            elif module.kind == "StaticEmbedding":
                shapes = [s for f in self._weights(module.folder) for s in weight_files.shapes(f)]
                size = shapes[0][-1] if shapes else None
            elif module.kind == "Pooling" and size is not None:
                size *= poolings
        if self.is_plain and size is not None:
            size *= poolings
        cut = self.truncate_dim
        return min(size, cut) if size is not None and cut else size

    @functools.cached_property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, as sentence-transformers would cut it; None if unlimited."""
        stated = self.transformer_settings.get("max_seq_length")
        if stated:
            return int(stated)
        tokenizer = self._optional(self.transformer / "tokenizer_config.json")
        limits = [tokenizer.get("model_max_length"), self.config.get("max_position_embeddings")]
        known = [int(n) for n in limits if isinstance(n, (int, float)) and 0 < n < _WITHOUT_LIMIT]
        return min(known, default=None)

    @functools.cached_property
    def transformer_settings(self) -> Mapping[str, Any]:
        """What sentence-transformers does with the transformer; empty if it does not say."""
        for name in ("sentence_bert_config.json", "sentence_roberta_config.json"):
            stated = self._optional(self.transformer / name)
            if stated:
                return stated
        return {}

    @functools.cached_property
    def max_positions(self) -> int | None:
        """More tokens than this the weights cannot take; None if there is no such limit."""
        positions = self.config.get("max_position_embeddings")
        if not isinstance(positions, int) or positions < 1:
            return None
        return positions - 2 * (self.config.get("model_type") in _OFFSET_POSITIONS)

    @functools.cached_property
    def n_parameters(self) -> int | None:
        """Number of weights, from the headers of safetensors files; None for other files."""
        files = {f for m in self.modules for f in self._weights(m.folder, needed=False)}
        if not files or any(file.suffix != ".safetensors" for file in files):
            return None
        return sum(math.prod(shape) for file in files for shape in weight_files.shapes(file))

    def files(self, *, code: bool) -> dict[str, Path]:
        """Return the files that decide what a text's vector is, by their path in the folder.

        Parameters
        ----------
        code
            Whether the model's own Python files are run.
        """
        found = {}
        patterns = ["*.json", "vocab.txt", "merges.txt", "*.model", "*.jinja", "*.tiktoken"]
        for folder in {self.path, *(module.folder for module in self.modules)}:
            for pattern in patterns + ["*.py"] * code:
                for file in folder.glob(pattern):
                    if file.name not in _NO_MATTER and not file.name.endswith(".index.json"):
                        found[file.relative_to(self.path).as_posix()] = file
            for file in self._weights(folder, needed=False):
                found[file.relative_to(self.path).as_posix()] = file
        return found

    @property
    def transformer(self) -> Path:
        """The folder of the transformer, for a model without one the model's own."""
        return next((m.folder for m in self.modules if m.kind == "Transformer"), self.path)

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file as the `tokenizers` library reads it; it may not be there."""
        return self.transformer / "tokenizer.json"

    @functools.cached_property
    def _settings(self) -> Mapping[str, Any]:
        return self._optional(self.path / "config_sentence_transformers.json")

    def _weights(self, folder: Path, *, needed: bool = True) -> list[Path]:
        """Return the files with the weights of a module: safetensors if there are, as loaders do.

        A list of shards is taken at its word: each that it names must be there.
        """
        if self.backend != "torch" and folder == self.transformer:
            return weight_files.exported(folder, self.backend, self.name)
        for suffix, stems in ((".safetensors", ("model",)), (".bin", ("pytorch_model",))):
            for stem in stems:
                index = folder / f"{stem}{suffix}.index.json"
                if (folder / f"{stem}{suffix}").is_file():
                    return [folder / f"{stem}{suffix}"]
                if index.is_file():
                    names = set(self._json(index).get("weight_map", {}).values())
                    shards = [folder / name for name in sorted(names)]
                    for shard in shards:
                        if not shard.is_file():
                            raise ModelError(
                                f"'{self.name}' lacks '{shard.name}', weights it names"
                            )
                    return shards
        if needed:
            raise ModelError(
                f"'{self.name}' has no weights: neither model.safetensors nor pytorch_model.bin "
                f"is in '{folder}'"
            )
        return []

    def _inside(self, path: str) -> Path:
        if not (self.path / path).resolve().is_relative_to(self.path.resolve()):
            raise ModelError(f"'{self.name}': modules.json names '{path}', outside of the folder")
        return self.path / path

    def _optional(self, path: Path) -> Mapping[str, Any]:
        found = self._json(path) if path.is_file() else {}
        if not isinstance(found, dict):
            raise ModelError(f"'{self.name}': {path.name} does not hold settings by name")
        return found

    def _json(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"'{self.name}': {path.name} cannot be read ({error})") from None
