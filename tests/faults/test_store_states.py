"""Any life of a store, against a dictionary: it may lack what was damaged, and is never wrong.

There are 20 lives; a tenth of HARNESS_FUZZ, if that is set.
"""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from harness.embedder import MockEmbedder
from harness.store import pruning
from harness.store.store import Store, keys_of

TEXTS = [f"text {i}" for i in range(10)]
D = 4
TRUTH = {
    name: dict(zip(TEXTS, MockEmbedder(dimensions=d, words=name).encode(TEXTS), strict=True))
    for name, d in (("model", D), ("another model", D), ("wide model", D + 2))
}
TRUTH["model"] = {text: vector * 2 for text, vector in TRUTH["model"].items()}

models = st.sampled_from(sorted(TRUTH))
some_texts = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6, unique=True)
positions = st.floats(0, 1, exclude_max=True)


class Life(RuleBasedStateMachine):
    """Writers, readers, pruning, kills and damage, in any order, in one folder."""

    readers = Bundle("readers")

    def __init__(self):
        super().__init__()
        self.folder = Path(mkdtemp())
        self.kept = {name: set() for name in TRUTH}  # texts that must have a vector
        self.waiting = {}  # writers that were not flushed, by model

    def teardown(self):
        shutil.rmtree(self.folder)

    def segments(self, model):
        return sorted(Store(self.folder, model).folder.glob("*.safetensors"))

    def vectors_of(self, model, texts):
        return np.array([TRUTH[model][text] for text in texts])

    def damage(self, model, path):
        """Say that the texts of a segment may be lost; read from its bytes, which may be wrong."""
        content = path.read_bytes()
        self.kept[model] -= {text for text in TEXTS if keys_of([text]).tobytes() in content}

    @initialize(target=readers, model=models)
    def first_reader(self, model):
        return model, Store(self.folder, model)

    @rule(target=readers, model=models)
    def another_process_opens_the_store(self, model):
        return model, Store(self.folder, model)

    @rule(reader=readers, texts=some_texts, rows=st.integers(1, 4))
    def write(self, reader, texts, rows):
        model, store = reader
        with store.writer(rows=rows) as writer:
            writer.add(texts, self.vectors_of(model, texts))
        self.kept[model] |= set(texts)

    @rule(reader=readers, texts=some_texts, rows=st.integers(2, 4))
    def add_to_a_waiting_writer(self, reader, texts, rows):
        model, store = reader
        writer = self.waiting.setdefault(model, store.writer(rows=rows))
        writer.add(texts, self.vectors_of(model, texts))

    @rule(model=models)
    def kill_a_writer(self, model):
        self.waiting.pop(model, None)

    @rule(model=models)
    def a_kill_leaves_a_temporary_file(self, model):
        for path in self.segments(model)[:1]:
            path.with_name("left.tmp").write_bytes(path.read_bytes()[:100])

    @rule(reader=readers)
    def describe(self, reader):
        model, store = reader
        store.describe({"name": model, "dimensions": len(TRUTH[model][TEXTS[0]])})

    @rule(reader=readers)
    def merge(self, reader):
        pruning.merge(reader[1])

    @rule()
    def prune(self):
        pruning.prune(self.folder)

    @rule(model=models)
    def remove_a_model(self, model):
        pruning.prune(self.folder, names=[model])
        self.kept[model] = set()

    @rule(reader=readers)
    def refresh(self, reader):
        reader[1].refresh()

    @rule(model=models, which=positions, where=positions)
    def a_segment_is_shorter(self, model, which, where):
        paths = self.segments(model)
        if paths:
            path = paths[int(which * len(paths))]
            self.damage(model, path)
            content = path.read_bytes()
            path.unlink()  # a reader may have it open
            path.write_bytes(content[: int(where * len(content))])

    @rule(model=models, other=models)
    def a_segment_of_another_model_is_put_first(self, model, other):
        for path in self.segments(other)[:1]:
            place = Store(self.folder, model).folder
            place.mkdir(exist_ok=True)
            if model != other:
                (place / f"{0:016x}-x.safetensors").write_bytes(path.read_bytes())

    @rule(model=models, content=st.sampled_from([None, b"", b"{", b'{"dimensions": "3"}', b"[]"]))
    def damage_a_model_file(self, model, content):
        path = Store(self.folder, model).folder / "model.json"
        if path.exists():
            path.unlink()
            if content is not None:
                path.write_bytes(content)

    @rule(reader=readers, texts=some_texts)
    def read(self, reader, texts):
        model, store = reader
        stored = [text for text in texts if not store.missing([text])]
        try:
            vectors = store.get(stored)
        except KeyError:
            assert store.notices
            return
        if stored:
            assert vectors.tobytes() == self.vectors_of(model, stored).tobytes()

    @invariant()
    def nothing_is_lost(self):
        for model, texts in self.kept.items():
            store = Store(self.folder, model)
            assert store.missing(sorted(texts)) == []


N = int(os.environ.get("HARNESS_FUZZ", "200")) // 10
TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=N,
    stateful_step_count=30,
    deadline=None,
    derandomize=N <= 20,
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
