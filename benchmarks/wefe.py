"""Metrics and mitigators on GloVe 6B 50d, beside WEFE 1.0.1.

    OMP_NUM_THREADS=1 python benchmarks/wefe.py [--wefe-python PYTHON] [--only NAME …] [--repeat 3]

WEFE is optional. It wants an environment of its own (torch is for RAN alone):

    python -m venv wefe-env && wefe-env/bin/pip install wefe==1.0.1 torch
    OMP_NUM_THREADS=1 python benchmarks/wefe.py --wefe-python wefe-env/bin/python

Both are given the same words and vectors, and hold them in memory before the clock starts. A metric
begins with words and ends with its number, in one call; a mitigator is fitted and then gives the
vectors of all 400,000 words and leaves the model as it was, WEFE by a copy of it (`copy=True`, its
default), the harness block by block into a new array; RAN is timed by the word, and of the 10,000
draws of WEFE's p-value 200 are timed. Each mitigator runs in a process of its own, whose peak
memory counts.

`limit` is what a memory or an arithmetic unit alone would take: for mitigators of the whole
vocabulary one copy of its vectors, as measured here; for the others their multiplications at the
speed of a matrix product, as measured here. `x limit` is how many times that the harness takes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

MALE = ["male", "man", "boy", "brother", "he", "him", "his", "son"]  # Caliskan et al. 2017
FEMALE = ["female", "woman", "girl", "sister", "she", "her", "hers", "daughter"]
CAREER = ["executive", "management", "professional", "corporation", "salary", "office", "business",
          "career"]  # fmt: skip
FAMILY = ["home", "parents", "children", "family", "cousins", "marriage", "wedding", "relatives"]
RAN_WORDS = slice(3000, 3040)
DRAWS, TIMED = 10_000, 200
"""Draws of WEFE's p-value, and those that are timed: each is the same work as any other."""
CALLED = ("weat", "mac", "ripa", "rnd", "ect")
METRICS = ("weat", "weat-p", "mac", "ripa", "rnd", "ect")
MITIGATORS = ("hard-debias", "multiclass-hard-debias", "double-hard-debias",
              "half-sibling-regression", "ran")  # fmt: skip
CALLS_FOR, RUNS = 0.1, 5
"""CPU seconds that calls of a metric are repeated for, and how often: the best run counts, as with
`timeit`, since what else a machine does only adds."""
N, D = 400_000, 50
# Multiplications of float32 or float64 that cannot be saved: cosines of 16 targets with 16
# attributes; for p the sums of 12,870 partitions of 16; for RAN 400,000 cosines and the mean of at
# most 100 neighbours.
MULTIPLICATIONS = {
    "weat": 16 * 16 * D, "weat-p": 16 * 16 * D + 12_870 * 16, "mac": 16 * 16 * D,
    "ripa": 8 * 8 * D, "rnd": 2 * 8 * D, "ect": 2 * 8 * D, "ran": N * D + 100 * D,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wefe-python", help="a Python that has wefe 1.0.1")
    parser.add_argument("--only", nargs="+", choices=[*METRICS, *MITIGATORS], metavar="NAME")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peer", choices=["harness", "wefe"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.peer:
        print(json.dumps(PEERS[asked.peer](asked.folder, asked.only)))
        return
    names = asked.only or [*METRICS, *MITIGATORS]
    metrics = [name for name in names if name in METRICS]
    works = [metrics] * bool(metrics) + [[name] for name in names if name in MITIGATORS]
    pythons = {"harness": sys.executable}
    if asked.wefe_python:
        pythons["wefe"] = asked.wefe_python
    with tempfile.TemporaryDirectory() as name:
        hand_over(Path(name))
        copy, rate = limits()
        print(f"a copy of {N:,} x {D} float32 takes {copy * 1e3:.0f} ms "
              f"({2 * 4 * N * D / copy / 1e9:.1f} GB/s read and written); "
              f"a matrix product does {rate / 1e9:.1f}e9 multiplications/s")  # fmt: skip
        print(f"medians of {asked.repeat} turns, CPU seconds, range of the ratios in brackets\n")
        print(HEAD)
        for work in works:
            found: dict[str, dict[str, list[dict[str, float]]]] = {}
            for _ in range(asked.repeat):
                for peer, python in pythons.items():  # turn by turn: both see the same machine
                    for key, taken in run(python, peer, Path(name), work).items():
                        found.setdefault(key, {}).setdefault(peer, []).append(taken)
            for key, peers in found.items():
                limit = MULTIPLICATIONS[key] / rate if key in MULTIPLICATIONS else copy
                print(row(key, peers["harness"], peers.get("wefe"), limit), flush=True)
    if "wefe" not in pythons:
        print("(WEFE was not measured: see --help on how to install it)")


HEAD = (
    "| work | harness, CPU s | WEFE, CPU s | WEFE / harness | peak MB, harness / WEFE | limit, s "
    "| x limit |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def row(
    name: str,
    ours: list[dict[str, float]],
    theirs: list[dict[str, float]] | None,
    limit: float,
) -> str:
    cpu = median(taken["cpu"] for taken in ours)
    cells = [name, f"{cpu:.3g}"]
    peaks = [f"{median(taken['peak'] for taken in ours) / 1e6:.0f}"]
    if theirs:
        ratios = [b["cpu"] / a["cpu"] for a, b in zip(ours, theirs, strict=True)]
        cells += [f"{median(taken['cpu'] for taken in theirs):.3g}",
                  f"{median(ratios):,.1f} ({min(ratios):,.1f} to {max(ratios):,.1f})"]  # fmt: skip
        peaks.append(f"{median(taken['peak'] for taken in theirs) / 1e6:.0f}")
    else:
        cells += ["", ""]
    cells += [" / ".join(peaks), f"{limit:.2g}", f"{cpu / limit:,.0f}"]
    return f"| {' | '.join(cells)} |"


def run(python: str, peer: str, folder: Path, work: list[str]) -> dict[str, dict[str, float]]:
    # -P: this folder has a module called wefe, which is not theirs.
    command = [python, "-P", __file__, "--peer", peer, "--folder", str(folder), "--only", *work]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{peer}: {done.stderr}")
    result: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return result


def hand_over(folder: Path) -> None:
    """Write what WEFE is to work on: vectors, words, and the sets of the concepts."""
    from harness.registry.registry import Registry

    registry = Registry()
    model = registry.embedder("glove-6b-50d")
    np.save(folder / "vectors.npy", np.ascontiguousarray(model.vectors))
    gender, religion = registry.concept("gender"), registry.concept("religion")
    words = {
        "words": list(model.words),
        "pairs": [p for p in gender.definitional_pairs if set(p) <= set(model.words)],
        "equalize": [p for p in gender.equalize_sets if set(p) <= set(model.words)],
        "specific": [w for w in gender.specific_words if w in set(model.words)],
        "sets": religion.definitional_sets,
        "equalize_sets": religion.equalize_sets,
    }
    (folder / "words.json").write_text(json.dumps(words))


def limits() -> tuple[float, float]:
    """Return the seconds that a copy of the vectors takes, and a product's multiplications/s."""
    source = np.random.default_rng(0).standard_normal((N, D), dtype=np.float32)
    target = np.empty_like(source)
    square = source[:1000, :].repeat(20, axis=1)

    def best(work: Callable[[], Any]) -> float:
        taken = []
        for _ in range(5):
            started = time.process_time()
            work()
            taken.append(time.process_time() - started)
        return min(taken)

    return best(lambda: np.copyto(target, source)), 1000**3 / best(lambda: square @ square)


def by_call(work: Callable[[], Any]) -> dict[str, float]:
    """Call a short piece of work again and again, and return what one call took."""
    work()
    runs = []
    for _ in range(RUNS):
        calls, started = 0, time.process_time()
        while time.process_time() - started < CALLS_FOR:
            work()
            calls += 1
        runs.append((time.process_time() - started) / calls)
    return taken(min(runs), 1)


def once(work: Callable[[], Any], per: float = 1) -> dict[str, float]:
    """Do a long piece of work once, and return what it took for each of `per` parts of it."""
    started = time.process_time()
    work()
    return taken(time.process_time() - started, per)


def taken(seconds: float, per: float) -> dict[str, float]:
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"cpu": seconds / per, "peak": peak}


def harness(folder: Path, names: list[str]) -> dict[str, dict[str, float]]:
    for needed in ("scipy.linalg.blas", "sklearn.cluster"):
        importlib.import_module(needed)  # which functions import; WEFE has it from its start

    from harness.plugins.embedders.vectors.word_vectors import WordVectors
    from harness.registry.registry import Registry
    from harness.vocabulary import vocabulary_of

    registry = Registry()
    given = json.loads((folder / "words.json").read_text())["words"]
    model = WordVectors.of(given, np.load(folder / "vectors.npy"))
    model.encode(["the"])  # words are indexed when the first is looked up, as gensim loads them
    rng = np.random.default_rng(0)
    plain = {"resamples": 0, "rng": rng}
    no_test = {"exact_limit": 0, "permutations": 1}

    def measured(name: str, *sets: list[str], **options: Any) -> Callable[[], Any]:
        function = registry.metric(name).function
        return lambda: function(*map(model.encode, sets), **plain, **options)

    works = {
        "weat": measured("weat", MALE, FEMALE, CAREER, FAMILY, **no_test),
        "weat-p": measured("weat", MALE, FEMALE, CAREER, FAMILY),
        "mac": measured("mac", MALE, CAREER, FEMALE, FAMILY),
        "ripa": measured("ripa", MALE, FEMALE, CAREER),
        "rnd": measured("rnd", MALE, FEMALE, CAREER),
        "ect": measured("ect", MALE, FEMALE, CAREER),
    }
    options = {"double-hard-debias": "?n_words=1000&n_components=4"}  # as WEFE's defaults are

    def debiased(mitigator: Any, concept: Any) -> None:
        mitigator.fit(model, concept)
        out, start = np.empty((N, D), dtype=np.float32), 0
        for words, vectors in vocabulary_of(model).blocks():
            out[start : start + len(words)] = mitigator.transform(vectors, words)
            start += len(words)

    def repelled(mitigator: Any, concept: Any) -> None:
        words = list(model.words[RAN_WORDS])
        mitigator.fit(model, concept).transform(model.encode(words), words)

    def long(name: str) -> dict[str, float]:
        mitigator = registry.mitigator(name + options.get(name, "")).mitigators[0]  # imports it
        concept = registry.concept("religion" if name.startswith("multi") else "gender")
        if name == "ran":
            return once(lambda: repelled(mitigator, concept), RAN_WORDS.stop - RAN_WORDS.start)
        return once(lambda: debiased(mitigator, concept))

    return {name: by_call(works[name]) if name in works else long(name) for name in names}


def wefe(folder: Path, names: list[str]) -> dict[str, dict[str, float]]:
    import warnings

    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        return _wefe(folder, names)


def _wefe(folder: Path, names: list[str]) -> dict[str, dict[str, float]]:
    from gensim.models import KeyedVectors
    from wefe.debias.double_hard_debias import DoubleHardDebias
    from wefe.debias.half_sibling_regression import HalfSiblingRegression
    from wefe.debias.hard_debias import HardDebias
    from wefe.debias.multiclass_hard_debias import MulticlassHardDebias
    from wefe.debias.repulsion_attraction_neutralization import RepulsionAttractionNeutralization
    from wefe.metrics import ECT, MAC, RIPA, RND, WEAT
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    given = json.loads((folder / "words.json").read_text())
    keyed = KeyedVectors(D)
    keyed.add_vectors(given["words"], np.load(folder / "vectors.npy"))
    model = WordEmbeddingModel(keyed, "glove")
    both = Query([MALE, FEMALE], [CAREER, FAMILY])
    single = Query([MALE, FEMALE], [CAREER])
    p = {"calculate_p_value": True, "p_value_iterations": TIMED}
    works: dict[str, Callable[[], Any]] = {
        "weat": lambda: WEAT().run_query(both, model, return_effect_size=True),
        "weat-p": lambda: WEAT().run_query(both, model, return_effect_size=True, **p),
        "mac": lambda: MAC().run_query(both, model),
        "ripa": lambda: RIPA().run_query(single, model),
        "rnd": lambda: RND().run_query(single, model),
        "ect": lambda: ECT().run_query(single, model),
    }
    ran_words = given["words"][RAN_WORDS]
    about = {w for members in [*given["pairs"], *given["equalize"]] for w in members}
    about |= set(given["specific"])
    works |= {
        "hard-debias": lambda: (
            HardDebias()
            .fit(model, given["pairs"], given["equalize"])
            .transform(model, ignore=given["specific"], copy=True)
        ),
        "multiclass-hard-debias": lambda: (
            MulticlassHardDebias()
            .fit(model, given["sets"], given["equalize_sets"])
            .transform(model, copy=True)
        ),
        "double-hard-debias": lambda: (
            DoubleHardDebias()
            .fit(model, given["pairs"], ["he", "she"])
            .transform(model, ignore=given["specific"], copy=True)
        ),
        "half-sibling-regression": lambda: (
            HalfSiblingRegression().fit(model, sorted(about)).transform(model, copy=True)
        ),
        "ran": lambda: (
            RepulsionAttractionNeutralization()
            .fit(model, given["pairs"])
            .transform(model, target=ran_words, copy=True)
        ),
    }
    per = {"ran": len(ran_words), "weat-p": TIMED / DRAWS}
    return {
        name: by_call(works[name]) if name in CALLED else once(works[name], per.get(name, 1))
        for name in names
    }


PEERS = {"harness": harness, "wefe": wefe}

if __name__ == "__main__":
    main()
