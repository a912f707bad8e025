"""Reads the facts of a sentence-transformers or transformers model from its folder.

It reads configuration files and the headers of weights, and imports neither torch nor transformers.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.embedder import Role
from harness.errors import ModelError
from harness.plugins.embedders import weight_files
from harness.plugins.embedders.transformers import padding, text_lengths
from harness.plugins.embedders.transformers.routes import TASK_SETTINGS, Router, Routes
from harness.plugins.embedders.weight_files import Backend

_POOLINGS = {  # names in files of sentence-transformers before version 6: names since then
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_ROUTERS = ("Router", "Asym")  # modules that have modules: one row of them for each route
# The library's settings of a transformer are in `sentence_KIND_config.json`, the first of these.
_SETTINGS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
_WITHOUT_LIMIT = 10**6  # tokenizers write 10**30 for no limit
# Models that number positions from their padding token's id + 1: two positions are never used.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl")
_WITH_WEIGHTS = ("Transformer", "StaticEmbedding", "WordEmbeddings", "LSTM", "Dense")
_IRRELEVANT = ("data_config.json", "generation_config.json", "trainer_state.json", "training.json")


@dataclass(frozen=True)
class Module:
    """One step of a sentence-transformers model: its class and the folder of its files."""

    kind: str
    folder: Path


def is_model(path: Path) -> bool:
    """Return whether a folder has a model of sentence-transformers or transformers."""
    if (path / "modules.json").is_file():
        return True
    try:
        return "architectures" in json.loads((path / "config.json").read_text("utf-8"))
    except (OSError, ValueError, TypeError):
        return False


class ModelFolder:
    """A model on disk.

    Parameters
    ----------
    path
        Folder of the model.
    name
        What errors call the model.
    backend
        What runs the transformer; it decides which weights are read.

    Raises
    ------
    ModelError
        If the folder is not a model, or its weights are missing or damaged.
    """

    def __init__(self, path: Path, name: str, backend: Backend = "torch") -> None:
        self.path, self.name, self.backend = path, name, backend
        if not (path / "modules.json").is_file() and not (path / "config.json").is_file():
            raise ModelError(
                f"'{name}' is not a model folder: both modules.json and config.json are missing"
            )
        if (path / "adapter_config.json").is_file():
            raise ModelError(
                f"'{name}' is an adapter (adapter_config.json) without its base model; merge the "
                "two and save the result"
            )
        for module in self.modules:
            if module.kind in _WITH_WEIGHTS:
                for file in self._weights(module.folder):
                    weight_files.check(file, name)

    @property
    def loading(self) -> Mapping[str, Any]:
        """Further arguments of transformers' `from_pretrained`."""
        return {}

    @functools.cached_property
    def modules(self) -> list[Module]:
        """The steps in order; a plain transformers model has one, `Transformer`."""
        if not (self.path / "modules.json").is_file():
            return [Module("Transformer", self.path)]
        listed = self._json(self.path / "modules.json")
        try:
            return [
                Module(str(m["type"]).rpartition(".")[2], self._inside(m["path"])) for m in listed
            ]
        except (TypeError, KeyError):
            raise ModelError(
                f"'{self.name}': modules.json is not a list of modules with 'type' and 'path'"
            ) from None

    @property
    def is_plain(self) -> bool:
        """Whether it is a transformers model without modules.json, which states no pooling."""
        return not (self.path / "modules.json").is_file()

    @functools.cached_property
    def runs_own_code(self) -> bool:
        """Whether the model has its own Python code and its files ask to run it."""
        listed = [] if self.is_plain else self._json(self.path / "modules.json")
        foreign = any(not str(m["type"]).startswith("sentence_transformers.") for m in listed)
        return foreign or "auto_map" in self.config

    @functools.cached_property
    def config(self) -> Mapping[str, Any]:
        """The transformer's config.json; empty for a model without one."""
        return self._optional(self.transformer / "config.json")

    @functools.cached_property
    def prompts(self) -> dict[str, str]:
        """The model's prompts by name, without empty ones."""
        return {str(k): str(v) for k, v in (self._settings.get("prompts") or {}).items() if v}

    @property
    def default_prompt(self) -> str:
        """The prompt that the model puts before each text by default; empty for none."""
        return self.prompts.get(self._settings.get("default_prompt_name") or "", "")

    @property
    def truncate_dim(self) -> int | None:
        """How many dimensions the model keeps of each vector; None for all."""
        return self._settings.get("truncate_dim")

    @functools.cached_property
    def poolings(self) -> tuple[str, ...]:
        """How the model pools, such as `("mean",)`; empty if it has no pooling step.

        A plain model gets the default of sentence-transformers: the last token of a model that
        generates text, the mean for any other.
        """
        if self.is_plain:
            architecture = str((self.config.get("architectures") or [""])[0])
            causal = architecture.endswith("ForCausalLM") and self.config.get("is_causal", True)
            return ("lasttoken",) if causal else ("mean",)
        for module in self.modules:
            if module.kind == "Pooling":
                config = self._json(module.folder / "config.json")
                stated = config.get("pooling_mode")
                if stated:
                    return (stated,) if isinstance(stated, str) else tuple(stated)
                return tuple(new for old, new in _POOLINGS.items() if config.get(old)) or ("mean",)
        return ()

    @functools.cached_property
    def routes(self) -> Routes:
        """Which way texts of each role go; empty for a model that treats all alike."""
        differs = any(
            self._settings_of(module.folder).get(key) is not None
            for module in self.input_modules.values()
            for key in TASK_SETTINGS
        )
        return Routes.of([router for _, router in self._routers], differs=differs)

    def input_module(self, role: Role) -> Module:
        """Return the module that splits the texts of a role into tokens."""
        if len(self.input_modules) == 1:
            return next(iter(self.input_modules.values()))
        route = self._routers[0][1].route(self.routes.tasks.get(role))
        return self.input_modules[route or next(iter(self.input_modules))]

    @functools.cached_property
    def input_modules(self) -> Mapping[str, Module]:
        """The first module by route; a model that reads all texts alike has one."""
        first = self.modules[0]
        if first.kind not in _ROUTERS:
            folder = self.transformer if first.kind == "Transformer" else first.folder
            return {"": Module(first.kind, folder)}
        types, router = self._routers[0]
        return {
            route: Module(types[steps[0]].rpartition(".")[2], first.folder / steps[0])
            for route, steps in router.routes.items()
        }

    @functools.cached_property
    def _routers(self) -> list[tuple[Mapping[str, str], Router]]:
        """The classes of the modules, and the routes, of each module that has routes."""
        found = []
        for folder in (module.folder for module in self.modules if module.kind in _ROUTERS):
            file = folder / "router_config.json"
            file = file if file.is_file() else folder / "config.json"
            try:
                config = self._json(file)
                types = {str(step): str(type_) for step, type_ in config["types"].items()}
                router = Router.of_config(config)
                for step in (step for steps in router.routes.values() for step in steps):
                    types[step]
            except (KeyError, TypeError, ValueError, SyntaxError, AttributeError) as error:
                raise ModelError(
                    f"'{self.name}': {file.name} does not state routes ({error}); expected "
                    "'types', 'structure' with the modules of each route, and 'parameters'"
                ) from None
            found.append((types, router))
        return found

    @functools.cached_property
    def is_padded_anew(self) -> bool:
        """Whether its files pad texts on a side that would change their vectors."""
        return any(
            self._pads_wrongly(module.folder)
            for module in self.input_modules.values()
            if module.kind == "Transformer"
        )

    def _pads_wrongly(self, folder: Path) -> bool:
        settings = self._settings_of(folder)
        if settings.get("transformer_task") in padding.GENERATING:
            return False
        if not padding.shifts_positions(self._optional(folder / "config.json")):
            return False
        side = padding.stated_side(
            folder / "tokenizer.json",
            (settings.get("processing_kwargs") or {}).get("text") or {},
            settings.get("processor_kwargs") or settings.get("tokenizer_args") or {},
            self._optional(folder / "tokenizer_config.json"),
        )
        return side == "left"

    @property
    def normalizes(self) -> bool:
        """Whether the model itself scales its vectors to length 1."""
        return any(module.kind == "Normalize" for module in self.modules)

    @property
    def hidden_size(self) -> int | None:
        """Length of a token's vector; None if config.json does not say."""
        for key in ("hidden_size", "d_model", "dim", "n_embd"):
            if isinstance(self.config.get(key), int):
                return int(self.config[key])
        return None

    def dimensions(self, poolings: int) -> int | None:
        """Return the length of a text's vector with `poolings` poolings joined; None if unknown."""
        size = self.hidden_size
        for module in self.modules:
            if module.kind == "Dense":
                size = self._json(module.folder / "config.json").get("out_features")
            elif module.kind == "LSTM":
                stated = self._optional(module.folder / "lstm_config.json")
                size = stated.get("hidden_dim", 0) * (1 + stated.get("bidirectional", True)) or None
            elif module.kind in ("StaticEmbedding", "WordEmbeddings"):
                shapes = [s for f in self._weights(module.folder) for s in weight_files.shapes(f)]
                size = shapes[0][-1] if shapes else None
            elif module.kind == "Pooling" and size is not None:
                size *= poolings
        if self.is_plain and size is not None:
            size *= poolings
        return min(size, self.truncate_dim) if size and self.truncate_dim else size

    @functools.cached_property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, as sentence-transformers cuts it; None for no limit."""
        if len(self.input_modules) > 1:
            limits = [self.longest_input(role) for role in self.routes.names]
            return None if None in limits else max(filter(None, limits), default=None)
        return self._max_tokens_of(self.transformer)

    def _max_tokens_of(self, folder: Path) -> int | None:
        stated = self._settings_of(folder).get("max_seq_length")
        if stated:
            return int(stated)
        config = self._optional(folder / "config.json")
        tokenizer = self._optional(folder / "tokenizer_config.json")
        limits = [tokenizer.get("model_max_length"), config.get("max_position_embeddings")]
        known = [int(n) for n in limits if isinstance(n, (int, float)) and 0 < n < _WITHOUT_LIMIT]
        return min(known, default=None)

    def longest_input(self, role: Role) -> int | None:
        """Return the number of tokens after which texts of a role are cut; None for no limit."""
        module = self.input_module(role)
        settings = self._settings_of(module.folder)
        task = self.routes.tasks.get(role)
        stated = [
            ((settings.get("processing_kwargs") or {}).get("text") or {}).get("max_length"),
            (settings.get("query_expansion") or {}).get("length") if task == "query" else None,
            settings.get(f"{task}_length"),
        ]
        for limit in stated:
            if isinstance(limit, int) and limit > 0:
                return limit
        if module.kind == "StaticEmbedding":
            return text_lengths.stated_limit(module.folder / "tokenizer.json")
        if module.kind == "WordEmbeddings":
            limit = self.words_settings(module).get("max_seq_length")
            return limit if isinstance(limit, int) and 0 < limit < _WITHOUT_LIMIT else None
        one_way = len(self.input_modules) == 1
        return self.max_tokens if one_way else self._max_tokens_of(module.folder)

    def words_settings(self, module: Module) -> Mapping[str, Any]:
        """Return the settings of an encoder of word vectors."""
        return self._optional(module.folder / "wordembedding_config.json")

    def chat_template(self, module: Module) -> str:
        """Return the chat template that a module puts texts into; empty for none."""
        settings = self._settings_of(module.folder)
        if module.kind != "Transformer":
            return ""
        if not self.is_plain and "message" not in (settings.get("modality_config") or {}):
            return ""
        file = module.folder / "chat_template.jinja"
        if file.is_file():
            return file.read_text("utf-8", "replace")
        return str(
            self._optional(module.folder / "tokenizer_config.json").get("chat_template") or ""
        )

    def counts_by_file(self, module: Module) -> bool:
        """Return whether a module's tokenizer.json says all about the tokens of a text.

        Tokenizers of some language models get tokens at the ends by `tokenizer_config.json`.
        """
        config = self._optional(module.folder / "tokenizer_config.json")
        return not (config.get("add_bos_token") or config.get("add_eos_token"))

    def lowercases(self, module: Module) -> bool:
        """Return whether sentence-transformers lower-cases the texts of a module."""
        return bool(self._settings_of(module.folder).get("do_lower_case"))

    @functools.cached_property
    def transformer_settings(self) -> Mapping[str, Any]:
        """The settings of sentence-transformers for the transformer; empty if there are none."""
        return self._settings_of(self.transformer)

    def _settings_of(self, folder: Path) -> Mapping[str, Any]:
        for kind in _SETTINGS:
            stated = self._optional(folder / f"sentence_{kind}_config.json")
            if stated:
                return stated
        return {}

    @functools.cached_property
    def max_positions(self) -> int | None:
        """Largest number of tokens that the weights can read; None for no limit."""
        positions = self.config.get("max_position_embeddings")
        if not isinstance(positions, int) or positions < 1:
            return None
        return positions - 2 * (self.config.get("model_type") in _OFFSET_POSITIONS)

    @functools.cached_property
    def n_parameters(self) -> int | None:
        """Number of weights, from the headers of safetensors files; None for other formats."""
        files = {f for m in self.modules for f in self._weights(m.folder, needed=False)}
        if not files or any(file.suffix != ".safetensors" for file in files):
            return None
        return sum(math.prod(shape) for file in files for shape in weight_files.shapes(file))

    def files(self, *, code: bool) -> dict[str, Path]:
        """Return the files that determine the vectors, by their path in the folder.

        Parameters
        ----------
        code
            Whether the model's own Python files are run.
        """
        files = {}
        patterns = ["*.json", "vocab.txt", "merges.txt", "*.model", "*.jinja", "*.tiktoken"]
        for folder in {self.path, *(module.folder for module in self.modules)}:
            for pattern in patterns + ["*.py"] * code:
                for file in folder.glob(pattern):
                    if file.name not in _IRRELEVANT and not file.name.endswith(".index.json"):
                        files[file.relative_to(self.path).as_posix()] = file
            for file in self._weights(folder, needed=False):
                files[file.relative_to(self.path).as_posix()] = file
        return files

    @property
    def transformer(self) -> Path:
        """The folder of the transformer; the model's own folder if it has none."""
        return next((m.folder for m in self.modules if m.kind == "Transformer"), self.path)

    @functools.cached_property
    def _settings(self) -> Mapping[str, Any]:
        return self._optional(self.path / "config_sentence_transformers.json")

    def _weights(self, folder: Path, *, needed: bool = True) -> list[Path]:
        """Return the weight files of a module: safetensors if there are any, as loaders do.

        Every shard that an index names must exist.
        """
        if self.backend != "torch" and folder == self.transformer:
            return weight_files.exported(folder, self.backend, self.name)
        for file in (folder / "model.safetensors", folder / "pytorch_model.bin"):
            if file.is_file():
                return [file]
            index = file.with_name(f"{file.name}.index.json")
            if index.is_file():
                names = set(self._json(index).get("weight_map", {}).values())
                shards = [folder / name for name in sorted(names)]
                for shard in shards:
                    if not shard.is_file():
                        raise ModelError(
                            f"'{self.name}': {index.name} names '{shard.name}', which is missing"
                        )
                return shards
        if needed:
            raise ModelError(
                f"'{self.name}' has no weights: '{folder}' has neither model.safetensors nor "
                "pytorch_model.bin"
            )
        return []

    def _inside(self, path: str) -> Path:
        if not (self.path / path).resolve().is_relative_to(self.path.resolve()):
            raise ModelError(f"'{self.name}': modules.json names '{path}', outside the folder")
        return self.path / path

    def _optional(self, path: Path) -> Mapping[str, Any]:
        settings = self._json(path) if path.is_file() else {}
        if not isinstance(settings, dict):
            raise ModelError(f"'{self.name}': {path.name} is not a JSON object")
        return settings

    def _json(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"'{self.name}': {path.name} cannot be read ({error})") from None
