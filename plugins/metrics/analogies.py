"""`harness analogies`: analogies a : x :: b : y of two seed words in a model, without ratings."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.concept import Concept
    from harness.embedder import Embedder

Found: TypeAlias = "dict[str, list[tuple[str, str, float]]]"
"""The words x and y and their score, best first, by the equation or method that finds them."""


@click.command("analogies")
@click.argument("first")
@click.argument("second")
@click.argument("word", required=False)
@arguments.model("Word embedder: a registered name, or provider:reference.")
@click.option("--mitigator", "-M", "mitigators", multiple=True, default=("none",),
              show_default=True, shell_complete=arguments.complete("mitigator"),
              help="Mitigator, such as hard-debias?k=2; + makes a chain; repeatable.")  # fmt: skip
@click.option("--equation", type=click.Choice(["1", "2", "both"]), default="1", show_default=True,
              help="1: parallel to the seeds within delta; 2: nearest to their difference; both: "
              "those among the first 100 of one that the other lacks there.")  # fmt: skip
@click.option("--delta", type=click.FloatRange(0, 2, min_open=True), default=1.0, show_default=True,
              help="Largest distance of x and y at length 1, for equation 1.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Number of analogies, or of answers.")  # fmt: skip
@click.option("--neutral", is_flag=True, help="Leave out the words of the concept.")
@arguments.concept("Concept of the mitigators, and of --neutral.")
def command(first: str, second: str, word: str | None, **options: Any) -> None:
    """List the analogies of two words, or complete one.

    FIRST : x :: SECOND : y. Without WORD, the pairs x, y whose difference is most like that of
    FIRST and SECOND (Bolukbasi et al. 2016). With WORD as x, the best y by 3CosAdd and 3CosMul.
    """
    from harness.chain import MitigatedEmbedder
    from harness.commands import output
    from harness.registry.registry import Registry
    from harness.run import debiasing, plan

    registry = Registry()
    embedder, concept = registry.embedder(options["model"]), registry.concept(options["concept"])
    left_out = words_of(concept) if options["neutral"] else ()
    search = {name: options[name] for name in ("equation", "delta", "top")}
    for label, chain in plan.chains(plan.rows(options["mitigators"]), registry).items():
        chain.fit(embedder, debiasing.concept_for(chain, label, embedder.info, concept))
        mitigated = MitigatedEmbedder(embedder, chain)
        for method, pairs in found(mitigated, (first, second), word, left_out, **search).items():
            rows = [(place, *pair) for place, pair in enumerate(pairs, start=1)]
            title = f"{embedder.info.name}, {label}: {method}"
            if rows:
                output.table(["place", first, second, "score"], rows, title=title)
            else:
                echo(f"{title}: none was found")


def found(embedder: Embedder, seeds: tuple[str, str], word: str | None = None,
          left_out: Collection[str] = (), *, equation: str = "1", delta: float = 1.0,
          top: int = 20, size: int = 30_000) -> Found:  # fmt: skip
    """Search the `size` most frequent words, but those in `left_out`; options as of the command.

    As in the paper, words are lower-case, have letters only and fewer than 20 characters; `_` joins
    the words of a phrase. `UnknownName` if the embedder lacks a seed or the word.
    """
    import numpy as np

    from harness.arrays import unit_rows
    from harness.embedder import vocabulary_of
    from harness.errors import NotApplicable, UnknownName

    from .statistics.analogy_search import distinct_rows, find_pairs, find_parallelograms
    from .word_analogies import EPSILON

    known = vocabulary_of(embedder).words
    fit = (w for w in known if len(w) < 20 and w == w.lower() and w.replace("_", "").isalpha())
    words = [w for w in itertools.islice(fit, size) if w not in left_out]
    vectors, asked = embedder.encode(words), (*seeds, *([word] if word else []))
    of_asked = embedder.encode(asked)
    for name, row in zip(asked, of_asked, strict=True):
        if not (np.isfinite(row).all() and row.any()):
            raise UnknownName("word", name, known[:50_000], hint=f" ({embedder.info.name})")
    distinct = distinct_rows(vectors)
    words, units = [words[i] for i in distinct], unit_rows(vectors[distinct])
    a, b, x = unit_rows(of_asked[[0, 1, -1]])
    if not (a - b).any():
        raise NotApplicable(f"'{seeds[0]}' and '{seeds[1]}' have equal vectors")
    if word:
        of_a, of_b, of_x = units @ a, units @ b, units @ x
        product = (1 + of_x) / 2 * (1 + of_b) / 2 / ((1 + of_a) / 2 + EPSILON)
        is_asked = np.isin([w.lower() for w in words], [w.lower() for w in asked])
        answers: Found = {}
        for method, scores in (("3CosAdd", of_x - of_a + of_b), ("3CosMul", product)):
            order = [i for i in np.argsort(-scores, kind="stable") if not is_asked[i]]
            answers[method] = [(word, words[i], float(scores[i])) for i in order[:top]]
        return answers
    n, direction = 100 if equation == "both" else top, (a - b) / np.linalg.norm(a - b)
    places = {w: i for i, w in enumerate(words)}
    rows = places.get(seeds[0]), places.get(seeds[1])
    listed: Found = {}
    for name in "21" if equation == "both" else equation:
        best = (
            find_pairs(units, direction, delta=delta, top=n, repeats="both")
            if name == "1"
            else find_parallelograms(units, a - b, top=n, repeats="both", seeds=rows)
        )
        pairs = zip(best.first, best.second, best.scores, strict=True)
        listed[f"equation {name}"] = [(words[i], words[j], float(score)) for i, j, score in pairs]
    counts = Counter(pair[:2] for pairs in listed.values() for pair in pairs)
    return {name: [p for p in pairs if counts[p[:2]] == 1][:top] for name, pairs in listed.items()}


def words_of(concept: Concept) -> set[str]:
    """Return the words that a concept lists as its own, in lower case."""
    pairs = (*concept.definitional_pairs, *concept.equalize_sets)
    return {word.lower() for word in (*concept.specific_words, *itertools.chain(*pairs))}
