"""The rows of a study: mitigators at each point of their grids, unfitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness import names, options
from harness.concept import Concept
from harness.digest import digest, json_like
from harness.errors import InvalidOption, UsageError, suggestion
from harness.mitigator import Chain
from harness.registry.registry import Registry
from harness.study.study_file import MitigatorUse
from harness.task import yaml_files


@dataclass(frozen=True)
class Candidate:
    """A row: a mitigator, and what it may be set to.

    Parameters
    ----------
    label, name
        Label of the row, and the mitigator's name as users type it.
    settings
        Each point of the grid; one that is empty where there is nothing to choose.
    chains
        The unfitted mitigator at each point.
    normalize
        Whether all vectors come to length 1 first; None: as the study says.
    """

    label: str
    name: str
    settings: tuple[Mapping[str, Any], ...]
    chains: tuple[Chain, ...]
    normalize: bool | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Names the mitigator and its grid."""
        stages = [
            [type(stage).__name__, json_like(stage.get_params(deep=False)), stage.depends_on]
            for chain in self.chains
            for stage in chain.mitigators
        ]
        lengths = [] if self.normalize is None else [self.normalize]
        return digest([names.plain(self.name), json_like(list(self.settings)), stages, *lengths])


def candidate(
    document: yaml_files.Document,
    registry: Registry,
    concept: Concept,
    label: str,
    use: MitigatorUse,
) -> Candidate:
    """Return a row, each point of its grid checked; errors point into the file."""
    from sklearn.model_selection import ParameterGrid

    key: yaml_files.KeyPath = ("mitigators", label)
    name = use.mitigator or label
    with document.pointing_at((*key, "mitigator") if use.mitigator else key):
        chain = registry.mitigator(name)
        if not concept.has(chain.all_needs):
            needs = " and ".join(chain.all_needs)
            raise UsageError(f"'{name}' needs {needs} of a concept, which '{concept.name}' lacks")
    settings, chains = [], []
    for given in ParameterGrid(_grid(document, key, use)):
        with document.pointing_at((*key, "grid")):
            made = registry.mitigator(name)
            stages = [stage.name for stage in names.mitigators(name)]
            _set(made, stages, given)
        settings.append(dict(given))
        chains.append(made)
    return Candidate(label, name, tuple(settings), tuple(chains), use.normalize)


def _grid(
    document: yaml_files.Document, key: yaml_files.KeyPath, use: MitigatorUse
) -> list[dict[str, list[Any]]]:
    grids = [use.grid] if isinstance(use.grid, dict) else list(use.grid)
    for i, grid in enumerate(grids):
        at = (*key, "grid") if isinstance(use.grid, dict) else (*key, "grid", i)
        for name, values in grid.items():
            if not values:
                raise document.error("no value to choose from", (*at, name))
    return [{name: list(values) for name, values in grid.items()} for grid in grids] or [{}]


def _set(chain: Chain, stages: list[str], given: Mapping[str, Any]) -> None:
    """Set hyper-parameters of an unfitted chain, each checked against its stage's signature."""
    for name, value in given.items():
        stage, dot, parameter = name.rpartition(".")
        if not dot and len(stages) != 1:
            example = f"{stages[0] if stages else 'STAGE'}.{parameter}"
            raise InvalidOption(f"of a chain, say whose '{parameter}' is meant: '{example}'")
        if dot and stage not in stages:
            raise InvalidOption(f"there is no stage '{stage}'{suggestion(stage, stages)}")
        meant = chain.mitigators[stages.index(stage) if dot else 0]
        what = f"mitigator '{stages[stages.index(stage) if dot else 0]}'"
        meant.set_params(**options.convert(type(meant), {parameter: value}, what=what))
