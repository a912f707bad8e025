"""From a name to its object: models, mitigators, metrics, engines, tasks and concepts.

A name is parsed (`harness.names`), its spec looked up and loaded (`discovery`), its options are
converted by the signature of what was loaded, and the object is created. Names map to specs, and
specs to import paths, which are imported only when they are used. If two plugins claim a name, only
its use is an error, which names both.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness import folders, names
from harness.embedder import Embedder, is_embedder, renamed
from harness.errors import (
    PLUGIN_ERRORS,
    HarnessError,
    InvalidFile,
    InvalidOption,
    ModelError,
    UnknownName,
    UsageError,
    one_line,
    unreadable,
)
from harness.registry import discovery
from harness.registry.discovery import SUBFOLDERS, Catalogue, TaskFolders
from harness.specs import (
    AdapterSpec,
    EmbedderSpec,
    EngineSpec,
    MetricSpec,
    MitigatorSpec,
    Spec,
    TableSpec,
)
from harness.task.data_files import DataFiles

if TYPE_CHECKING:
    from harness.chain import Chain
    from harness.concept import Concept
    from harness.encode.engine import Engine
    from harness.metrics import Metric
    from harness.mitigator import Mitigator
    from harness.task import yaml_files
    from harness.task.task import Task


class Registry:
    """Everything that has a name.

    Parameters
    ----------
    plugins
        Plugins that register specs; by default the installed ones.
    include
        Further folders of tasks, or task files.
    trust
        Whether YAML files that are not installed may run code, and name keys and addresses.

    Attributes
    ----------
    data
        Finds and fetches the data files of tasks and studies.
    name_errors
        A line for each invalid name and for each name that two plugins claim. Only kinds of names
        that were read so far count.
    own_metrics
        Metrics of the user by name, which are looked up first.
    """

    def __init__(
        self,
        plugins: discovery.Plugins | None = None,
        include: Iterable[Path] = (),
        trust: bool = False,
    ) -> None:
        self.plugins = plugins or discovery.installed()
        self._files = TaskFolders(self.plugins, tuple(include))
        self.data = DataFiles()
        self.name_errors: list[str] = []
        self.own_metrics: dict[str, Metric] = {}
        self._yardsticks: dict[tuple[str, int | None], Task] = {}
        self.trust = trust

    @functools.cached_property
    def embedders(self) -> Catalogue[EmbedderSpec]:
        """Models and providers by name."""
        return self._specs("harness_embedders", "model")

    @functools.cached_property
    def models(self) -> Models:
        """What model names mean."""
        return Models(self.embedders, self.load)

    @functools.cached_property
    def adapters(self) -> Catalogue[AdapterSpec]:
        """Adapters of Python objects by package and class."""
        return self._specs("harness_adapters", "adapter")

    @functools.cached_property
    def mitigators(self) -> Catalogue[MitigatorSpec]:
        """Mitigators by name."""
        return self._specs("harness_mitigators", "mitigator")

    @functools.cached_property
    def metrics(self) -> Catalogue[MetricSpec]:
        """Metrics by name."""
        return self._specs("harness_metrics", "metric")

    @functools.cached_property
    def table_makers(self) -> Catalogue[TableSpec]:
        """Table makers by name."""
        return self._specs("harness_tables", "table maker")

    @functools.cached_property
    def engines(self) -> Catalogue[EngineSpec]:
        """Engines by name."""
        return self._specs("harness_engines", "engine")

    @functools.cached_property
    def task_files(self) -> Catalogue[yaml_files.Document]:
        """Parsed task files by the name they state."""
        return self._files.read("task")

    @functools.cached_property
    def concept_files(self) -> Catalogue[yaml_files.Document]:
        """Parsed concept files by the name they state."""
        return self._files.read("concept")

    @functools.cached_property
    def study_files(self) -> Catalogue[yaml_files.Document]:
        """Parsed study files by the name they state."""
        return self._files.read("study")

    @functools.cached_property
    def benchmark_files(self) -> Catalogue[yaml_files.Document]:
        """Parsed benchmark files by the name they state."""
        return self._files.read("benchmark")

    def catalogues(self) -> tuple[Catalogue[Any], ...]:
        """Return what plugins add, by kind."""
        specs = (
            self.embedders,
            self.adapters,
            self.mitigators,
            self.metrics,
            self.table_makers,
            self.engines,
        )
        return cast("tuple[Catalogue[Any], ...]", specs)

    def trusts(self, path: Path) -> bool:
        """Return whether a file belongs to an installed plugin, or the user trusts all files."""
        if self.trust:
            return True
        resolved = folders.resolved(path)
        return resolved is not None and any(map(resolved.is_relative_to, self._installed))

    @functools.cached_property
    def _installed(self) -> list[Path]:
        installed = self.plugins.results("harness_task_folders")
        return [Path(folder).resolve() for _, folder in installed]

    @property
    def notices(self) -> list[str]:
        """Notices about task and concept files, such as those left out, and about missing data."""
        return [*self._files.notices, *self.data.notices]

    def note(self, line: str) -> None:
        """Keep a notice about a file for the user."""
        self._files.note(line)

    def leave_out(self, error: HarnessError) -> None:
        """Keep a notice that a task or concept file was left out."""
        self._files.leave_out(error)

    def embedder(self, name: str, *, device: str | None = None) -> Embedder:
        """Return the embedder of a model name.

        Raises
        ------
        UnknownName, InvalidOption
            If the name or an option is unknown.
        Unavailable, ModelError
            If the model is not available here, or is broken.
        """
        return self.models.embedder(name, device=device)

    def mitigator(self, name: str) -> Chain:
        """Return the unfitted chain of mitigators that a name lists; `none` is an empty chain.

        Raises
        ------
        UnknownName, InvalidOption
            If a name or an option is unknown.
        """
        from harness.chain import Chain

        return Chain([self._stage(stage) for stage in names.chain_stages(name)])

    def engine(self, name: str, devices: Sequence[str] = ()) -> Engine:
        """Return an engine by name with options, such as `ray?actors=2`, for the given devices.

        Raises
        ------
        UnknownName, InvalidOption
            If the name or an option is unknown.
        UsageError
            If the engine cannot use these devices.
        """
        parsed = names.engine(name)
        what = f"engine '{parsed.name}'"
        target = self.load(self.engines.find(parsed.name), what)
        known = names.parameters_of(target).keys() - {"devices"}  # that is an option of the run
        arguments = names.convert_options(target, parsed.options, what=what, known=known)
        return cast("Engine", target(list(devices), **arguments))

    def metric(self, name: str) -> Metric:
        """Return a metric by name."""
        if name in self.own_metrics:
            return self.own_metrics[name]
        spec = self.metrics.find(name)
        function = self.load(spec, f"metric '{name}'")
        decorated: Metric | None = getattr(function, "metric", None)
        if decorated is None or decorated.name != name:
            raise HarnessError(
                f"metric '{name}': '{spec.target}' must be decorated with @metric(\"{name}\", …)"
            )
        return dataclasses.replace(decorated, plugin=self.metrics.owners.get(name, ""))

    def table_maker(self, name: str) -> Callable[..., Any]:
        """Return a table maker by name."""
        return self.load(self.table_makers.find(name), f"table maker '{name}'")

    def concept(self, name: str) -> Concept:
        """Return a concept by name."""
        from harness.concept import Concept

        return self.concept_files.find(name).validate(Concept)

    def concept_in(self, concept: Concept, language: str) -> Concept | None:
        """Return a concept in another language, `gender-fr` for `gender` in `fr`, if there is one.

        None if the concept is in this language itself.
        """
        name = f"{concept.name}-{language}"
        if concept.language == language or name not in self.concept_files:
            return None
        found = self.concept(name)
        return found if found.language == language else None

    def task(self, name: str) -> Task:
        """Return a task by name, resolved."""
        return self.resolve(self.task_files.find(name))

    def task_file(self, path: Path) -> Task:
        """Return the task that a file describes, resolved; the first, if there are several."""
        from harness.task import yaml_files

        return self.resolve(yaml_files.documents(discovery.load_file(path))[0])

    def resolve(self, document: yaml_files.Document, *, limit: int | None = None) -> Task:
        """Return the task that a parsed file describes, with its data read.

        `limit` is the largest number of items of each set or table.
        """
        from harness.task.task import resolve

        self.check_task(document)
        return resolve(document, self, limit=limit)

    def yardstick(self, name: str, limit: int | None) -> Task:
        """Return a task that is a yardstick of others, resolved once for all of them."""
        key = name, limit
        if key not in self._yardsticks:
            self._yardsticks[key] = self.resolve(self.task_files.find(name), limit=limit)
        return self._yardsticks[key]

    def check_task(self, document: yaml_files.Document) -> None:
        """Raise InvalidFile if a valid task asks for what only a trusted file may have."""
        if not self.trusts(document.path):
            from harness.registry import trust

            try:
                gate = trust.of_task(document, self)
            except InvalidFile:  # an invalid task reads and fetches nothing
                return
            gate.check()

    load = staticmethod(discovery.load_target)

    def _specs(self, hook: str, kind: str) -> Catalogue[Any]:
        catalogue: Catalogue[Any] = Catalogue(kind)
        for plugin, spec in self.plugins.results(hook):
            try:
                names.check(spec.name, kind, plugin.name)
            except HarnessError as error:
                self.name_errors.append(str(error))
                continue
            owner = f"'{plugin.name}' ({plugin.distribution} {plugin.version})"
            catalogue.claim(spec.name, spec, owner, advice="; uninstall one of these packages")
        self.name_errors += map(str, catalogue.clashes.values())
        return catalogue

    def _stage(self, stage: names.Name) -> Mitigator:
        from harness.mitigator import Mitigator, check_needs

        what = f"mitigator '{stage.name}'"
        target = self.load(self.mitigators.find(stage.name, names.NONE), what)
        arguments = names.convert_options(target, stage.options, what=what)
        names.check_required(target, arguments, what=what)
        try:
            mitigator = target(**arguments)
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            raise HarnessError(f"{what} cannot be created ({one_line(error)})") from error
        if not isinstance(mitigator, Mitigator):
            raise HarnessError(f"{what} is not a subclass of harness.Mitigator")
        check_needs(mitigator, what)
        mitigator.check_options()
        return mitigator


# What a model name means. The order of the attempts:
#
# 1. a registered model, by its name or by an alias on its card;
# 2. `provider:reference`;
# 3. a folder, a file or an id of a hub without a provider, if a provider recognises it.


_FILES = (".vec", ".bin", ".txt", ".gz", ".zip", ".npy", ".npz", ".kv")
"""Endings of files of vectors: no id of a hub without an owner ends like these."""
_OWN = {"reference", "card", "device", names.LABEL}
"""Parameters of an embedder that are not its options."""


@dataclass(frozen=True)
class Model:
    """What a model name means.

    Parameters
    ----------
    spec
        The registered model, or the provider.
    reference
        The text after `provider:`; None for a registered model.
    options
        Options as the user typed them.
    chosen
        The label that the user chose with the option `name`; None for the derived one.
    precision
        The precision that the user chose with the option `quantize`; None for the model's own.
    """

    spec: EmbedderSpec
    reference: str | None
    options: Mapping[str, str]
    chosen: str | None
    precision: str | None


class Models:
    """The models and providers of a registry.

    Parameters
    ----------
    specs
        Models and providers by name.
    load
        Imports the object of a spec; the second argument is its name in messages.
    """

    def __init__(
        self, specs: Catalogue[EmbedderSpec], load: Callable[[Spec, str], Callable[..., Any]]
    ) -> None:
        self.specs, self._load = specs, load

    def find(self, name: str) -> Model:
        """Return what a name means.

        Raises
        ------
        UnknownName, InvalidOption, UsageError
            If it is not the name of a model.
        NameClash
            If two plugins claim it.
        """
        parsed = names.model(name)
        typed = dict(parsed.options)
        chosen, precision = typed.pop(names.LABEL, None), typed.pop(names.QUANTIZE, None)
        if parsed.name in self.specs.clashes:
            raise self.specs.clashes[parsed.name]
        spec, reference = self.specs.get(parsed.name), parsed.reference
        if reference is None and spec is None:
            reference = parsed.name
            spec = self._aliases.get(reference) or self._recognised(reference)
        elif spec is None:
            providers = [n for n, s in self.specs.items() if s.provider]
            raise UnknownName("model provider", parsed.name, providers)
        elif reference is None and spec.provider:
            raise InvalidOption(f"'{name}' is a provider: name a model as '{spec.name}:REFERENCE'")
        elif reference is not None and not spec.provider:
            raise InvalidOption(f"'{spec.name}' is a model, not a provider: write just its name")
        elif reference is not None and self._recognises(spec, reference):
            spec = self._aliases.get(reference, spec)
        model = Model(spec, reference if spec.provider else None, typed, chosen, precision)
        self._check(model)
        return model

    def embedder(self, name: str, *, device: str | None = None) -> Embedder:
        """Return the embedder of a name; see `Registry.embedder`."""
        model = self.find(name)
        spec, target = model.spec, self._target(model)
        parameters, chosen = names.parameters_of(target), self._options(model, target)
        label = self._label(model, target, chosen)
        arguments = dict(spec.options) | chosen
        if "device" in parameters and device is not None:
            arguments["device"] = device
        if "card" in parameters and spec.card is not None:
            arguments.setdefault("card", spec.card)
        if names.LABEL in parameters:
            arguments[names.LABEL] = label
        first = list(parameters)[: model.reference is not None]  # it gets the reference
        names.check_required(target, [*arguments, *first], what=f"model '{spec.name}'")
        try:
            embedder = target(*([] if model.reference is None else [model.reference]), **arguments)
            is_valid = embedder.info is not None and is_embedder(embedder)
        except HarnessError:
            raise
        except PLUGIN_ERRORS as error:
            raise ModelError(f"model '{name}' cannot be created ({one_line(error)})") from error
        if not is_valid:
            raise ModelError(f"model '{name}' is no embedder: its info is no harness.ModelInfo")
        if model.precision is not None:
            from harness.encode.quantized import Quantized

            embedder = Quantized(embedder, model.precision)
        return renamed(cast("Embedder", embedder), label)

    def options(self, name: str) -> set[str]:
        """Return the options of a model of its own, without creating the model."""
        return names.parameters_of(self._target(self.find(name))).keys() - _OWN

    def alias(self, name: str) -> EmbedderSpec | None:
        """Return the registered model that has an alias."""
        return self._aliases.get(name)

    def label(self, name: str) -> str:
        """Return the label of a model name, without creating the model."""
        model = self.find(name)
        target = self._target(model)
        return self._label(model, target, self._options(model, target))

    @functools.cached_property
    def _aliases(self) -> dict[str, EmbedderSpec]:
        cards = [spec for spec in self.specs.values() if spec.card and not spec.provider]
        pairs = [(alias, spec) for spec in cards if spec.card for alias in spec.card.aliases]
        return {alias: spec for alias, spec in reversed(pairs) if not names.path_exists(alias)}

    def _target(self, model: Model) -> Callable[..., Any]:
        return self._load(model.spec, f"model '{model.spec.name}'")

    def _options(self, model: Model, target: Callable[..., Any]) -> dict[str, Any]:
        card = model.spec.card
        general = (
            {names.LABEL}
            if card is not None and card.kind == "word"
            else {names.LABEL, names.QUANTIZE}
        )
        known = (names.parameters_of(target).keys() - _OWN) | general
        return names.convert_options(
            target, model.options, known=known, what=f"model '{model.spec.name}'"
        )

    def _recognised(self, reference: str) -> EmbedderSpec:
        """Return the provider that recognises a text without a provider."""
        if reference.lower().endswith(_FILES) and not names.path_exists(reference):
            raise unreadable(reference)
        reasons = []
        for spec in self.specs.values():
            if spec.recognises is not None:
                look = Spec(name=spec.name, target=spec.recognises)
                try:
                    if self._load(look, f"provider '{spec.name}'")(reference):
                        return spec
                except HarnessError as error:
                    reasons.append(str(error))
        why = f" ({'; '.join(reasons)})" if reasons else ""
        if names.is_local(reference) or "/" in reference or names.path_exists(reference):
            if not names.path_exists(reference):
                raise unreadable(reference)
            providers = ", ".join(name for name, spec in self.specs.items() if spec.provider)
            raise UsageError(
                f"'{reference}' is not recognised as a model{why}; write 'PROVIDER:{reference}' "
                f"with its provider, one of {providers}"
            )
        raise UnknownName("model", reference, self.specs, hint=why)

    def _recognises(self, spec: EmbedderSpec, reference: str) -> bool:
        """Return whether a reference of a provider may be typed without the provider.

        A plain name is not looked up, since that would send a request to a hub.
        """
        if spec.recognises is None:
            return False
        if "/" not in reference and not names.path_exists(reference):
            return True
        look = Spec(name=spec.name, target=spec.recognises)
        try:
            return bool(self._load(look, f"provider '{spec.name}'")(reference))
        except HarnessError:
            return True

    def _check(self, model: Model) -> None:
        """Raise InvalidOption if the label that the user chose is invalid."""
        label = model.chosen
        if label is None:
            return
        problem = ""
        if not label.strip() or not label.isprintable() or len(label) > 100:
            problem = "a name has 1 to 100 printable characters"
        elif names.is_local(label):
            problem = "a name of its own is expected, not a path"
        elif label in self.specs and self.specs[label] is not model.spec:
            problem = f"'{label}' is a registered name; choose another one"
        if problem:
            raise InvalidOption(f"option name={label}: {problem}")

    def _label(self, model: Model, target: Callable[..., Any], chosen: Mapping[str, Any]) -> str:
        if model.chosen is not None:
            return model.chosen
        spec = model.spec
        shown = {
            option: value
            for option, value in names.differing(target, chosen, spec.options).items()
            if option not in spec.neutral
        }
        if model.precision is not None:
            shown[names.QUANTIZE] = model.precision
        name = spec.name if model.reference is None else self._referred(spec, model.reference)
        return names.with_options(name, shown)

    def _referred(self, spec: EmbedderSpec, reference: str) -> str:
        """Return the label of a provider's model, without options."""
        is_recognised = self._recognises(spec, reference)
        inner = self.specs.get(reference.partition(":")[0])
        if inner is not None and inner.provider and ":" in reference:
            reference = self.label(reference)
        else:
            reference = names.reference_label(reference)
        can_be_typed = is_recognised and reference not in self.specs
        return reference if can_be_typed else f"{spec.name}:{reference}"


# Concepts in a folder next to a file: a task or study that is named by its path may use them.


def with_concepts_beside(registry: Registry, path: Path) -> Registry:
    """Return a registry that looks for concepts near a file first, then in `registry`.

    Parameters
    ----------
    registry
        A registry, which is not changed.
    path
        A file, or a folder of files. The concepts are in a folder `concepts` in its folder, or else
        in the folder above, since a family of tasks has its own folder.
    """
    folder = (path if path.is_dir() else path.parent).resolve()
    for place in (folder, folder.parent):
        if (place / SUBFOLDERS["concept"]).is_dir():
            break
    else:
        return registry
    nearby = Registry(discovery.Plugins(()), include=[place])
    concepts = copy.copy(registry.concept_files)
    concepts.owners = concepts.owners | nearby.concept_files.owners
    clashes = {name: e for name, e in concepts.clashes.items() if name not in nearby.concept_files}
    concepts.clashes = clashes | nearby.concept_files.clashes
    concepts.update(nearby.concept_files)
    for notice in nearby.notices:
        registry.note(notice)
    extended = copy.copy(registry)
    extended.concept_files = concepts
    return extended


def named_tasks(registry: Registry, name: str) -> tuple[list[yaml_files.Document], Registry]:
    """Return the parsed tasks that a name or a file means, and the registry to read them with.

    A name means one task, a file one or several. With a file, concepts beside it are found.

    Raises
    ------
    UnknownName
        If no task has the name.
    InvalidFile
        If the file cannot be read.
    """
    from harness.task import yaml_files

    if not name.endswith((".yaml", ".yml")):
        return [registry.task_files.find(name)], registry
    documents = yaml_files.documents(discovery.load_file(Path(name)))
    return documents, with_concepts_beside(registry, documents[0].path)
