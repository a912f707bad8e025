"""Turns names into things: models, mitigators, metrics, tasks and concepts.

Names map to specs, and specs to import paths that are followed only when the thing is used. Two
plugins that claim one name are an error that names both.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness import names, options
from harness.concept import Concept
from harness.embedder import ModelInfo
from harness.errors import (
    HarnessError,
    InvalidOption,
    ModelError,
    NameClash,
    Unavailable,
    UnknownName,
    one_line,
    suggestion,
)
from harness.registry import discovery
from harness.registry.files import TaskFolders
from harness.specs import EmbedderSpec, EngineSpec, MetricSpec, MitigatorSpec, Spec, TableSpec
from harness.task import yaml_files

if TYPE_CHECKING:
    from harness.embedder import Embedder
    from harness.encode.engine import Engine
    from harness.metrics import Metric
    from harness.mitigator import Mitigator
    from harness.task.task import Task


class Registry:
    """All that is known by name.

    Parameters
    ----------
    plugins
        Where specs come from; by default the installed plugins.
    include
        Further folders of tasks, or task files.
    """

    def __init__(
        self,
        plugins: discovery.Plugins | None = None,
        include: Iterable[Path] = (),
    ) -> None:
        self.plugins = plugins or discovery.installed()
        self._files = TaskFolders(self.plugins, tuple(include))
        self._owners: dict[tuple[str, str], str] = {}

    @functools.cached_property
    def embedders(self) -> dict[str, EmbedderSpec]:
        """Models and providers by name."""
        return self._specs("harness_embedders", "model")

    @functools.cached_property
    def mitigators(self) -> dict[str, MitigatorSpec]:
        """Mitigators by name."""
        return self._specs("harness_mitigators", "mitigator")

    @functools.cached_property
    def metrics(self) -> dict[str, MetricSpec]:
        """Metrics by name."""
        return self._specs("harness_metrics", "metric")

    @functools.cached_property
    def table_makers(self) -> dict[str, TableSpec]:
        """What makes tables of others, by name."""
        return self._specs("harness_tables", "table")

    @functools.cached_property
    def engines(self) -> dict[str, EngineSpec]:
        """Engines by name."""
        return self._specs("harness_engines", "engine")

    @functools.cached_property
    def task_files(self) -> dict[str, yaml_files.Document]:
        """Parsed task files by the name they state."""
        return self._files.read("task")

    @functools.cached_property
    def concept_files(self) -> dict[str, yaml_files.Document]:
        """Parsed concept files by the name they state."""
        return self._files.read("concept")

    @functools.cached_property
    def study_files(self) -> dict[str, yaml_files.Document]:
        """Parsed study files by the name they state."""
        return self._files.read("study")

    @property
    def notices(self) -> list[str]:
        """What the user should know of task and concept files, such as those left out."""
        return self._files.notices

    def note(self, line: str) -> None:
        """Note what the user should know of a file."""
        self._files.note(line)

    def leave_out(self, error: HarnessError) -> None:
        """Note that a task or concept file was left out."""
        self._files.leave_out(error)

    def embedder(self, name: str, *, device: str | None = None) -> Embedder:
        """Return the embedder that a model name stands for.

        Raises
        ------
        UnknownName, InvalidOption
            If the name or an option is not known.
        Unavailable, ModelError
            If the model cannot be had, or is broken.
        """
        spec, target, chosen = self._asked(name)
        taken = options.parameters(target)
        if "device" in taken and device is not None:
            chosen["device"] = device
        if "card" in taken and spec.card is not None:
            chosen.setdefault("card", spec.card)
        if "name" in taken:
            chosen["name"] = name
        reference = [names.model(name).reference] if spec.provider else []
        try:
            made = target(*reference, **chosen)
            is_embedder = isinstance(made.info, ModelInfo) and callable(made.encode)
        except HarnessError:
            raise
        except Exception as error:  # a model may raise anything
            raise ModelError(f"model '{name}' cannot be made ({one_line(error)})") from error
        if not is_embedder:
            raise ModelError(f"model '{name}' is no embedder: its info is no harness.ModelInfo")
        return cast("Embedder", made)

    def mitigator(self, name: str) -> Mitigator:
        """Return the unfitted mitigator, a chain where the name has `+`, or identity for `none`.

        Raises
        ------
        UnknownName, InvalidOption
            If a name or an option is not known.
        """
        from harness.chain import Chain

        return Chain([self._stage(stage) for stage in names.mitigators(name)])

    def engine(self, name: str, devices: Sequence[str]) -> Engine:
        """Return an engine by name, for some devices."""
        if name not in self.engines:
            raise UnknownName("engine", name, self.engines)
        target = self.load(self.engines[name], f"engine '{name}'")
        return cast("Engine", target(list(devices)))

    def metric(self, name: str) -> Metric:
        """Return a metric by name."""
        if name not in self.metrics:
            raise UnknownName("metric", name, self.metrics)
        spec = self.metrics[name]
        function = self.load(spec, f"metric '{name}'")
        found = getattr(function, "metric", None)
        if found is None or found.name != name:
            raise HarnessError(
                f"'{spec.target}' is not decorated with @metric(\"{name}\", …), "
                f"which its registration as metric '{name}' needs"
            )
        return cast("Metric", found)

    def table_maker(self, name: str) -> Callable[..., Any]:
        """Return what makes a table of another, by name."""
        if name not in self.table_makers:
            raise UnknownName("table maker", name, self.table_makers)
        return self.load(self.table_makers[name], f"table '{name}'")

    def concept(self, name: str) -> Concept:
        """Return a concept by name."""
        if name not in self.concept_files:
            raise UnknownName("concept", name, self.concept_files)
        return self.concept_files[name].validate(Concept)

    def task(self, name: str) -> Task:
        """Return a task by name, resolved."""
        if name not in self.task_files:
            raise UnknownName("task", name, self.task_files)
        return self.resolve(self.task_files[name])

    def task_file(self, path: Path) -> Task:
        """Return the task that a file describes, resolved."""
        return self.resolve(yaml_files.load(path))

    def resolve(self, document: yaml_files.Document) -> Task:
        """Return the task that a parsed file describes, with its data read."""
        from harness.task.task import resolve

        return resolve(document, concept=self.concept, metric=self.metric, table=self.table_maker)

    def load(self, spec: Spec, what: str) -> Callable[..., Any]:
        """Follow a spec's import path.

        Raises
        ------
        Unavailable
            If a package that it imports is not installed.
        HarnessError
            If there is no such object.
        """
        module, _, attribute = spec.target.partition(":")
        try:
            return cast("Callable[..., Any]", getattr(importlib.import_module(module), attribute))
        except Exception as error:  # a module may raise anything
            if isinstance(error, ModuleNotFoundError) and not (
                "." in module and f"{module}.".startswith(f"{error.name}.")
            ):
                raise Unavailable(
                    f"{what} needs the package '{error.name}': pip install {error.name}"
                ) from error
            told = one_line(error)
            raise HarnessError(f"{what}: '{spec.target}' cannot be imported ({told})") from error

    def owner(self, kind: str, name: str) -> str:
        """Return the distribution that adds a thing, for listings."""
        return self._owners.get((kind, name), "")

    def _specs(self, hook: str, what: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for plugin, spec in self.plugins.results(hook):
            names.check(spec.name, what, plugin.name)
            owner = f"'{plugin.name}' ({plugin.distribution} {plugin.version})"
            if spec.name in found:
                raise NameClash(
                    f"two plugins claim the {what} '{spec.name}': "
                    f"{self._owners[what, spec.name]} and {owner}; uninstall one of them"
                )
            found[spec.name] = spec
            self._owners[what, spec.name] = owner
        return found

    def _stage(self, stage: names.Named) -> Mitigator:
        from harness.mitigator import Mitigator

        if stage.name not in self.mitigators:
            raise UnknownName("mitigator", stage.name, {*self.mitigators, "none"})
        what = f"mitigator '{stage.name}'"
        target = self.load(self.mitigators[stage.name], what)
        chosen = options.convert(target, stage.options, what=what)
        try:
            made = target(**chosen)
        except HarnessError:
            raise
        except Exception as error:  # a plugin may raise anything
            raise HarnessError(f"{what} cannot be made ({one_line(error)})") from error
        if not isinstance(made, Mitigator):
            raise HarnessError(f"{what} is not a subclass of harness.Mitigator")
        _check_needs(made, what)
        return made

    def _asked(self, name: str) -> tuple[EmbedderSpec, Callable[..., Any], dict[str, Any]]:
        asked = names.model(name)
        spec = self.embedders.get(asked.provider)
        if spec is None or spec.provider != (asked.reference is not None):
            raise self._unknown_model(name, asked, spec)
        what = f"model '{asked.provider}'"
        target = self.load(spec, what)
        known = set(options.parameters(target)) - {"reference", "card", "name", "device"}
        given = options.convert(target, asked.options, known=known, what=what)
        return spec, target, dict(spec.options) | given

    def _unknown_model(
        self, name: str, asked: names.ModelName, spec: EmbedderSpec | None
    ) -> HarnessError:
        if spec is not None and spec.provider:
            return InvalidOption(f"'{name}' is a provider: name a model as '{spec.name}:REFERENCE'")
        if spec is not None:
            return InvalidOption(f"'{spec.name}' is a model, not a provider: write just its name")
        if asked.reference is not None:
            providers = [n for n, s in self.embedders.items() if s.provider]
            return UnknownName("model provider", asked.provider, providers)
        hint = ""
        if Path(name).is_file():
            hint = f"; for a file of word vectors write 'vectors:{name}'"
        elif "/" in name or Path(name).exists():
            hint = f"; for a hub id or a folder write 'sentence-transformers:{name}'"
        return UnknownName("model", asked.provider, self.embedders, hint=hint)


def _check_needs(mitigator: Mitigator, what: str) -> None:
    for need in (name for either in mitigator.needs for name in either.split(" or ")):
        if need not in Concept.model_fields:
            near = suggestion(need, Concept.model_fields)
            raise HarnessError(
                f"{what} says that it needs '{need}', which no concept has{near}; "
                "`needs` is a tuple of names of a concept's fields"
            )
