"""The rows of a study: mitigators at each point of their grids, unfitted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness import limits, names
from harness.chain import Chain
from harness.digest import digest, json_like
from harness.errors import InvalidOption, UsageError, suggestion
from harness.study.study_document import StudyDocument
from harness.task import yaml_files


@dataclass(frozen=True)
class Candidate:
    """A row: a mitigator and the hyper-parameters to choose from.

    Parameters
    ----------
    label, name
        Label of the row, and that of its mitigator, with the options that the grid does not set.
    settings
        Each point of the grid; a single empty one where there is nothing to choose.
    chains
        The unfitted mitigator at each point.
    normalize
        Whether all vectors are set to length 1 first; None: as the study says.
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
            [type(stage).__name__, json_like(stage.settings), stage.depends_on]
            for chain in self.chains
            for stage in chain.mitigators
        ]
        lengths = [] if self.normalize is None else [self.normalize]
        return digest([names.plain(self.name), json_like(list(self.settings)), stages, *lengths])


def candidate(source: StudyDocument, label: str) -> Candidate:
    """Return the row of a label, with each point of its grid checked.

    Raises
    ------
    InvalidFile
        If the mitigator or a hyper-parameter is unknown or invalid; it points into the file.
    """
    from sklearn.model_selection import ParameterGrid

    document, registry, concept = source.document, source.registry, source.concept
    use = source.file.mitigators[label]
    key: yaml_files.KeyPath = ("mitigators", label)
    name = use.mitigator or label
    with document.pointing_at((*key, "mitigator") if use.mitigator else key):
        chain = registry.mitigator(name)
        if not concept.has(chain.all_needs):
            needs = " and ".join(chain.all_needs)
            raise UsageError(
                f"'{name}' needs a concept with {needs}, and '{concept.name}' has none"
            )
    shown = names.mitigator_label(name, chain.mitigators)
    stages = [stage.name for stage in names.chain_stages(name)]
    settings, chains = [], []
    for setting in ParameterGrid(_grids(source, label)):
        with document.pointing_at((*key, "grid")):
            chain = registry.mitigator(name)
            _set(chain, stages, setting)
        settings.append(dict(setting))
        chains.append(chain)
    return Candidate(label, shown, tuple(settings), tuple(chains), use.normalize)


def _grids(source: StudyDocument, label: str) -> list[dict[str, list[Any]]]:
    use = source.file.mitigators[label]
    key: yaml_files.KeyPath = ("mitigators", label, "grid")
    grids = [use.grid] if isinstance(use.grid, dict) else list(use.grid)
    for i, grid in enumerate(grids):
        path = key if isinstance(use.grid, dict) else (*key, i)
        for name, values in grid.items():
            if not values:
                raise source.document.error("no value to choose from", (*path, name))
    n_points = sum(math.prod(map(len, grid.values())) for grid in grids)
    if n_points > limits.STUDY_SETTINGS:
        raise source.document.error(limits.too_many(n_points, limits.STUDY_SETTINGS, "points"), key)
    return [{name: list(values) for name, values in grid.items()} for grid in grids] or [{}]


def _set(chain: Chain, stages: list[str], setting: Mapping[str, Any]) -> None:
    """Set hyper-parameters of an unfitted chain, each checked against its stage's signature."""
    for name, value in setting.items():
        stage, dot, parameter = name.rpartition(".")
        if not dot and len(stages) != 1:
            example = f"{stages[0] if stages else 'STAGE'}.{parameter}"
            raise InvalidOption(f"'{parameter}' needs the stage of the chain, such as '{example}'")
        if dot and stage not in stages:
            raise InvalidOption(f"unknown stage '{stage}'{suggestion(stage, stages)}")
        i = stages.index(stage) if dot else 0
        mitigator = chain.mitigators[i]
        values = names.convert_options(
            type(mitigator), {parameter: value}, what=f"mitigator '{stages[i]}'"
        )
        mitigator.set_params(**values)
