"""`harness debias` and `harness.debias`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import harness as package
from harness.arrays import unit_rows
from harness.concept import Concept
from harness.plugins.embedders.vectors.vectors_file import vectors_file
from harness.plugins.embedders.vectors.word_vectors import WordVectors
from harness.plugins.mitigators.hard_debias import HardDebias
from harness.registry.registry import Registry
from harness.run import debiasing

PAIRS = [("she", "he"), ("woman", "man"), ("mother", "father"), ("her", "his")]
WORDS = [word for pair in PAIRS for word in pair] + [f"w{i}" for i in range(300)]
VECTORS = np.random.default_rng(0).standard_normal((len(WORDS), 9)).astype(np.float32)


@pytest.fixture
def source(tmp_path):
    """A file of 308 random vectors, with some of the pairs of gender."""
    path = tmp_path / "source.bin"
    debiasing.write_vectors(path, "word2vec-binary", WORDS, 9, [(WORDS, VECTORS)])
    return path


@pytest.mark.parametrize("suffix", ["bin", "txt", "vec", "safetensors"])
def test_the_file_has_the_debiased_vectors_of_every_word(harness, source, tmp_path, suffix):
    out = tmp_path / "new" / f"debiased.{suffix}"
    said = harness("debias", "-m", f"vectors:{source}", "-M", "hard-debias", "-o", out)
    assert said.code == 0, said.err
    concept = Registry().concept("gender")
    fitted = HardDebias().fit(WordVectors.of(WORDS, VECTORS), concept)
    read = vectors_file(str(out))
    assert list(read.words) == WORDS
    np.testing.assert_array_equal(read.vectors, fitted.transform(VECTORS, WORDS))
    assert np.abs(read.vectors[8:] @ fitted.subspace_.T).max() < 1e-6
    assert f"{len(WORDS)}" in said.out
    assert f"{out.stat().st_size}" in said.out
    assert f"not in the vocabulary: {', '.join(fitted.missing_)}" in said.out
    assert f"writing {out.name}: 308/308 words in " in said.err


def test_json_has_the_facts_about_the_file(harness, source, tmp_path):
    out = tmp_path / "v.safetensors"
    said = harness(
        "debias", "--model", f"vectors:{source}", "--mitigator", "normalize+hard-debias?k=2",
        "--concept", "gender", "--out", out, "--json",
    )  # fmt: skip
    facts = json.loads(said.out)
    missing = facts.pop("missing")
    assert facts == {
        "path": str(out),
        "format": "safetensors",
        "model": source.stem,
        "mitigator": "normalize+hard-debias?k=2",
        "concept": "gender",
        "words": 308,
        "dimensions": 9,
        "bytes": out.stat().st_size,
    }
    assert "daughter" in missing
    assert not set(missing) & set(WORDS)


def test_the_file_is_a_model_again(harness, source, tmp_path):
    out = tmp_path / "v.bin"
    assert harness("debias", "-m", f"vectors:{source}", "-M", "hard-debias", "-o", out).code == 0
    made = package.debias(f"vectors:{out}", "none", tmp_path / "same.txt")
    assert (made.concept, made.missing) == (None, ())
    np.testing.assert_array_equal(
        vectors_file(str(tmp_path / "same.txt")).vectors, vectors_file(str(out)).vectors
    )


def test_the_model_is_not_judged_on_words_of_its_fit(harness, tmp_path):
    concept, tasks = Registry().concept("gender"), ["weat-6", "weat-7"]
    words = list(Registry().mitigator("hard-debias").fitting_texts(concept))
    of_tasks = [part for t in map(Registry().task, tasks) for part in (t, t.yardstick)]
    words += [text for part in of_tasks for input_ in part.texts() for text in input_.texts]
    words = list(dict.fromkeys(words))
    vectors = np.random.default_rng(0).standard_normal((len(words), 9)).astype(np.float32)
    source, out = tmp_path / "source.bin", tmp_path / "v.bin"
    debiasing.write_vectors(source, "word2vec-binary", words, 9, [(words, vectors)])
    said = harness("debias", "-m", f"vectors:{source}", "-M", "hard-debias", "-o", out)
    assert "its card is beside it, in v.bin.md" in said.err

    def judged(model):
        records = package.evaluate(model, tasks)
        parts = {r.task.name: (r.unseen.kind, r.left_out, r.withheld) for r in records if r.primary}
        return parts, records.notices

    before, _ = judged(f"vectors:{source}")
    parts, _ = judged(f"vectors:{out}")
    assert before["weat-7"] == ("unseen texts", None, ())
    assert parts["weat-6"] == before["weat-6"] == ("unseen texts", None, ("John",))
    kind, left_out, withheld = parts["weat-7"]
    assert (kind, left_out) == ("void", "void")
    assert {"her", "brother"} <= set(withheld) <= set(words)
    assert {"her", "she"} <= set(Registry().embedder(f"bag-of-words:vectors:{out}").info.fitted_on)
    said = harness("eval", "-m", f"vectors:{out}", "-t", "weat-6,weat-7")
    assert "void: weat-7: the model was fitted on words of the task" in said.out
    # The card is not trusted: nothing in it is run, and what is no list is said in one line.
    mark = tmp_path / "mark"
    Path(f"{out}.md").write_text(
        f"---\nfitted_on: !!python/object/apply:os.system ['touch {mark}']\n---\n"
    )
    parts, notices = judged(f"vectors:{out}")
    assert {kind for kind, *_ in parts.values()} == {"fit not stated"}
    assert sum("does not list the texts that it was fitted on" in line for line in notices) == 1
    assert not mark.exists()


def test_a_file_that_may_be_no_card_is_not_replaced(harness, source, tmp_path):
    out = tmp_path / "v.bin"
    Path(f"{out}.md").write_text("precious")
    said = harness("debias", "-m", f"vectors:{source}", "-M", "normalize", "-o", out)
    assert (said.code, out.exists()) == (2, False)
    assert Path(f"{out}.md").read_text() == "precious"


def test_gensims_format_has_a_second_file_with_the_vectors(harness, source, tmp_path):
    out = tmp_path / "v.kv"
    said = harness("debias", "-m", f"vectors:{source}", "-M", "normalize", "-o", out)
    assert said.code == 0
    assert "v.kv.vectors.npy" in said.err
    np.testing.assert_array_equal(
        np.load(tmp_path / "v.kv.vectors.npy"), unit_rows(VECTORS).astype(np.float32)
    )
    size = out.stat().st_size + (tmp_path / "v.kv.vectors.npy").stat().st_size
    assert str(size) in said.out


def test_an_existing_file_is_replaced_only_with_overwrite(harness, source, tmp_path):
    out = tmp_path / "v.bin"
    out.write_text("precious")
    asked = ["debias", "-m", f"vectors:{source}", "-M", "normalize", "-o", out]
    said = harness(*asked)
    assert said.code == 2
    assert str(out) in said.err
    assert "overwrite" in said.err
    assert out.read_text() == "precious"
    assert harness(*asked, "--overwrite").code == 0
    assert list(vectors_file(str(out)).words) == WORDS


def test_a_concept_may_be_an_object(tmp_path):
    model = WordVectors.of(WORDS, VECTORS, name="mine")
    concept = Concept(name="own", definitional_pairs=tuple(PAIRS))
    made = package.debias(model, "hard-debias", tmp_path / "v.bin", concept=concept)
    assert (made.model, made.concept, made.missing) == ("mine", "own", ())


PEAK = (
    "import harness, resource, sys; harness.debias('vectors:' + sys.argv[1], 'hard-debias', "
    "sys.argv[2]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
)


@pytest.mark.posix
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory as Linux does")
def test_memory_does_not_grow_with_the_vectors(tmp_path):
    taken, suffix = [], "bin"
    for n in (60_000, 120_000):  # 72 MB and 144 MB of vectors
        words = [*WORDS[:8], *(f"w{i}" for i in range(n - 8))]
        source = tmp_path / f"source{n}.{suffix}"
        rows = np.random.default_rng(0).standard_normal((4000, 300), dtype=np.float32)
        blocks = [(words[i : i + 4000], rows) for i in range(0, n, 4000)]
        debiasing.write_vectors(source, debiasing.format_of(source), words, 300, blocks)
        cache = os.environ | {"HARNESS_CACHE": str(tmp_path), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", PEAK, str(source), str(tmp_path / f"out{n}.{suffix}")]
        done = subprocess.run(command, env=cache, capture_output=True, text=True, check=True)
        taken.append(int(done.stdout))
        assert vectors_file(f"{tmp_path}/out{n}.{suffix}").info.n_parameters == 300 * n
        for path in Path(tmp_path).glob(f"*{n}.{suffix}"):
            path.unlink()
    growth = (taken[1] - taken[0]) / 60_000
    assert growth < 600, f"{growth:.0f} bytes a word more; its vector alone has 1,200"
