"""The Embedding Bias Harness: social bias and name bias in embeddings, and their mitigations.

>>> import harness
>>> records = harness.evaluate("all-MiniLM-L6-v2", tasks=["weat-6"])  # doctest: +SKIP

Every public name is listed here. A name is imported when it is first used, so `import harness`
itself loads nothing else; `__init__.pyi` tells type checkers where it is.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

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
    "Affine": "mitigator",
    "AnswerCache": "store.answers",
    "BiasEvaluator": "plugins.train.bias_evaluator",
    "BoundStoppingCallback": "plugins.train.bias_evaluator",
    "Card": "embedder",
    "Concept": "concept",
    "Compares": "metrics",
    "Contrast": "metrics",
    "Debiaser": "run.estimator",
    "DiskError": "errors",
    "Embedder": "embedder",
    "EmbedderSpec": "specs",
    "EngineSpec": "specs",
    "HarnessError": "errors",
    "Interval": "metrics",
    "InvalidFile": "errors",
    "InvalidOption": "errors",
    "Map": "mitigator",
    "MetricSpec": "specs",
    "Mitigator": "mitigator",
    "MitigatorSpec": "specs",
    "ModelError": "errors",
    "ModelInfo": "embedder",
    "NotApplicable": "errors",
    "Null": "metrics",
    "Record": "results.record",
    "Records": "results.records",
    "Registry": "registry.registry",
    "Samples": "metrics",
    "Scale": "metrics",
    "Score": "metrics",
    "TableSpec": "specs",
    "Unavailable": "errors",
    "UnknownName": "errors",
    "UsageError": "errors",
    "Vocabulary": "embedder",
    "WordEmbedder": "embedder",
    "compare": "results.comparison",
    "compare_models": "run.evaluation",
    "debias": "run.debiasing",
    "evaluate": "run.evaluation",
    "hookimpl": "specs",
    "metric": "metrics",
    "read_results": "results.folder",
    "run_study": "study.running",
    "vocabulary_of": "embedder",
    "words": "run.words",
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
