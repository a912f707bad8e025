"""Metrics and mitigators on GloVe 6B 50d, compared with WEFE 1.0.1.

    OMP_NUM_THREADS=1 python perf/wefe.py [--wefe-python PYTHON] [--only NAME …] [--repeat 3]
        [--keep NAME]

WEFE is optional. It needs its own environment (torch is only for RAN):

    python -m venv wefe-env && wefe-env/bin/pip install wefe==1.0.1 torch
    OMP_NUM_THREADS=1 python perf/wefe.py --wefe-python wefe-env/bin/python

Both get the same words and vectors, and have them in memory before timing starts. A metric is one
call from words to its number, without an interval, which WEFE has not: with the floor that a user
gets, and without it, which is what WEFE computes. A mitigator is fitted and then transforms the
vectors of all 400,000 words without changing the model: WEFE copies the model (`copy=True`, its
default), the harness writes blocks to a new array. RAN is timed by the word, and 200 of the 10,000
draws of WEFE's p-value are timed. Each mitigator runs in a new process, whose peak memory is
reported.

`limit` is a lower bound of the time. For mitigators of the whole vocabulary it is one copy of its
vectors; for the others it is the number of their multiplications at the speed of a matrix product.
Both speeds are measured here. `x limit` is the time of the harness divided by this bound.
`--keep NAME` writes the figures to `perf/NAME.json`, for the page of speed.
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
"""Draws of WEFE's p-value, and the number that is timed: all draws are the same work."""
STATISTICS = "plugins/metrics/statistics"
WITH_FLOOR = ("weat", "ripa", "rnd")
CALLED = ("weat", "mac", "ripa", "rnd", "ect")
METRICS = ("weat", "weat-p", "mac", "ripa", "rnd", "ect")
MITIGATORS = ("hard-debias", "multiclass-hard-debias", "double-hard-debias",
              "half-sibling-regression", "ran")  # fmt: skip
CALLS_FOR, RUNS = 0.1, 5
"""Calls of a metric are repeated for this many CPU seconds, in this many runs. The fastest run
counts, as in `timeit`, because other work of the machine can only add time."""
N, D = 400_000, 50
# Multiplications that every implementation needs: cosines of 16 targets with 16 attributes; for p
# the sums of 12,870 partitions of 16; for RAN 400,000 cosines and the mean of at most 100
# neighbours.
MULTIPLICATIONS = {
    "weat": 16 * 16 * D, "weat-p": 16 * 16 * D + 12_870 * 16, "mac": 16 * 16 * D,
    "ripa": 8 * 8 * D, "rnd": 2 * 8 * D, "ect": 2 * 8 * D, "ran": N * D + 100 * D,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wefe-python", help="a Python that has wefe 1.0.1")
    parser.add_argument("--only", nargs="+", choices=[*METRICS, *MITIGATORS], metavar="NAME")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--keep", metavar="NAME", help="write perf/NAME.json")
    parser.add_argument("--peer", choices=["harness", "wefe"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        print(json.dumps(PEERS[args.peer](args.folder, args.only)))
        return
    names = args.only or [*METRICS, *MITIGATORS]
    metrics = [name for name in names if name in METRICS]
    works = [metrics] * bool(metrics) + [[name] for name in names if name in MITIGATORS]
    pythons = {"harness": sys.executable}
    if args.wefe_python:
        pythons["wefe"] = args.wefe_python
    with tempfile.TemporaryDirectory() as name:
        write_inputs(Path(name))
        copy, rate = limits()
        print(f"a copy of {N:,} x {D} float32 takes {copy * 1e3:.0f} ms "
              f"({2 * 4 * N * D / copy / 1e9:.1f} GB/s read and written); "
              f"a matrix product does {rate / 1e9:.1f}e9 multiplications/s")  # fmt: skip
        print(f"medians of {args.repeat} turns, CPU seconds, range of the ratios in brackets\n")
        print(f"| {' | '.join(COLUMNS)} |\n| --- |{' ---: |' * (len(COLUMNS) - 1)}")
        rows = []
        for work in works:
            results: dict[str, dict[str, list[dict[str, float]]]] = {}
            for _ in range(args.repeat):
                for peer, python in pythons.items():  # in turns: both have the same load
                    for key, usage in run(python, peer, Path(name), work).items():
                        results.setdefault(key, {}).setdefault(peer, []).append(usage)
            for key, peers in results.items():
                limit = MULTIPLICATIONS[key] / rate if key in MULTIPLICATIONS else copy
                rows.append(row(key, peers["harness"], peers.get("wefe"), limit))
                print(f"| {' | '.join(rows[-1].values())} |", flush=True)
    if args.keep:
        keep(args.keep, rows)
    if "wefe" not in pythons:
        print("(WEFE was not measured; its installation is described at the top of this file)")


COLUMNS = (
    "work", "harness, CPU s", "without floor, CPU s", "WEFE, CPU s", "WEFE / harness",
    "WEFE / without floor", "peak MB, harness / WEFE", "limit, s", "x limit",
)  # fmt: skip


def row(
    name: str,
    ours: list[dict[str, float]],
    theirs: list[dict[str, float]] | None,
    limit: float,
) -> dict[str, str]:
    """Return the cells of a work, by column."""
    cpu = median(usage["cpu"] for usage in ours)
    peaks = [f"{median(usage['peak'] for usage in ours) / 1e6:.0f}"]
    cells = dict.fromkeys(COLUMNS, "")
    cells |= {"work": name, "harness, CPU s": f"{cpu:.3g}"}
    if "bare" in ours[0]:
        cells["without floor, CPU s"] = f"{median(usage['bare'] for usage in ours):.3g}"
    if theirs:
        cells["WEFE, CPU s"] = f"{median(usage['cpu'] for usage in theirs):.3g}"
        for key, column in (("cpu", "WEFE / harness"), ("bare", "WEFE / without floor")):
            if key in ours[0]:
                ratios = [b["cpu"] / a[key] for a, b in zip(ours, theirs, strict=True)]
                range_ = f"{min(ratios):,.1f} to {max(ratios):,.1f}"
                cells[column] = f"{median(ratios):,.1f} ({range_})"
        peaks.append(f"{median(usage['peak'] for usage in theirs) / 1e6:.0f}")
    cells["peak MB, harness / WEFE"] = " / ".join(peaks)
    return cells | {"limit, s": f"{limit:.2g}", "x limit": f"{cpu / limit:,.0f}"}


def run(python: str, peer: str, folder: Path, work: list[str]) -> dict[str, dict[str, float]]:
    # -P: otherwise `import wefe` would import this file.
    command = [python, "-P", __file__, "--peer", peer, "--folder", str(folder), "--only", *work]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if process.returncode:
        sys.exit(f"{peer}: {process.stderr}")
    result: dict[str, dict[str, float]] = json.loads(process.stdout.splitlines()[-1])
    return result


def write_inputs(folder: Path) -> None:
    """Write the inputs of both: vectors, words, and the sets of the concepts."""
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


def keep(name: str, rows: list[dict[str, str]]) -> None:
    """Write the figures for the page of speed."""
    import timing  # a peer has no such module on its path

    mitigators = "plugins/mitigators"
    timing.keep(
        Path(__file__).with_name(f"{name}.json"),
        title="Metrics and mitigators on GloVe 6B 50d, against WEFE 1.0.1",
        command="OMP_NUM_THREADS=1 python perf/wefe.py --wefe-python "
        f"wefe-env/bin/python --keep {name}",
        rows=rows,
        code={
            row["work"]: [mitigators]
            if row["work"] in MITIGATORS
            else [f"plugins/metrics/{row['work'].partition('-')[0]}.py", STATISTICS]
            for row in rows
        },
    )


def limits() -> tuple[float, float]:
    """Return the seconds of a copy of the vectors, and the multiplications/s of a product."""
    source = np.random.default_rng(0).standard_normal((N, D), dtype=np.float32)
    target = np.empty_like(source)
    square = source[:1000, :].repeat(20, axis=1)

    def best(work: Callable[[], Any]) -> float:
        seconds = []
        for _ in range(5):
            started = time.process_time()
            work()
            seconds.append(time.process_time() - started)
        return min(seconds)

    return best(lambda: np.copyto(target, source)), 1000**3 / best(lambda: square @ square)


def by_call(work: Callable[[], Any]) -> dict[str, float]:
    """Call a short function repeatedly, and return the usage of one call."""
    work()
    runs = []
    for _ in range(RUNS):
        calls, started = 0, time.process_time()
        while time.process_time() - started < CALLS_FOR:
            work()
            calls += 1
        runs.append((time.process_time() - started) / calls)
    return usage_of(min(runs), 1)


def once(work: Callable[[], Any], per: float = 1) -> dict[str, float]:
    """Call a long function once, and return the usage of each of its `per` parts."""
    started = time.process_time()
    work()
    return usage_of(time.process_time() - started, per)


def usage_of(seconds: float, per: float) -> dict[str, float]:
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"cpu": seconds / per, "peak": peak}


def harness(folder: Path, names: list[str]) -> dict[str, dict[str, float]]:
    for module in ("scipy.linalg.blas", "sklearn.cluster"):
        importlib.import_module(module)  # functions import it later; WEFE imports it at its start

    from harness.embedder import vocabulary_of
    from harness.plugins.embedders.vectors.word_vectors import WordVectors
    from harness.registry.registry import Registry

    registry = Registry()
    vocabulary = json.loads((folder / "words.json").read_text())["words"]
    model = WordVectors.of(vocabulary, np.load(folder / "vectors.npy"))
    model.encode(["the"])  # the first look-up builds the index, which gensim builds on loading
    rng = np.random.default_rng(0)
    plain = {"resamples": 0, "rng": rng}
    no_test = {"exact_limit": 0, "permutations": 1}

    def measured(name: str, *sets: list[str], **options: Any) -> Callable[..., Any]:
        function = registry.metric(name).function
        return lambda **more: function(*map(model.encode, sets), **plain, **options, **more)

    works = {
        "weat": measured("weat", MALE, FEMALE, CAREER, FAMILY, **no_test),
        "weat-p": measured("weat", MALE, FEMALE, CAREER, FAMILY),
        "mac": measured("mac", MALE, CAREER, FEMALE, FAMILY),
        "ripa": measured("ripa", MALE, FEMALE, CAREER),
        "rnd": measured("rnd", MALE, FEMALE, CAREER),
        "ect": measured("ect", MALE, FEMALE, CAREER),
    }
    options = {"double-hard-debias": "?n_words=1000&n_components=4"}  # WEFE's defaults

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
        # Made, and so imported, before timing starts.
        mitigator = registry.mitigator(name + options.get(name, "")).mitigators[0]
        concept = registry.concept("religion" if name.startswith("multi") else "gender")
        if name == "ran":
            return once(lambda: repelled(mitigator, concept), RAN_WORDS.stop - RAN_WORDS.start)
        return once(lambda: debiased(mitigator, concept))

    def short(name: str) -> dict[str, float]:
        usage = by_call(works[name])
        if name in WITH_FLOOR:
            usage["bare"] = by_call(lambda: works[name](null_draws=0))["cpu"]
        return usage

    return {name: short(name) if name in works else long(name) for name in names}


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
    from wefe.metrics import ECT, MAC, RIPA, RND, WEAT
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    inputs = json.loads((folder / "words.json").read_text())
    keyed = KeyedVectors(D)
    keyed.add_vectors(inputs["words"], np.load(folder / "vectors.npy"))
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
    ran_words = inputs["words"][RAN_WORDS]
    gender_words = {w for members in [*inputs["pairs"], *inputs["equalize"]] for w in members}
    gender_words |= set(inputs["specific"])
    works |= {
        "hard-debias": lambda: (
            HardDebias()
            .fit(model, inputs["pairs"], inputs["equalize"])
            .transform(model, ignore=inputs["specific"], copy=True)
        ),
        "multiclass-hard-debias": lambda: (
            MulticlassHardDebias()
            .fit(model, inputs["sets"], inputs["equalize_sets"])
            .transform(model, copy=True)
        ),
        "double-hard-debias": lambda: (
            DoubleHardDebias()
            .fit(model, inputs["pairs"], ["he", "she"])
            .transform(model, ignore=inputs["specific"], copy=True)
        ),
        "half-sibling-regression": lambda: (
            HalfSiblingRegression().fit(model, sorted(gender_words)).transform(model, copy=True)
        ),
        "ran": lambda: (
            RepulsionAttractionNeutralization()
            .fit(model, inputs["pairs"])
            .transform(model, target=ran_words, copy=True)
        ),
    }
    if "ran" in names:  # the only one that needs torch
        from wefe.debias.repulsion_attraction_neutralization import (
            RepulsionAttractionNeutralization,
        )
    per = {"ran": len(ran_words), "weat-p": TIMED / DRAWS}
    return {
        name: by_call(works[name]) if name in CALLED else once(works[name], per.get(name, 1))
        for name in names
    }


PEERS = {"harness": harness, "wefe": wefe}

if __name__ == "__main__":
    main()
