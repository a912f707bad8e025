"""Looks up models, mitigators, metrics, tasks and concepts by name.

Names map to specs, and specs to import paths, which are imported only when they are used. If two
plugins claim one name, only who uses that name gets an error, which names both.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness import names, options, user_files
from harness.concept import Concept
from harness.errors import PLUGIN_ERRORS, HarnessError, InvalidFile, UsageError, one_line
from harness.registry import discovery, files
from harness.registry.files import SUBFOLDERS, Catalogue, TaskFolders
from harness.registry.models import Models
from harness.specs import (
    AdapterSpec,
    EmbedderSpec,
    EngineSpec,
    MetricSpec,
    MitigatorSpec,
    TableSpec,
)
from harness.task import yaml_files
from harness.task.data_files import DataFiles

if TYPE_CHECKING:
    from harness.embedder import Embedder
    from harness.encode.engine import Engine
    from harness.metrics import Metric
    from harness.mitigator import Mitigator
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
        Files of somebody else that may run code, and name keys, addresses and paths anywhere. A
        folder stands for all files in it.

    Attributes
    ----------
    data
        Finds and fetches the data files of tasks and studies.
    name_errors
        A line for each invalid name, and for each name that two plugins claim, among the kinds of
        names that were read so far.
    own_metrics
        Metrics of the user by name, which are looked up first.
    """

    def __init__(
        self,
        plugins: discovery.Plugins | None = None,
        include: Iterable[Path] = (),
        trust: Iterable[Path] = (),
    ) -> None:
        self.plugins = plugins or discovery.installed()
        self._files = TaskFolders(self.plugins, tuple(include))
        self.data = DataFiles()
        self.name_errors: list[str] = []
        self.own_metrics: dict[str, Metric] = {}
        self._trusted = tuple(trust)
        for path in self._trusted:
            user_files.check(path)

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

    @functools.cached_property
    def recipe_files(self) -> Catalogue[yaml_files.Document]:
        """Parsed recipe files by the name they state; the plugin of training runs them."""
        return self._files.read("recipe")

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
        """Return whether a file is of an installed plugin, or one that the user trusts."""
        is_named = any(user_files.is_inside(path, place) for place in self._trusted)
        return is_named or self.is_installed(path)

    def is_installed(self, path: Path) -> bool:
        """Return whether a file is in a folder of an installed plugin."""
        folders = self.plugins.results("harness_task_folders")
        return any(user_files.is_inside(path, Path(folder)) for _, folder in folders)

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

    def mitigator(self, name: str) -> Mitigator:
        """Return the unfitted chain of mitigators that a name lists; `none` is an empty chain.

        Raises
        ------
        UnknownName, InvalidOption
            If a name or an option is unknown.
        """
        from harness.chain import Chain

        return Chain([self._stage(stage) for stage in names.chain_stages(name)])

    def engine(
        self, name: str, devices: Sequence[str] = (), *, timeout: float | None = None
    ) -> Engine:
        """Return an engine by name with options, such as `ray?actors=2`, for the given devices.

        `timeout` is the largest number of seconds for a batch; None is no limit.

        Raises
        ------
        UnknownName, InvalidOption
            If the name or an option is unknown.
        UsageError
            If the engine cannot end a batch, or cannot use these devices.
        """
        parsed = names.engine(name)
        what = f"engine '{parsed.name}'"
        target = self.load(self.engines.find(parsed.name), what)
        of_run = {"devices", "timeout"}  # these are options of the run
        known = options.parameters(target).keys() - of_run
        arguments = options.convert(target, parsed.options, what=what, known=known)
        if timeout is not None:
            if "timeout" not in options.parameters(target):
                raise UsageError(
                    f"{what} cannot end a batch that takes too long; use engine 'devices' or 'ray'"
                )
            arguments["timeout"] = timeout
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
        """Return the task that a file describes, resolved; of several the first."""
        return self.resolve(yaml_files.documents(files.load(path))[0])

    def resolve(self, document: yaml_files.Document, *, limit: int | None = None) -> Task:
        """Return the task that a parsed file describes, with its data read.

        `limit` is the largest number of items of each set or table.
        """
        from harness.task.task import resolve

        self.check_task(document)
        return resolve(document, self, limit=limit)

    def check_task(self, document: yaml_files.Document) -> None:
        """Raise InvalidFile if a valid task asks for what a file of somebody else may not."""
        from harness.registry import trust

        if not self.is_installed(document.path):
            try:
                gate = trust.of_task(document, self)
            except InvalidFile:  # nothing of it is read or fetched
                return
            gate.check()

    load = staticmethod(files.load_target)

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

    def _stage(self, stage: names.NameWithOptions) -> Mitigator:
        from harness.mitigator import Mitigator, check_needs

        what = f"mitigator '{stage.name}'"
        target = self.load(self.mitigators.find(stage.name, names.NONE), what)
        arguments = options.convert(target, stage.options, what=what)
        options.check_required(target, arguments, what=what)
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


# Concepts beside a file: a task or study that is named by its path may name them.


def with_concepts_beside(registry: Registry, path: Path) -> Registry:
    """Return a registry that looks up concepts beside a file first, then as `registry` does.

    Parameters
    ----------
    registry
        A registry, which stays as it is.
    path
        A file, or a folder of files. The nearest folder `concepts` counts: in its own folder, else
        in the one above, since a family of tasks has a folder of its own.
    """
    folder = (path if path.is_dir() else path.parent).resolve()
    for place in (folder, folder.parent):
        if (place / SUBFOLDERS["concept"]).is_dir():
            break
    else:
        return registry
    beside = Registry(discovery.Plugins(()), include=[place])
    concepts = copy.copy(registry.concept_files)
    concepts.owners = concepts.owners | beside.concept_files.owners
    clashes = {name: e for name, e in concepts.clashes.items() if name not in beside.concept_files}
    concepts.clashes = clashes | beside.concept_files.clashes
    concepts.update(beside.concept_files)
    for notice in beside.notices:
        registry.note(notice)
    found = copy.copy(registry)
    found.concept_files = concepts
    return found
