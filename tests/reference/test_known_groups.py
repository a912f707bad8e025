"""Groups whose order is known: planted bias of rising amplitude, noise, constants, in boards.

The bias is planted in the vectors of real models, in the words or texts of a few tasks of gender.
`docs/validity.md` has each score of each task; test_shipped_table.py holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest

import harness
from harness.digest import digest
from harness.embedder import Embedder, ModelInfo, gaussian_vectors
from harness.leaderboard.boards.board import Board, compile_boards
from harness.leaderboard.claims.reading import frame_of
from harness.mitigator import Mitigator
from harness.plugins.validity import checks
from harness.plugins.validity.checks import AMPLITUDES, Instrument
from harness.registry.registry import Registry
from harness.run.scoring import MetricInputs, usable_rows

WORD_TASKS = ("weat-7", "weat-8", "rnd-gender", "ripa-gender", "profession-stereotypes")
WORD_CONTROLS = ("weat-1", "weat-2", "rg-65", "ws-353")
TEXT_TASKS = ("gender-occupations", "seat-c7")
TEXT_CONTROLS = ("ws-353",)
ORDER = [f"planted-{a:g}" for a in AMPLITUDES]


def vectors_with_bias(
    registry: Registry, embedder: Embedder, task: str, amplitude: float
) -> dict[str, np.ndarray]:
    """Return the vectors of the texts of a task's sides with a planted bias."""
    resolved = registry.task(task)
    primary = resolved.file.primary
    (scenario,) = [s for s in resolved.scenarios if s.name == primary.scenario]
    (use,) = [m for m in scenario.measurements if m.metric.name == primary.metric]
    vectors = {i.name: embedder.encode(i.texts) for i in use.inputs.values() if i.texts is not None}
    inputs = MetricInputs.of(use.inputs, vectors, usable_rows(use.inputs, vectors))
    contrast = Instrument(use.metric, primary.score, use.options, inputs, {}).contrast
    assert contrast is not None, task
    arrays = checks.planted(inputs.arrays, contrast, amplitude)
    return {
        text: row
        for side in contrast.sides
        for text, row in zip(inputs.texts[side], arrays[side], strict=True)
    }


class PlantedModel:
    """A model whose vectors of some texts are replaced by planted ones."""

    def __init__(self, embedder: Embedder, vectors: Mapping[str, np.ndarray], name: str) -> None:
        self.embedder = embedder
        self.replaced = {text: np.asarray(row, np.float32) for text, row in vectors.items()}
        content = [[text, row.tobytes().hex()] for text, row in sorted(self.replaced.items())]
        fingerprint = digest(["planted", embedder.info.fingerprint, content])
        kind, dimensions = embedder.info.kind, embedder.info.dimensions
        self.info = ModelInfo(name=name, kind=kind, dimensions=dimensions, fingerprint=fingerprint)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts: the replaced ones, and else the model's own."""
        vectors = np.array(self.embedder.encode(texts), dtype=np.float32)
        for row, text in enumerate(texts):
            if text in self.replaced:
                vectors[row] = self.replaced[text]
        return vectors


class Known:
    """A model, and its planted versions by amplitude."""

    def __init__(self, registry: Registry, embedder: Embedder, tasks: tuple[str, ...]) -> None:
        self.replaced: dict[float, Mapping[str, np.ndarray]] = {}
        for amplitude in AMPLITUDES:
            replaced: dict[str, np.ndarray] = {}
            for task in tasks:
                replaced |= vectors_with_bias(registry, embedder, task, amplitude)
            self.replaced[amplitude] = replaced
        self.models = [
            PlantedModel(embedder, replaced, f"planted-{amplitude:g}")
            for amplitude, replaced in self.replaced.items()
        ]


VECTORS: dict[tuple[str, float], Mapping[str, np.ndarray]] = {}
"""Vectors that `Replanted` sets, by kind and amplitude."""


class Replanted(Mitigator):
    """Sets the planted bias to another amplitude: 0 removes exactly what was planted."""

    def __init__(self, *, kind: str = "word", amplitude: float = 0.0) -> None:
        self.kind, self.amplitude = kind, amplitude

    def transform(self, vectors, texts):
        known = VECTORS[self.kind, self.amplitude]
        rows = [known.get(text, row) for text, row in zip(texts, vectors, strict=True)]
        return np.asarray(rows, dtype=np.float32)


class Meaningless:
    """Vectors without a meaning under a name of their own: what a board must find out."""

    def __init__(self, name: str, kind: str) -> None:
        self.info = harness.ModelInfo(
            name=name, kind=kind, dimensions=50, fingerprint=f"{name} {kind}"
        )

    def encode(self, texts):
        vectors = gaussian_vectors(texts, 50).astype(np.float32)
        return vectors if self.info.name == "noise" else np.ones_like(vectors)


def meaningless(kind: str) -> list[Meaningless]:
    return [Meaningless(name, kind) for name in ("noise", "ones")]


def references(kind: str) -> list[str]:
    return [f"random-{kind}s", f"constant-{kind}s"]


def board(known: Known, kind: str, tasks: tuple[str, ...], *more: object, cache) -> Board:
    """Return the board of the planted models, and of the strongest under four mitigators."""
    VECTORS.update({(kind, a): vectors for a, vectors in known.replaced.items()})
    records = list(harness.evaluate([*known.models, *more], list(tasks), cache=cache))
    (half,) = [model for model in known.models if model.info.name == "planted-0.5"]
    mitigated = [Replanted(kind=kind, amplitude=a) for a in (0.0, 0.25, 1.0)]
    records += harness.evaluate([half], list(tasks), mitigated, cache=cache)
    (only,) = compile_boards(frame_of(records))
    return only


@pytest.fixture(scope="module")
def words(registry, glove_50d, tmp_path_factory) -> Board:
    known = Known(registry, glove_50d, WORD_TASKS)
    tasks = (*WORD_TASKS, *WORD_CONTROLS)
    cache = tmp_path_factory.mktemp("cache")
    others = (
        "random-words",
        "constant-words",
        Meaningless("noise", "word"),
        Meaningless("ones", "word"),
    )
    return board(known, "word", tasks, *others, cache=cache)


@pytest.fixture(scope="module")
def texts(registry, minilm, tmp_path_factory) -> Board:
    class Encoder:
        info = harness.ModelInfo(name="minilm", kind="text", dimensions=384, fingerprint="minilm")
        encode = staticmethod(minilm)

    known = Known(registry, Encoder(), TEXT_TASKS)
    cache = tmp_path_factory.mktemp("cache")
    tasks = (*TEXT_TASKS, *TEXT_CONTROLS)
    others = (
        "random-texts",
        "constant-texts",
        Meaningless("noise", "text"),
        Meaningless("ones", "text"),
    )
    return board(known, "text", tasks, *others, cache=cache)


def ranked(frame, name: str) -> list[str]:
    return frame.drop_nulls("rank").sort("rank")[name].to_list()


@pytest.fixture(params=["words", "texts"])
def known_board(request) -> Board:
    return request.getfixturevalue(request.param)


def test_the_order_of_models_is_that_of_the_amplitudes(known_board):
    assert ranked(known_board.rows, "model") == ORDER


def test_random_and_constant_vectors_never_rank_whatever_their_name(known_board):
    rows = known_board.rows.filter(~pl.col("model").str.starts_with("planted"))
    assert rows["rank"].null_count() == rows.height == 4
    named = rows.filter(pl.col("model").is_in(["noise", "ones"])).sort("model")
    noise, ones = named.select("complete", "unusable").rows()
    assert noise[1] is not None, "usefulness and controls tell it from a fair model"
    assert not ones[0], "no score has a value on it"


def test_amplitude_0_is_at_the_floor_and_bias_rises_from_there(known_board):
    planted = known_board.rows.filter(role="model").filter(pl.col("model").is_in(ORDER))
    bias = dict(zip(planted["model"], planted["bias"], strict=True))
    assert abs(bias[ORDER[0]]) < 0.1
    assert bias[ORDER[1]] > 0.1
    assert bias[ORDER[-1]] > 0.5
    ((rank, reason),) = known_board.rows.filter(model="noise").select("rank", "unusable").rows()
    assert rank is None
    assert "yardstick" in reason


def test_removing_what_was_planted_is_the_best_mitigator_and_adding_as_much_the_worst(known_board):
    names = ranked(known_board.mitigators, "mitigator")
    amplitudes = ["1" if "=1" in name else "0.25" if "=0.25" in name else "0" for name in names]
    assert amplitudes == ["0", "0.25", "1"]
    changes = known_board.mitigators.sort("rank")["bias"].to_list()
    assert changes[0] < changes[1] < 0 < changes[2]
