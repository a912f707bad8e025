"""`harness analogies`: the command line of `analogies`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.arrays import Vectors
    from harness.embedder import Embedder
    from harness.registry.registry import Registry

    from .analogies import Analogy, Equation, Words
    from .statistics.analogy_search import Repeats

SCORES = {"1": "cosine", "2": "distance"}
"""What the score of an equation is."""


@click.command("analogies")
@click.argument("first")
@click.argument("second")
@click.argument("word", required=False)
@arguments.model("Word embedder: a registered name, or provider:reference.")
@click.option(
    "--mitigator",
    "-M",
    "mitigators",
    multiple=True,
    default=("none",),
    show_default=True,
    help="Mitigator, such as hard-debias?k=2; + makes a chain; repeatable.",
    shell_complete=arguments.complete("mitigator"),
)
@click.option(
    "--equation",
    type=click.Choice(["1", "2", "both"]),
    default="1",
    show_default=True,
    help="1: parallel to the seeds within delta; 2: nearest to their difference; both: the first "
    "analogies of each that the other does not have among its first 100.",
)
@click.option(
    "--delta",
    type=click.FloatRange(min=0, max=2, min_open=True),
    default=1.0,
    show_default=True,
    help="Largest distance of the two words of an analogy, at length 1; for equation 1.",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Number of analogies, or of answers.")  # fmt: skip
@click.option(
    "--unique",
    type=click.Choice(["both", "first"]),
    default="both",
    show_default=True,
    help="Where a word stands at most once: on both sides, or on the first, as published.",
)
@click.option(
    "--words",
    "size",
    type=click.IntRange(min=2),
    default=30_000,
    show_default=True,
    help="Number of most frequent lower-case words to search.",
)
@click.option(
    "--neutral", is_flag=True, help="Leave out the words that the concept lists as its own."
)
@arguments.concept("Concept of the mitigators, and of --neutral.")
@arguments.include
@arguments.as_json
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """List the analogies of two words, or complete one.

    FIRST : x :: SECOND : y. Without WORD, the pairs x, y whose difference is most like that of
    FIRST and SECOND (Bolukbasi et al. 2016, equation 1). With WORD as x, the best y by three
    methods.

    \b
    harness analogies she he --model glove-6b-50d
    harness analogies he she doctor --model glove-6b-50d --mitigator none --mitigator hard-debias
    """  # noqa: D301  # click keeps the lines after a backspace
    for name in ("equation", "unique"):
        typed = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if typed and options["word"] is not None:
            raise click.UsageError(f"--{name} is for the list of pairs, without WORD", ctx)
    run(Options(**options))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the command, as click parses them; `--help` describes each."""

    first: str
    second: str
    word: str | None
    model: str
    mitigators: tuple[str, ...]
    equation: str
    delta: float
    top: int
    unique: Repeats
    size: int
    neutral: bool
    concept: str
    include: tuple[Path, ...]
    as_json: bool


def run(options: Options) -> None:
    """Search under each mitigator and print the result."""
    from harness.commands import output
    from harness.registry.registry import Registry

    registry = Registry(include=options.include)
    embedder = registry.embedder(options.model)
    name = embedder.info.name
    searched = _searched(options, registry, embedder)
    results = {label: _found(options, words, word) for label, words, word in searched}
    if options.as_json:
        asked = {"first": options.first, "second": options.second, "word": options.word}
        parts = [
            {"mitigator": label}
            | {method: [asdict(analogy) for analogy in listed] for method, listed in found.items()}
            for label, found in results.items()
        ]
        output.as_json({"model": name, **asked, "results": parts})
        return
    for label, found in results.items():
        title = f"{name}, {label}: {_question(options)}"
        columns, rows = _table(options, found)
        if rows:
            output.table(columns, rows, title=title)
        else:
            echo(f"{title}: none was found")


def _searched(
    options: Options, registry: Registry, embedder: Embedder
) -> Iterator[tuple[str, Words, Vectors | None]]:
    """Yield the label of each mitigator, the words under it, and the vector of WORD."""
    from harness.chain import MitigatedEmbedder
    from harness.errors import UsageError
    from harness.run import debiasing, plan

    from . import analogies

    chains = plan.chains(plan.rows(options.mitigators), registry)
    name = arguments.concept_or_none(options.concept)
    concept = registry.concept(name) if name else None
    if options.neutral and concept is None:
        raise UsageError("--neutral needs a concept, whose words it leaves out")
    leave_out = analogies.specific_words(concept) if concept and options.neutral else ()
    for label, chain in chains.items():
        fitted_on = debiasing.concept_for(chain, label, embedder.info, concept)
        chain.fit(embedder, fitted_on)
        mitigated = MitigatedEmbedder(embedder, chain)
        seeds = options.first, options.second
        words = analogies.words_of(mitigated, seeds, size=options.size, leave_out=leave_out)
        asked = analogies.vectors_of(mitigated, [options.word])[0] if options.word else None
        yield label, words, asked


def _found(options: Options, words: Words, asked: Vectors | None) -> dict[str, list[Analogy]]:
    """Return the analogies by the equation or method that finds them."""
    delta, top = options.delta, options.top
    if options.word and asked is not None:
        return words.answers(options.word, asked, delta=delta, top=top)
    if options.equation == "both":
        own = words.of_one_only(delta=delta, top=top, unique=options.unique)
        return {f"equation {equation}": listed for equation, listed in own.items()}
    equation: Equation = 1 if options.equation == "1" else 2
    pairs = words.pairs(equation, delta=delta, top=top, unique=options.unique)
    return {f"equation {equation}": pairs}


def _table(
    options: Options, found: dict[str, list[Analogy]]
) -> tuple[list[str], list[Sequence[Any]]]:
    """Return columns and rows: the two words and the score, or a column for each method."""
    if len(found) == 1:
        (listed,) = found.values()
        rows: list[Sequence[Any]] = [
            (place, analogy.first, analogy.second, analogy.score)
            for place, analogy in enumerate(listed, start=1)
        ]
        return ["place", options.first, options.second, SCORES[options.equation]], rows
    cells = [
        [a.second if options.word else f"{a.first} : {a.second}" for a in listed]
        for listed in found.values()
    ]
    lines = itertools.zip_longest(*cells)
    return ["place", *found], [(place, *line) for place, line in enumerate(lines, start=1)]


def _question(options: Options) -> str:
    asked = (options.word, "?") if options.word else ("x", "y")
    return f"{options.first} : {asked[0]} :: {options.second} : {asked[1]}"
