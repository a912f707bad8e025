"""The embedder `troubled` in a package of its own, which workers find, too."""

import pytest

from harness.registry import discovery

PLUGIN = '''
import os, signal, time
from pathlib import Path

import numpy as np

from harness import EmbedderSpec, hookimpl
from harness.embedder import MockEmbedder
from harness.encode.admission import TEXTS


class Troubled(MockEmbedder):
    """Raises, dies or returns wrong shapes if a text says so. Logs the texts of a run."""

    def __init__(
        self, *, device="cpu", dimensions: int = 4, fails_on="", once="", log="", sleep=0.0,
        meet="", budget: int | None = None, differs="", sorts="",
    ):
        if device == fails_on:
            raise ValueError(f"there is no {device}")
        if differs and not Path(differs).exists():  # the first process has another version
            Path(differs).touch()
            dimensions += 1
        super().__init__(dimensions=dimensions)
        self.once, self.log, self.sleep, self.meet = once, log, float(sleep), meet
        self.batch_tokens, self.n_texts, self.sorts = budget, 0, sorts

    @property
    def notes(self):
        return [f"{self.n_texts} texts"] if self.log else []

    def encode(self, texts):
        if set(texts) <= set(TEXTS):  # the check before the first vector is stored
            if self.sorts:
                Path(self.sorts, str(os.getpid())).touch()
                texts = sorted(texts)
            return super().encode(texts)
        self.n_texts += len(texts)
        if self.log:
            with open(self.log, "a") as file:
                file.write(f"{os.getpid()} {len(texts)}\\n")
        time.sleep(self.sleep)
        for _ in range(6000 if self.meet else 0):  # wait until another process has begun
            if len({line.split()[0] for line in open(self.log)}) > 1:
                break
            time.sleep(0.01)
        if any("raise" in text for text in texts):
            raise ValueError("no such text")
        if any("wrong" in text for text in texts):
            return super().encode(texts)[:, :2]
        if any("die" in text for text in texts):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.once and any("end" in text for text in texts) and not Path(self.once).exists():
            Path(self.once).touch()
            os._exit(3)
        return super().encode(texts)


class Counted(MockEmbedder):
    """Takes the lengths of words as tokens, as encoders that use all GPUs take tokens."""

    def __init__(self, *, device="cpu"):
        super().__init__(dimensions=4)

    def encode(self, texts):
        return self.begin(self.token_ids(texts))()

    def token_ids(self, texts):
        return [[len(word) for word in text.split()] for text in texts]

    def begin(self, ids):
        return lambda: np.array([[sum(row), len(row), row[0], 1.5] for row in ids], np.float32)


@hookimpl
def harness_embedders():
    return [
        EmbedderSpec(name="troubled", target="troubled_plugin:Troubled"),
        EmbedderSpec(name="counted", target="troubled_plugin:Counted"),
    ]
'''


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder with the package, as if it were installed."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "troubled_plugin.py").write_text(PLUGIN)
    metadata = folder / "troubled-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: troubled\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[harness]\ntroubled = troubled_plugin\n")
    return folder


@pytest.fixture
def plugin(site, monkeypatch):
    """The package is installed."""
    monkeypatch.syspath_prepend(str(site))
    discovery.installed.cache_clear()
    yield site
    discovery.installed.cache_clear()
