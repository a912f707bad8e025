"""The Embedding Bias Harness: social bias and name bias in embeddings, and their mitigations.

>>> import harness
>>> records = harness.evaluate("all-MiniLM-L6-v2", tasks=["weat-6"])  # doctest: +SKIP

Everything public is named here; importing the package loads none of it.
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
    from harness.errors import HarnessError as HarnessError
    from harness.metrics import Interval as Interval
    from harness.metrics import Scale as Scale
    from harness.metrics import Score as Score
    from harness.metrics import metric as metric
    from harness.mitigator import Mitigator as Mitigator
    from harness.registry.registry import Registry as Registry
    from harness.results.record import Record as Record
    from harness.results.records import Records as Records
    from harness.run.debiasing import debias as debias
    from harness.run.evaluation import evaluate as evaluate
    from harness.specs import EmbedderSpec as EmbedderSpec
    from harness.specs import EngineSpec as EngineSpec
    from harness.specs import MetricSpec as MetricSpec
    from harness.specs import MitigatorSpec as MitigatorSpec
    from harness.specs import TableSpec as TableSpec
    from harness.specs import hookimpl as hookimpl
    from harness.study import running as _running

    run_study = _running.run

__version__ = "0.1.0"

# In a checkout the folders of the package lie side by side, and Python started there finds this one
# before the installed package: it takes its siblings from where they lie.
_checkout = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 -- pathlib would slow `import harness`
if os.path.isfile(os.path.join(_checkout, "plugins", "embedders", "minilm.py")):  # noqa: PTH113, PTH118 -- as above
    __path__.append(_checkout)

_HOMES = {
    "Card": "embedder",
    "Concept": "concept",
    "Embedder": "embedder",
    "EmbedderSpec": "specs",
    "EngineSpec": "specs",
    "HarnessError": "errors",
    "Interval": "metrics",
    "MetricSpec": "specs",
    "Mitigator": "mitigator",
    "MitigatorSpec": "specs",
    "ModelInfo": "embedder",
    "Record": "results.record",
    "Records": "results.records",
    "Registry": "registry.registry",
    "Scale": "metrics",
    "Score": "metrics",
    "TableSpec": "specs",
    "debias": "run.debiasing",
    "evaluate": "run.evaluation",
    "hookimpl": "specs",
    "metric": "metrics",
    "run_study": "study.running:run",
}
"""Module of each name, with a colon and the name there if it is another."""

__all__ = ["__version__", *_HOMES]  # strings all


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute '{name}'")
    module, _, there = _HOMES[name].partition(":")
    value = getattr(importlib.import_module(f"harness.{module}"), there or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
