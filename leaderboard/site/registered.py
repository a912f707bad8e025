"""Facts of models, mitigators and tasks in the registry, which no record can change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import names

if TYPE_CHECKING:
    from harness.commands.cite import Entry
    from harness.embedder import Card
    from harness.registry.registry import Registry

    from ..claims.facts import TaskFacts


@dataclass(frozen=True)
class Registered:
    """Facts by name; empty for names that are not registered.

    Parameters
    ----------
    cards
        Published facts of models.
    mitigators
        Descriptions of mitigators in one line.
    tasks
        Facts of tasks.
    validity
        Measured validity of tasks.
    papers
        Entries of BibTeX of the papers that a task names.
    """

    cards: Mapping[str, Card] = field(default_factory=dict)
    mitigators: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[str, TaskFacts] = field(default_factory=dict)
    validity: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    papers: Mapping[str, Sequence[Entry]] = field(default_factory=dict)

    def card(self, model: str) -> Card | None:
        """Return the card of a model; options after its name are ignored."""
        return self.cards.get(names.without_options(model))

    def mitigator(self, name: str) -> str:
        """Return the descriptions of a mitigator's stages; empty if no stage has one."""
        lines = [self.mitigators.get(stage, "") for stage in name.split("+")]
        return "; then: ".join(line for line in lines if line)


NOTHING = Registered()
"""For a site whose facts all come from records."""


def registered(
    registry: Registry, tasks: Mapping[str, TaskFacts], include: Sequence[Path] = ()
) -> Registered:
    """Return a registry's facts, with those of tasks. Loads no model, mitigator or data.

    `include` are further folders of tasks, whose bibliographies are read.
    """
    from harness.commands import cite
    from harness.task import validity
    from harness.task.schema import TaskFile

    by_task = {}
    for name in tasks.keys() & registry.task_files.keys():
        document = registry.task_files[name]
        figures = validity.facts(document.path, document.validate(TaskFile)).get("validity", {})
        for model, line in figures.items():  # validity is measured on one model a task
            by_task[name] = {"model": model, **line}
    models = registry.embedders
    return Registered(
        cards={name: spec.card for name, spec in models.items() if spec.card and not spec.provider},
        mitigators={name: spec.summary for name, spec in registry.mitigators.items()},
        tasks=tasks,
        validity=by_task,
        papers=cite.papers({name: task.source for name, task in tasks.items()}, registry, include),
    )
