"""Types of the public names, which `__init__.py` imports when they are first used."""

from harness.concept import Concept as Concept
from harness.embedder import Card as Card
from harness.embedder import Embedder as Embedder
from harness.embedder import ModelInfo as ModelInfo
from harness.embedder import Vocabulary as Vocabulary
from harness.embedder import WordEmbedder as WordEmbedder
from harness.embedder import vocabulary_of as vocabulary_of
from harness.errors import DiskError as DiskError
from harness.errors import HarnessError as HarnessError
from harness.errors import InvalidFile as InvalidFile
from harness.errors import InvalidOption as InvalidOption
from harness.errors import ModelError as ModelError
from harness.errors import NotApplicable as NotApplicable
from harness.errors import Unavailable as Unavailable
from harness.errors import UnknownName as UnknownName
from harness.errors import UsageError as UsageError
from harness.metrics import Compares as Compares
from harness.metrics import Contrast as Contrast
from harness.metrics import Interval as Interval
from harness.metrics import Null as Null
from harness.metrics import Samples as Samples
from harness.metrics import Scale as Scale
from harness.metrics import Score as Score
from harness.metrics import metric as metric
from harness.mitigator import Affine as Affine
from harness.mitigator import Map as Map
from harness.mitigator import Mitigator as Mitigator
from harness.plugins.train.bias_evaluator import BiasEvaluator as BiasEvaluator
from harness.plugins.train.bias_evaluator import BoundStoppingCallback as BoundStoppingCallback
from harness.registry.registry import Registry as Registry
from harness.results.comparison import compare as compare
from harness.results.folder import read_results as read_results
from harness.results.record import Record as Record
from harness.results.records import Records as Records
from harness.run.debiasing import debias as debias
from harness.run.estimator import Debiaser as Debiaser
from harness.run.evaluation import compare_models as compare_models
from harness.run.evaluation import evaluate as evaluate
from harness.run.words import words as words
from harness.specs import AdapterSpec as AdapterSpec
from harness.specs import EmbedderSpec as EmbedderSpec
from harness.specs import EngineSpec as EngineSpec
from harness.specs import MetricSpec as MetricSpec
from harness.specs import MitigatorSpec as MitigatorSpec
from harness.specs import TableSpec as TableSpec
from harness.specs import hookimpl as hookimpl
from harness.store.answers import AnswerCache as AnswerCache
from harness.study.running import run_study as run_study

__version__: str
__all__: list[str]
