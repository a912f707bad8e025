"""Reads the facts of a sentence-transformers or transformers model from its folder.

It reads configuration files and the headers of weights, and imports neither torch nor transformers.
Every file below the folder may change the vectors, unless it is on the short list of files that
cannot; nothing outside the folder may.
"""

from __future__ import annotations

import functools
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import limits
from harness.embedder import Kind, Role
from harness.errors import HarnessError, ModelError

from .. import weight_files
from ..weight_files import Backend
from . import model2vec, model_settings, tokens
from .model_settings import TASK_SETTINGS, Router, Routes

_POOLINGS = {  # names in files of sentence-transformers before version 6: names since then
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
_WITHOUT_LIMIT = 10**6  # tokenizers write 10**30 for no limit
# Models that number positions from their padding token's id + 1: two positions are never used.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet", "xlm-roberta-xl")
_WITH_WEIGHTS = (
    *("Transformer", "StaticEmbedding", "WordEmbeddings", "LSTM", "CNN", "Dense", "LayerNorm"),
    *("WeightedLayerPooling", "CLIPModel"),
)
_LIBRARY = "sentence_transformers."
_MOST_STEPS, _DEEPEST = 100, 3
"""Steps of a model or router, and routers in routers; models have about ten, and none."""
_ROUTERS = ("Router", "Asym")
"""Modules that have modules: one row of them for each kind of text."""
_TRANSFORMER_SETTINGS = (
    *("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"),
)
"""The kinds in the names of files with settings, `sentence_KIND_config.json`, first ones first."""
_TRANSFORMER_WEIGHTS = ("model.safetensors", "pytorch_model.bin")

# What cannot change vectors. Loaders open files by their names or because a configuration names
# them; nothing here has a name that a loader knows, and what a configuration names is never left
# out. A file of any other name counts.
_OF_TOOLS = re.compile(r"\..*|__pycache__|checkpoint-\d+|runs|wandb", re.IGNORECASE)
"""Folders of git, caches and trainings."""
_ASIDE = re.compile(r"eval|onnx|openvino|original|coreml|gguf", re.IGNORECASE)
"""Folders of results, and of weights in other formats."""
_ABOUT = re.compile(
    r"\..*|.*\.(md|pdf|png|jpe?g|gif|svg|webp|csv|pyc)|licen[cs]e(\.txt)?|notice(\.txt)?"
    r"|(data_config|generation_config|trainer_state|training)\.json"
    r"|(optimizer|scheduler|scaler|training_args|rng_state.*)\.(bin|pt|pth)|events\.out\.tfevents.*",
    re.IGNORECASE,
)
"""Descriptions of a model, and states of its training."""
_OTHER_FORMATS = re.compile(
    r".*\.(h5|msgpack|ot|onnx|onnx_data|onnx\.data|gguf|tflite|mlmodel|pt|pth|ckpt|zip)"
    r"|consolidated.*|openvino_model.*\.(xml|bin)",
    re.IGNORECASE,
)
"""Weights that neither sentence-transformers nor transformers opens in a folder."""
_SUFFIXES = (".json", ".safetensors", ".bin", ".txt", ".model")
"""Ends of names that only files have."""


@dataclass(frozen=True)
class Module:
    """One step of a sentence-transformers model.

    Attributes
    ----------
    kind
        Name of its class, such as `Pooling`.
    folder
        Folder of its files.
    type
        The class with its module, as the file names it.
    routes
        The steps of each route, by its name; empty unless the module is a router.
    router
        Which route a text takes; None unless the module is a router.
    """

    kind: str
    folder: Path
    type: str = ""
    routes: Mapping[str, tuple[Module, ...]] = field(default_factory=dict)
    router: Router | None = None

    def within(self) -> Iterator[Module]:
        """Yield the module and those of its routes, at any depth."""
        yield self
        for steps in self.routes.values():
            for step in steps:
                yield from step.within()


def is_model(path: Path) -> bool:
    """Return whether a folder has a model of sentence-transformers, transformers or model2vec.

    Raises
    ------
    ModelError
        If its config.json cannot be read.
    """
    if (path / "modules.json").exists():
        return True
    if not (path / "config.json").exists():
        return False
    config = weight_files.read_object(path / "config.json", str(path))
    return "architectures" in config or is_model2vec(config)


@functools.lru_cache(maxsize=64)
def kind_of(path: Path) -> Kind | None:
    """Return the kind of the model in a folder; None if it cannot be read as any kind."""
    try:
        ModelFolder(path, str(path))
    except model_settings.OtherKind as error:
        return error.kind
    except HarnessError:
        return None
    return "text"


def is_model2vec(config: Mapping[str, Any]) -> bool:
    """Return whether a config.json is that of a static model of the package model2vec."""
    return config.get("model_type") == "model2vec" or (
        "architectures" not in config and {"tokenizer_name", "apply_pca"} <= config.keys()
    )


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
    is_pooled
        Whether the user states how tokens are pooled, so that a classifier is read as an encoder.
    kind
        What kind of model is expected.

    Raises
    ------
    ModelError
        If the folder has a model of another kind, a setting is wrong, or its weights are missing or
        damaged.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        backend: Backend = "torch",
        *,
        is_pooled: bool = False,
        kind: Kind = "text",
    ) -> None:
        self.path, self.name, self.backend, self.kind = path, name, backend, kind
        if not (path / "modules.json").exists() and not (path / "config.json").exists():
            raise ModelError(
                f"'{name}' is not a model folder: both modules.json and config.json are missing"
            )
        self._check_kind(is_pooled=is_pooled)
        self._tree  # noqa: B018 -- what is no regular file is refused before anything opens it
        model_settings.check_model(self._settings, name=name)
        for module in self.all_modules:
            self._check(module)

    def _check_kind(self, *, is_pooled: bool) -> None:
        """Check that the model is of the expected kind, and whole."""
        for folder in {self.path, *(m.folder for m in self.all_modules)}:
            if (folder / "adapter_config.json").exists():
                raise ModelError(
                    f"'{self.name}' is an adapter (adapter_config.json) without its base model; "
                    "merge the two and save the result"
                )
        try:
            self._check_is_encoder(is_pooled=is_pooled)
        except model_settings.OtherKind as error:
            if self.kind == "text" or self.kind != error.kind:
                raise
        else:
            if self.kind != "text":
                raise ModelError(
                    f"'{self.name}' is not a {self.kind} model: nothing in its folder says so, as "
                    "the 'model_type' of config_sentence_transformers.json would"
                )

    def _check_is_encoder(self, *, is_pooled: bool) -> None:
        """Check that the model is an embedding encoder."""
        if not self.is_model2vec:
            model_settings.check_folder(
                self.path,
                self.name,
                settings=self._settings,
                steps=[(module.kind, module.type) for module in self.all_modules],
                config=self.config,
                transformer_settings=self.transformer_settings,
                is_plain=self.is_plain,
                is_pooled=is_pooled,
            )

    def _check(self, module: Module) -> None:
        """Check the settings and weights of a step."""
        weights = self._weights(module, needed=module.kind in _WITH_WEIGHTS)
        for file in weights:
            weight_files.check(file, self.name)
        if self.is_model2vec:
            model2vec.check(self.path, self.config, self.name)
            return
        is_loaded = self.backend == "torch" or module.folder != self.transformer
        place = self._relative(module.folder)
        if module.kind == "Transformer":
            config = self._config_of(module)
            model_settings.check_transformer(
                module.folder, config, self._settings_of(module), name=self.name
            )
            if is_loaded and weights:
                model_settings.check_sizes(config, weights, name=self.name)
        elif module.kind == "Pooling":
            model_settings.check_pooling(
                module.folder, name=self.name, place=f"{place}/config.json"
            )
        else:
            model_settings.check_layer(
                module.kind, module.folder, weights, name=self.name, place=place
            )

    def _config_of(self, module: Module) -> Mapping[str, Any]:
        """Return the config.json of a transformer, which must have one."""
        return weight_files.read_object(module.folder / "config.json", self.name)

    def _settings_of(self, module: Module) -> Mapping[str, Any]:
        """Return the settings of sentence-transformers for a transformer; empty without any."""
        for kind in _TRANSFORMER_SETTINGS:
            stated = self._optional(module.folder / f"sentence_{kind}_config.json")
            if stated:
                return stated
        return {}

    @property
    def is_one_file(self) -> bool:
        """Whether the model is one file, with its tokenizer inside."""
        return False

    @property
    def reads_pooler(self) -> bool:
        """Whether a transformer's own pooler makes the vectors, which is seldom so."""
        stated = self.transformer_settings.get("modality_config")
        by_kind = stated.values() if isinstance(stated, dict) else ()
        return any("pooler" in str(how) for how in by_kind)

    @property
    def loading(self) -> Mapping[str, Any]:
        """Further arguments of transformers' `from_pretrained`."""
        return {}

    @functools.cached_property
    def modules(self) -> list[Module]:
        """The steps in order; a plain transformers model has one, `Transformer`."""
        if self.is_model2vec:
            config = self._optional(self.path / "config.json")
            normalize = [Module("Normalize", self.path)] if config.get("normalize") else []
            return [Module("StaticEmbedding", self.path), *normalize]
        if self.is_plain:
            return [Module("Transformer", self.path)]
        listed = weight_files.read_config(self.path / "modules.json", self.name)
        if not isinstance(listed, list) or not listed:
            raise ModelError(
                f"'{self.name}': modules.json must be a list of the model's steps, each with "
                "'name', 'type' and 'path'"
            )
        if len(listed) > _MOST_STEPS:
            raise ModelError(
                f"'{self.name}': modules.json has "
                + limits.too_many(len(listed), _MOST_STEPS, "steps")
            )
        modules = []
        for i, entry in enumerate(listed):
            for key in ("path", "type", "name"):
                if not isinstance(entry, dict) or not isinstance(entry.get(key), str):
                    raise ModelError(
                        f"'{self.name}': modules.json: step {i} has no text '{key}'; expected "
                        "an object with 'name', 'type' (a class) and 'path' (its folder)"
                    )
                if key == "path":
                    self._inside(self.path, entry["path"], "modules.json")
            modules.append(self._module(entry["type"], self.path, entry["path"], "modules.json"))
        return modules

    @functools.cached_property
    def all_modules(self) -> list[Module]:
        """The steps in order, each router followed by the steps of its routes."""
        return [step for module in self.modules for step in module.within()]

    def _module(
        self, type_: str, parent: Path, path: object, file: str, *, depth: int = 0
    ) -> Module:
        folder = self._inside(parent, path, file)
        kind = type_.rpartition(".")[2]
        if depth > _DEEPEST:
            raise ModelError(f"'{self.name}': {file} has routers in routers without end")
        if kind in _ROUTERS:
            return self._router(type_, folder, depth)
        return Module(kind, folder, type_)

    def _router(self, type_: str, folder: Path, depth: int) -> Module:
        """Return a module with routes, and the steps of each route."""
        file = _router_file(folder)
        settings = weight_files.read_object(file, self.name, self._relative(file))
        n = len(settings["types"]) if isinstance(settings.get("types"), dict) else 0
        if n > _MOST_STEPS:
            raise ModelError(
                f"'{self.name}': {self._relative(file)} has "
                + limits.too_many(n, _MOST_STEPS, "steps")
            )
        try:
            router = Router.of_config(settings)
            steps = {
                str(key): self._module(str(class_), folder, key, file.name, depth=depth + 1)
                for key, class_ in settings["types"].items()
            }
            routes = {
                route: tuple(steps[key] for key in keys) for route, keys in router.routes.items()
            }
        except (KeyError, TypeError, ValueError, SyntaxError, AttributeError) as error:
            raise ModelError(
                f"'{self.name}': {self._relative(file)} does not state routes ({error}); it must "
                "have 'types' (the class of each step by its folder), 'structure' (the steps of "
                "each route) and 'parameters' (with a default_route that is one of them, or none)"
            ) from None
        return Module(type_.rpartition(".")[2], folder, type_, routes, router)

    @property
    def is_plain(self) -> bool:
        """Whether it is a transformers model without modules.json, which states no pooling."""
        return not (self.path / "modules.json").exists() and not self.is_model2vec

    @functools.cached_property
    def is_model2vec(self) -> bool:
        """Whether it is a static model as the package model2vec saves it, without modules.json."""
        return not (self.path / "modules.json").exists() and is_model2vec(
            self._optional(self.path / "config.json")
        )

    @functools.cached_property
    def runs_own_code(self) -> bool:
        """Whether the model has its own Python code and its files ask to run it."""
        return any(
            (module.type and not module.type.startswith(_LIBRARY)) or self._asks_for_code(module)
            for module in self.all_modules
        )

    def _asks_for_code(self, module: Module) -> bool:
        config = self._optional(module.folder / "config.json")
        if module.kind == "Transformer":
            return "auto_map" in config
        if module.kind == "Dense":
            # Without trust the library puts its default in the place of another function.
            return not str(config.get("activation_function", "torch.")).startswith("torch.")
        if module.kind == "WordEmbeddings":
            stated = self._optional(module.folder / "wordembedding_config.json")
            return not str(stated.get("tokenizer_class", _LIBRARY)).startswith(_LIBRARY)
        return False

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
    def similarity(self) -> str | None:
        """The name of the function that compares texts; None if the model states none."""
        stated = self._settings.get("similarity_fn_name")
        return None if stated is None else str(stated)

    @property
    def sparse_dimensions(self) -> int | None:
        """Size of the vocabulary of a sparse encoder; None if its files do not say."""
        for module in self.all_modules:
            if module.kind == "SparseAutoEncoder":
                return self._optional(module.folder / "config.json").get("hidden_dim")
        return self.config.get("vocab_size")

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
        for module in self.all_modules:
            if module.kind == "Pooling":
                config = self._optional(module.folder / "config.json")
                stated = config.get("pooling_mode")
                if stated:
                    return (stated,) if isinstance(stated, str) else tuple(stated)
                return tuple(new for old, new in _POOLINGS.items() if config.get(old)) or ("mean",)
        return ()

    @functools.cached_property
    def routes(self) -> Routes:
        """Which way texts of each role go; empty for a model that treats all alike."""
        differs = self.kind == "multi-vector" or any(
            self._settings_of(module).get(key) is not None
            for module in self.input_modules.values()
            for key in TASK_SETTINGS
        )
        return Routes.of(self._routers, differs=differs)

    def input_module(self, role: Role) -> Module:
        """Return the module that splits the texts of a role into tokens."""
        if len(self.input_modules) == 1:
            return next(iter(self.input_modules.values()))
        route = self._routers[0].route(self.routes.tasks.get(role))
        return self.input_modules[route or next(iter(self.input_modules))]

    @functools.cached_property
    def input_modules(self) -> Mapping[str, Module]:
        """The first module by route; a model that reads all texts alike has one."""
        first = self.modules[0]
        return {route: steps[0] for route, steps in first.routes.items()} or {"": first}

    @property
    def _routers(self) -> list[Router]:
        """What each module that has routes says of them."""
        return [module.router for module in self.modules if module.router]

    @functools.cached_property
    def is_padded_anew(self) -> bool:
        """Whether its files pad texts in a way that would change their vectors."""
        return any(
            self._pads_wrongly(module)
            for module in self.input_modules.values()
            if module.kind == "Transformer"
        )

    def _pads_wrongly(self, module: Module) -> bool:
        folder, settings = module.folder, self._settings_of(module)
        if settings.get("transformer_task") in tokens.GENERATING:
            return False
        tokenizer = self._optional(folder / "tokenizer_config.json")
        if tokens.MASK not in (tokenizer.get("model_input_names") or [tokens.MASK]):
            return True
        if not tokens.shifts_positions(self._optional(folder / "config.json")):
            return False
        side = tokens.stated_side(
            folder / "tokenizer.json",
            (settings.get("processing_kwargs") or {}).get("text") or {},
            settings.get("processor_kwargs") or settings.get("tokenizer_args") or {},
            tokenizer,
        )
        return side == "left"

    @property
    def normalizes(self) -> bool:
        """Whether the model itself scales its vectors to length 1."""
        return _normalizes(self.modules)

    @property
    def hidden_size(self) -> int | None:
        """Length of a token's vector; None if config.json does not say."""
        return _hidden_size(self.config)

    def dimensions(self, poolings: int) -> int | None:
        """Return the length of a text's vector with `poolings` poolings joined; None if unknown."""
        size = self._width(self.modules, self.hidden_size, poolings)
        if self.is_plain and size is not None:
            size *= poolings
        return min(size, self.truncate_dim) if size and self.truncate_dim else size

    def _width(self, modules: Iterable[Module], size: int | None, poolings: int) -> int | None:
        """Return the length of a vector behind some steps; None if unknown."""
        for module in modules:
            if module.kind == "Dense":
                size = self._optional(module.folder / "config.json").get("out_features")
            elif module.kind == "LSTM":
                stated = self._optional(module.folder / "lstm_config.json")
                size = stated.get("hidden_dim", 0) * (1 + stated.get("bidirectional", True)) or None
            elif module.kind == "CNN":
                stated = self._optional(module.folder / "cnn_config.json")
                kernels = stated.get("kernel_sizes") or ()
                size = stated.get("out_channels", 0) * len(kernels) or None
            elif module.kind in ("StaticEmbedding", "WordEmbeddings"):
                shapes = [s for f in self._weights(module) for s in weight_files.shapes(f)]
                size = next((shape[-1] for shape in shapes if len(shape) > 1), None)
            elif module.kind == "Transformer" and module.folder != self.transformer:
                size = _hidden_size(self._optional(module.folder / "config.json"))
            elif module.kind == "Pooling":
                # What it declares: vectors of another length are refused when they come.
                stated = self._optional(module.folder / "config.json")
                size = stated.get("embedding_dimension", stated.get("word_embedding_dimension"))
                size = None if size is None else size * poolings
            elif module.routes:
                widths = {
                    route: self._width(way, size, poolings) for route, way in module.routes.items()
                }
                if len(set(filter(None, widths.values()))) > 1:
                    listed = ", ".join(f"{route}: {width}" for route, width in widths.items())
                    raise ModelError(
                        f"'{self.name}' has routes whose vectors differ in length ({listed}), so "
                        "that queries and documents cannot be compared"
                    )
                size = next(iter(widths.values())) if None not in widths.values() else None
        return size

    @functools.cached_property
    def max_tokens(self) -> int | None:
        """Longest input in tokens, as sentence-transformers cuts it; None for no limit."""
        if self.is_model2vec:
            longest = self.config.get("max_length", model2vec.MAX_TOKENS)
            return None if longest is None else int(longest)
        if len(self.input_modules) > 1:
            limits = [self.longest_input(role) for role in self.routes.names]
            return None if None in limits else max(filter(None, limits), default=None)
        return self._max_tokens_of(Module("Transformer", self.transformer))

    def _max_tokens_of(self, module: Module) -> int | None:
        stated = self._settings_of(module).get("max_seq_length")
        if stated:
            return int(stated)
        config = self._optional(module.folder / "config.json")
        tokenizer = self._optional(module.folder / "tokenizer_config.json")
        limits = [tokenizer.get("model_max_length"), config.get("max_position_embeddings")]
        known = [int(n) for n in limits if isinstance(n, (int, float)) and 0 < n < _WITHOUT_LIMIT]
        return min(known, default=None)

    def longest_input(self, role: Role) -> int | None:
        """Return the number of tokens after which texts of a role are cut; None for no limit."""
        module = self.input_module(role)
        settings = self._settings_of(module)
        task = self.routes.tasks.get(role)
        stated = [
            ((settings.get("processing_kwargs") or {}).get("text") or {}).get("max_length"),
            (settings.get("query_expansion") or {}).get("length") if task == "query" else None,
            settings.get(f"{task}_length"),
        ]
        for limit in stated:
            if isinstance(limit, int) and limit > 0:
                return limit
        if module.kind == "StaticEmbedding" and not self.is_model2vec:
            return tokens.stated_limit(module.folder / "tokenizer.json")
        if module.kind == "WordEmbeddings":
            limit = self.words_settings(module).get("max_seq_length")
            return limit if isinstance(limit, int) and 0 < limit < _WITHOUT_LIMIT else None
        one_way = len(self.input_modules) == 1
        return self.max_tokens if one_way else self._max_tokens_of(module)

    def words_settings(self, module: Module) -> Mapping[str, Any]:
        """Return the settings of an encoder of word vectors."""
        return self._optional(module.folder / "wordembedding_config.json")

    def chat_template(self, module: Module) -> str:
        """Return the chat template that a module puts texts into; empty for none."""
        settings = self._settings_of(module)
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
        return bool(self._settings_of(module).get("do_lower_case"))

    @functools.cached_property
    def transformer_settings(self) -> Mapping[str, Any]:
        """The settings of sentence-transformers for the transformer; empty if there are none."""
        return self._settings_of(Module("Transformer", self.transformer))

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
        files = {f for m in self.all_modules for f in self._weights(m, needed=False)}
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
        # Imported here, because `hub` asks this module what a model is.
        from . import hub

        others = self._repositories_of_code() if code else []
        return {path: file for name in others for path, file in hub.code(name).items()} | {
            path: file
            for path, file in self._tree.items()
            if file in self._opened
            or not (
                _ABOUT.fullmatch(file.name)
                or (not code and (self._is_aside(file) or self._is_unread(file)))
            )
        }

    def _repositories_of_code(self) -> list[str]:
        """Return the repositories, other than the model's own, whose code it asks to run."""
        stated = [module.type for module in self.all_modules]
        for folder in {module.folder for module in self.all_modules}:
            for file in ("config.json", "tokenizer_config.json", "processor_config.json"):
                classes = self._optional(folder / file).get("auto_map")
                for value in classes.values() if isinstance(classes, dict) else ():
                    stated += value if isinstance(value, list) else [value]
        named = {
            text.partition("--")[0] for text in stated if isinstance(text, str) and "--" in text
        }
        for name in named:
            if not weight_files.is_inside(name) or Path(name).exists():
                raise ModelError(
                    f"'{self.name}' asks to run the code in '{name}', outside its folder; copy it "
                    "into the folder"
                )
        return sorted(named)

    @functools.cached_property
    def _opened(self) -> set[Path]:
        """The files of weights that are loaded."""
        return {file for m in self.all_modules for file in self._weights(m, needed=False)}

    @functools.cached_property
    def _used(self) -> set[Path]:
        """The folders in which a loader opens files."""
        return {*(m.folder for m in self.all_modules), *(file.parent for file in self._opened)}

    @functools.cached_property
    def _tree(self) -> dict[str, Path]:
        """Every file below the folder by its path in it, links followed.

        Raises
        ------
        ModelError
            If one cannot be read, or is a pipe, a socket or a device: to open it may never end.
        """
        return {file.relative_to(self.path).as_posix(): file for file in self._walked()}

    def _walked(self) -> Iterator[Path]:
        n, folders = 0, [(self.path, frozenset[tuple[int, int]]())]
        while folders:
            folder, above = folders.pop()
            try:
                state = folder.stat()
                entries = sorted(folder.iterdir())
            except OSError as error:
                raise self._unreadable(folder, error) from None
            identity = (state.st_dev, state.st_ino)
            if identity in above:  # a link to a folder above it
                continue
            for entry in entries:
                try:
                    found = entry.stat()
                except FileNotFoundError:  # a link to nothing, which nothing can open
                    continue
                except OSError as error:
                    raise self._unreadable(entry, error) from None
                mode = found.st_mode
                n += 1
                if n > limits.MODEL_FILES:
                    raise ModelError(
                        f"'{self.name}' has more than {limits.MODEL_FILES:,} files; expected the "
                        "folder of one model"
                    )
                if stat.S_ISDIR(mode) and entry.suffix in _SUFFIXES:
                    raise ModelError(
                        f"'{self.name}': {self._relative(entry)} is a folder; expected a file"
                    )
                if stat.S_ISDIR(mode):
                    if not _OF_TOOLS.fullmatch(entry.name) or self._is_used(entry):
                        folders.append((entry, above | {identity}))
                    continue
                if not stat.S_ISREG(mode):
                    raise ModelError(
                        f"'{self.name}': {self._relative(entry)} is {_sort(mode)}; expected a "
                        "regular file"
                    )
                if not os.access(entry, os.R_OK):
                    raise ModelError(
                        f"'{self.name}': '{self._relative(entry)}' cannot be read (permission "
                        "denied)"
                    )
                if entry.suffix == ".json" and found.st_size > limits.MODEL_JSON_BYTES:
                    size = limits.too_many(found.st_size, limits.MODEL_JSON_BYTES)
                    raise ModelError(f"'{self.name}': {self._relative(entry)} is a file of {size}")
                yield entry

    def _is_used(self, folder: Path) -> bool:
        return any(used.is_relative_to(folder) for used in self._used)

    def _is_aside(self, file: Path) -> bool:
        """Return whether a file is in a folder that no loader opens."""
        return any(
            folder != self.path and _ASIDE.fullmatch(folder.name) and not self._is_used(folder)
            for folder in file.parents
            if folder.is_relative_to(self.path)
        )

    def _is_unread(self, file: Path) -> bool:
        """Return whether no loader opens a file unless the model's own code is run."""
        if file.suffix == ".py" or _OTHER_FORMATS.fullmatch(file.name):
            return True
        if self.backend != "torch" and file.parent == self.transformer / self.backend:
            return True  # what the runtime reads is named by the graph
        is_exported = self.backend != "torch" and file.parent == self.transformer
        kind = _format(file)
        if kind == ".safetensors" and is_exported:
            return True
        if kind == ".bin" and (
            is_exported
            or any(w.suffix == ".safetensors" and w.parent == file.parent for w in self._opened)
        ):
            return True
        # An index says which shards are loaded. If there are no others, the shards say it, too.
        return (
            file.suffix == ".json"
            and kind != ".json"
            and all(
                other in self._opened or _ABOUT.fullmatch(other.name)
                for other in file.parent.glob(f"*{kind}")
            )
        )

    @property
    def transformer(self) -> Path:
        """The folder of the transformer; the model's own folder if it has none."""
        return next((m.folder for m in self.all_modules if m.kind == "Transformer"), self.path)

    @functools.cached_property
    def _settings(self) -> Mapping[str, Any]:
        return self._optional(self.path / "config_sentence_transformers.json")

    def _weights(self, module: Module, *, needed: bool = True) -> list[Path]:
        """Return the weight files of a module: safetensors if there are any, as loaders do.

        Every shard that an index names must exist.
        """
        folder = module.folder
        if self.backend != "torch" and folder == self.transformer:
            return weight_files.exported(folder, self.backend, self.name)
        stated = None
        if module.kind == "Transformer":
            stated = self._optional(folder / "config.json").get("transformers_weights")
        if stated is not None:
            file = self._inside(folder, stated, "config.json")
            if not file.name.endswith((".safetensors", ".safetensors.index.json")):
                raise ModelError(
                    f"'{self.name}': config.json has transformers_weights={stated!r}; expected the "
                    "name of a .safetensors file"
                )
            if not file.is_file():
                raise ModelError(
                    f"'{self.name}': config.json names the weights '{stated}', which are missing"
                )
            return self._shards(file) if file.suffix == ".json" else [file]
        for file in (folder / name for name in _TRANSFORMER_WEIGHTS):
            if file.is_file():
                return [file]
            index = file.with_name(f"{file.name}.index.json")
            if index.is_file():
                return self._shards(index)
        if needed:
            others = [f"?backend={b}" for b in weight_files.EXPORTED if (folder / b).is_dir()]
            raise ModelError(
                f"'{self.name}' has no weights: '{folder}' has neither model.safetensors nor "
                "pytorch_model.bin" + (f"; use '{self.name}{others[0]}'" if others else "")
            )
        return []

    def _shards(self, index: Path) -> list[Path]:
        """Return the weight files that an index names."""
        placed = self._optional(index).get("weight_map")
        if not isinstance(placed, dict) or not placed:
            raise ModelError(
                f"'{self.name}': {index.name} must have 'weight_map', the file of each weight"
            )
        shards = [
            self._inside(index.parent, name, index.name)
            for name in sorted(set(map(str, placed.values())))
        ]
        for shard in shards:
            if not shard.is_file():
                raise ModelError(
                    f"'{self.name}': {index.name} names '{shard.name}', which is missing"
                )
        return shards

    def _inside(self, folder: Path, path: object, stated_in: str) -> Path:
        """Return the path of a file or folder that a configuration names, below its own folder."""
        if not isinstance(path, str):
            raise ModelError(
                f"'{self.name}': {stated_in} names {path!r}; expected a path in the folder"
            )
        if not weight_files.is_inside(path):
            raise ModelError(
                f"'{self.name}': {stated_in} names '{path}', outside the folder; copy it into the "
                "folder"
            )
        return folder / path

    def _relative(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()

    def _unreadable(self, path: Path, error: OSError) -> ModelError:
        return ModelError(
            f"'{self.name}': '{self._relative(path)}' cannot be read ({error.strerror or error})"
        )

    def _optional(self, path: Path) -> Mapping[str, Any]:
        return weight_files.read_object(path, self.name) if path.is_file() else {}


def _router_file(folder: Path) -> Path:
    own = folder / "router_config.json"
    return own if own.is_file() else folder / "config.json"


def _normalizes(modules: Iterable[Module]) -> bool:
    return any(
        module.kind == "Normalize"
        or (module.routes and all(_normalizes(steps) for steps in module.routes.values()))
        for module in modules
    )


def _hidden_size(config: Mapping[str, Any]) -> int | None:
    # OPT projects its states: `word_embed_proj_dim` is the length that comes out.
    for key in ("word_embed_proj_dim", "hidden_size", "d_model", "dim", "n_embd"):
        if isinstance(config.get(key), int):
            return int(config[key])
    return None


def _format(file: Path) -> str:
    """Return the suffix of a file, or of the files that it is an index of."""
    return Path(file.name.removesuffix(".index.json")).suffix


def _sort(mode: int) -> str:
    """Return what a file is that is neither a regular file nor a folder."""
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"
