"""A recipe that kills its own process. Here, because a new process imports it by its name."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.progress import Advance, Silent


@dataclass(frozen=True)
class Moment:
    """When a run is killed: at a unit of progress in a step."""

    step: str
    unit: int


class Killing(Silent):
    """Kills its own process, as nothing can be cleaned up after."""

    def __init__(self, moment: Moment | None) -> None:
        self.moment, self.step, self.done = moment, "", 0

    def say(self, line: str) -> None:
        if line.startswith("step "):
            self.step, self.done = line.partition(": ")[2].partition(" (")[0], 0

    @contextlib.contextmanager
    def stage(self, label: str, total: int, unit: str) -> Iterator[Advance]:
        yield self.advance

    def advance(self, n: int) -> None:
        self.done += n
        if self.moment and self.step == self.moment.step and self.done >= self.moment.unit:
            os.kill(os.getpid(), signal.SIGKILL)


def work(folder: Path, out: str, moment: Moment | None) -> None:
    from harness.plugins.train import running
    from harness.plugins.train.recipes import recipe, recipe_tables
    from harness.plugins.train.recipes.results import run_recipe
    from harness.registry import discovery
    from harness.registry.registry import Registry

    running.CHECKPOINT_STEPS = 5
    registry = Registry(include=[folder / "tasks"])
    resolved = recipe.resolve(
        discovery.find_file(registry.recipe_files, folder / "tiny.yaml"), registry
    )
    progress = Killing(moment)
    result = run_recipe(resolved, folder / out, registry=registry, progress=progress)
    recipe_tables.write(result.summary, folder / out)
