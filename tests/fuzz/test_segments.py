"""Damaged segments of a store: no wrong vector, no traceback, and nothing else is lost.

HARNESS_FUZZ is the number of inputs, 300 by default; input i is the same in every run.
"""

import json
import os
import shutil

import numpy as np
import pytest

from harness.embedder import MockEmbedder
from harness.store import pruning
from harness.store.folder import stored_dimensions
from harness.store.store import Store

N = int(os.environ.get("HARNESS_FUZZ", "300"))
D = 6
GOOD, ATTACKED = [f"good {i}" for i in range(4)], [f"text {i}" for i in range(9)]
TRUTH = dict(zip(GOOD + ATTACKED, MockEmbedder(dimensions=D).encode(GOOD + ATTACKED), strict=True))
VALUES = [
    *("0", "-1", "1", "2", "9", "10", "1e400", "-0.0", "NaN", "true", "null", '""', "[]", "{}"),
    *("1" + "0" * 30, "9" * 5000, "[" * 20_000, '{"a":' * 20_000, '"\\ud800"', '"U64"', '"F32"'),
    *("[9, 6]", "[9, 2]", "[-9, -6]", "[0, 144]", "[1e9, 1e9]", "[4294967296, 4294967296]"),
]
"""JSON that replaces a part of the header."""


def overwrite(content, rng):
    start = rng.integers(len(content))
    part = rng.bytes(int(rng.integers(1, 17)))
    return content[:start] + part + content[start + len(part) :]


def flip(content, rng):
    changed = bytearray(content)
    for position in rng.integers(len(content), size=rng.integers(1, 4)):
        changed[position] ^= 1 << rng.integers(8)
    return bytes(changed)


def cut(content, rng):
    return content[: rng.integers(len(content))]


def insert(content, rng):
    start = rng.integers(len(content))
    return content[:start] + rng.bytes(int(rng.integers(1, 65))) + content[start:]


def zero(content, rng):
    start = rng.integers(len(content))
    stop = min(len(content), start + int(rng.integers(1, 257)))
    return content[:start] + bytes(stop - start) + content[stop:]


def move(content, rng):
    a, b, c = sorted(rng.integers(len(content), size=3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def length(content, rng):
    return int(rng.choice([0, 1, 7, 2**16, 2**31, 2**63])).to_bytes(8, "little") + content[8:]


def header(content, rng):
    """Replace, double or remove a part of the header; its stated length is then right."""
    size = int.from_bytes(content[:8], "little")
    facts, rest = json.loads(content[8 : 8 + size]), content[8 + size :]
    place = facts[rng.choice(list(facts))]
    key, value = str(rng.choice(list(place))), str(rng.choice(VALUES))
    before = json.dumps(key) + ": " + json.dumps(place[key])
    after = json.dumps(key) + ": " + value
    after = str(rng.choice([after, f"{before}, {after}", f"{after}, {before}", '"x": 1', before]))
    text = json.dumps(facts).replace(before, after, 1).encode()
    if rng.random() < 0.2:
        text = str(rng.choice(VALUES)).encode()
    return len(text).to_bytes(8, "little") + text + rest


DAMAGES = (overwrite, flip, cut, insert, zero, move, length, header, header, header)


@pytest.fixture
def original(tmp_path):
    """A store of two segments: the content and the name of the second is what is attacked."""
    store = Store(tmp_path / "original", "model")
    store.describe({"name": "Model", "kind": "word"})
    for texts in (GOOD, ATTACKED):
        with store.writer() as writer:
            writer.add(texts, np.array([TRUTH[text] for text in texts]))
    return store


def check(folder):
    """Read a store in all ways; return the texts that it has."""
    assert [info.model["name"] for info in pruning.stores(folder)] == ["Model"]
    store = Store(folder, "model")
    while True:
        missing = store.missing(TRUTH)
        stored = [text for text in TRUTH if text not in missing]
        try:
            vectors = store.get(stored)
            break
        except KeyError:  # damage was seen while vectors were read
            continue
    assert vectors.tobytes() == np.array([TRUTH[text] for text in stored]).tobytes()
    assert "\n" not in "".join(store.notices)
    return stored


def test_no_damage_of_a_segment_gives_a_wrong_vector_or_a_traceback(tmp_path, original):
    attacked = sorted(original.folder.glob("*.safetensors"))[1]
    content = attacked.read_bytes()
    for i in range(N):
        rng = np.random.default_rng(i)
        damage = DAMAGES[i % len(DAMAGES)]
        folder = tmp_path / "stores"
        shutil.copytree(original.folder, folder / original.folder.name)
        path = folder / original.folder.name / attacked.name
        path.write_bytes(damage(content, rng))
        try:
            if i % 2:
                pruning.prune(folder)
            assert check(folder)[: len(GOOD)] == GOOD
            Store(folder, "model").verify()
            pruning.prune(folder)
            assert check(folder)[: len(GOOD)] == GOOD
        except Exception as error:
            raise AssertionError(f"input {i}: {damage.__name__}") from error
        shutil.rmtree(folder)


def test_no_damage_of_a_model_file_gives_a_wrong_vector_or_a_traceback(tmp_path, original):
    path = original.folder / "model.json"
    content = path.read_bytes()
    for i in range(N):
        rng = np.random.default_rng(i)
        damage = DAMAGES[i % 6]
        damaged = damage(content, rng)
        if i % 3 == 0:
            key = rng.choice(["fingerprint", "dimensions", "kind", "name"])
            damaged = f'{{"{key}": {rng.choice(VALUES)}}}'.encode()
        path.write_bytes(damaged)
        try:
            pruning.stores(original.folder.parent)
            store = Store(original.folder.parent, "model")
            if stored_dimensions(store.files) not in (None, D):
                assert store.missing(TRUTH) == list(TRUTH)  # one of the two is wrong
                path.unlink()
                store = Store(original.folder.parent, "model")
            assert store.missing(TRUTH) == []
            assert store.get(list(TRUTH)).tobytes() == np.array(list(TRUTH.values())).tobytes()
            assert store.info().rows == len(TRUTH)
        except Exception as error:
            raise AssertionError(f"input {i}: {damaged[:200]!r}") from error
