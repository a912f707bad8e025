"""What the registry knows of models, mitigators and tasks: facts that no record can change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.embedder import Card
    from harness.registry.registry import Registry


@dataclass(frozen=True)
class Registered:
    """Facts by name; empty for a name that nobody registered.

    Parameters
    ----------
    cards
        Published facts of models.
    mitigators
        What mitigators do, in one line.
    tasks
        `description`, `source`, `licence`, `concept` and `validity` of tasks, by name and version.
    """

    cards: Mapping[str, Card] = field(default_factory=dict)
    mitigators: Mapping[str, str] = field(default_factory=dict)
    tasks: Mapping[tuple[str, int], Mapping[str, Any]] = field(default_factory=dict)

    def card(self, model: str) -> Card | None:
        """Return the card of a model; the options after its name change no fact of it."""
        return self.cards.get(model.partition("?")[0])

    def mitigator(self, name: str) -> str:
        """Return what a mitigator does, stage after stage; empty if no stage says it."""
        lines = [self.mitigators.get(stage, "") for stage in name.split("+")]
        return "; then: ".join(line for line in lines if line)


NOTHING = Registered()
"""Of a site whose facts all come from records."""


def registered(registry: Registry) -> Registered:
    """Return what a registry knows. Loads no model, mitigator or data."""
    from harness.run.tasks import list_tasks
    from harness.task import validity

    tasks = {}
    for entry in list_tasks(registry):
        file = entry.file
        facts = file.model_dump(include={"description", "source", "licence", "concept"})
        by_model = validity.facts(entry.document.path, file).get("validity", {})
        for model, figures in by_model.items():  # there is one model a task
            facts["validity"] = {"model": model, **figures}
        tasks[file.name, file.version] = facts
    models = registry.embedders
    return Registered(
        cards={name: spec.card for name, spec in models.items() if spec.card and not spec.provider},
        mitigators={name: spec.summary for name, spec in registry.mitigators.items()},
        tasks=tasks,
    )
