"""The Embedding Bias Harness: social bias and name bias in embeddings, and their mitigations.

>>> import harness
>>> records = harness.evaluate("all-MiniLM-L6-v2", tasks=["weat-6"])  # doctest: +SKIP

Every public name is listed here. A name is imported when it is first used, so `import harness`
itself loads nothing else.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.concept import Concept as Concept
    from harness.embedder import Card as Card
    from harness.embedder import Embedder as Embedder
    from harness.embedder import ModelInfo as ModelInfo
    from harness.embedder import WordEmbedder as WordEmbedder
    from harness.errors import DiskError as DiskError
    from harness.errors import HarnessError as HarnessError
    from harness.errors import InvalidFile as InvalidFile
    from harness.errors import InvalidOption as InvalidOption
    from harness.errors import ModelError as ModelError
    from harness.errors import NotApplicable as NotApplicable
    from harness.errors import Unavailable as Unavailable
    from harness.errors import UnknownName as UnknownName
    from harness.errors import UsageError as UsageError
    from harness.metrics import Contrast as Contrast
    from harness.metrics import metric as metric
    from harness.mitigator import Mitigator as Mitigator
    from harness.registry.registry import Registry as Registry
    from harness.results.comparison import compare as compare
    from harness.results.folder import read_results as read_results
    from harness.results.record import Record as Record
    from harness.results.records import Records as Records
    from harness.run.debiasing import debias as debias
    from harness.run.evaluation import evaluate as evaluate
    from harness.scores import Interval as Interval
    from harness.scores import Null as Null
    from harness.scores import Samples as Samples
    from harness.scores import Scale as Scale
    from harness.scores import Score as Score
    from harness.specs import AdapterSpec as AdapterSpec
    from harness.specs import EmbedderSpec as EmbedderSpec
    from harness.specs import EngineSpec as EngineSpec
    from harness.specs import MetricSpec as MetricSpec
    from harness.specs import MitigatorSpec as MitigatorSpec
    from harness.specs import TableSpec as TableSpec
    from harness.specs import hookimpl as hookimpl
    from harness.store.answers import AnswerCache as AnswerCache
    from harness.study.running import run_study as run_study
    from harness.vocabulary import Vocabulary as Vocabulary
    from harness.vocabulary import vocabulary_of as vocabulary_of

__version__ = "0.1.0"  # the only place: pyproject.toml reads it from here, without an import

# In a checkout the folders of the package lie side by side. Python started there imports this
# folder instead of the installed package, so the package path must include the siblings.
_checkout = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- pathlib would slow `import harness`
if os.path.isfile(os.path.join(_checkout, "plugins", "embedders", "cards.yaml")):  # noqa: PTH113, PTH118 -- as above
    __path__.append(_checkout)

# Importing a submodule sets it as an attribute of this package. So no public name may equal the
# name of a submodule: `harness.metric` is the decorator, and its module is `harness.metrics`.
_HOMES = {
    "AdapterSpec": "specs",
    "AnswerCache": "store.answers",
    "Card": "embedder",
    "Concept": "concept",
    "Contrast": "metrics",
    "DiskError": "errors",
    "Embedder": "embedder",
    "EmbedderSpec": "specs",
    "EngineSpec": "specs",
    "HarnessError": "errors",
    "Interval": "scores",
    "InvalidFile": "errors",
    "InvalidOption": "errors",
    "MetricSpec": "specs",
    "Mitigator": "mitigator",
    "MitigatorSpec": "specs",
    "ModelError": "errors",
    "ModelInfo": "embedder",
    "NotApplicable": "errors",
    "Null": "scores",
    "Record": "results.record",
    "Records": "results.records",
    "Registry": "registry.registry",
    "Samples": "scores",
    "Scale": "scores",
    "Score": "scores",
    "TableSpec": "specs",
    "Unavailable": "errors",
    "UnknownName": "errors",
    "UsageError": "errors",
    "Vocabulary": "vocabulary",
    "WordEmbedder": "embedder",
    "compare": "results.comparison",
    "debias": "run.debiasing",
    "evaluate": "run.evaluation",
    "hookimpl": "specs",
    "metric": "metrics",
    "read_results": "results.folder",
    "run_study": "study.running",
    "vocabulary_of": "vocabulary",
}
"""Module of each public name."""

__all__ = ["__version__", *_HOMES]  # strings all


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"harness.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
