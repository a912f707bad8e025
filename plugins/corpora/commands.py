"""`harness corpus`: score corpora, and make fairer ones.

Reads the options and prints the results; `fair_corpora` does the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments
from harness.errors import InvalidOption
from harness.plugins.corpora import score_command
from harness.plugins.corpora.score_command import ScoringOptions

if TYPE_CHECKING:
    from harness.plugins.corpora.fair_corpora import FairCorpus, Method
    from harness.plugins.corpora.scored_corpus import ScoredCorpus
    from harness.plugins.texts.swapping import Tagger
    from harness.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])
SCORES, FIGURE = "scored.jsonl", "scores.html"
SCORING_OPTIONS = frozenset(field.name for field in fields(ScoringOptions)) - {
    "source",
    "kind",  # also of --dev and --test
    "include",
}
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group("corpus")
def command() -> None:
    """Score the gender bias of corpora, and make fairer ones."""


command.add_command(score_command.command)


def _numbers(
    ctx: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> list[Fraction]:
    """Return the numbers of an option that is repeatable or has commas, each once."""
    parts = [part for text in texts for part in text.split(",")]
    expected = "expected numbers with commas between"
    return list(dict.fromkeys(_number(parameter, part, expected) for part in parts))


def _size(ctx: click.Context, parameter: click.Parameter, text: str) -> Fraction:
    return _number(parameter, text, "expected a number of entries, or a fraction such as 0.1")


def _number(parameter: click.Parameter, text: str, expected: str) -> Fraction:
    try:
        if math.isfinite(float(text)):
            return Fraction(text.strip())
    except ValueError:
        pass
    raise InvalidOption(f"{parameter.opts[0]} {text or repr(text)}: {expected}")


def making_options(function: F) -> F:
    """Add the options that `subtract` and `augment` share."""
    options = [
        click.option(
            "--input",
            "-i",
            "source",
            required=True,
            help="File of scores that harness corpus score wrote; with --model, a corpus.",
        ),
        click.option(
            "--model",
            "-m",
            help="Score the corpus first, with this text encoder or word vectors.",
            shell_complete=arguments.complete("model"),
        ),
        click.option(
            "--percentile",
            "-p",
            "percentiles",
            multiple=True,
            default=["90,93,95,97"],
            show_default="90,93,95,97",
            callback=_numbers,
            help="Percentiles of the scores, with commas between; a corpus is made for each. 100 "
            "leaves the corpus as it is.",
        ),
        click.option(
            "--out",
            "-o",
            type=click.Path(path_type=Path, file_okay=False),
            required=True,
            help="Folder of the corpora, such as OUT/sub90.",
        ),
        click.option(
            "--holdout",
            default="10000",
            show_default=True,
            callback=_size,
            help="Size of the parts to develop and to test, each: a number of entries, or a "
            "fraction such as 0.1.",
        ),
        click.option("--dev", type=_FILE, help="Part to develop; then all entries are to train."),
        click.option("--test", type=_FILE, help="Part to test; goes with --dev."),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of the order, of the parts, and of ties at a percentile.",
        ),
        score_command.scoring_options,
        click.option("--overwrite", is_flag=True, help="Make again what is there."),
        arguments.as_json,
    ]
    for option in reversed(options):
        function = option(function)
    return function


@command.command("subtract")
@making_options
def subtract(**options: Any) -> None:
    """Remove the most biased entries of a corpus.

    Each percentile gives a corpus of its own. The share that is removed is exact: 10 % at the 90th
    percentile. Entries without a score, whose words the model does not know, stay. A run that was
    stopped continues.

    \b
    harness corpus subtract -i scored.jsonl -p 90,95 -o corpora
    harness corpus subtract -i snli.jsonl -m glove-6b-50d -o corpora
    """  # noqa: D301  # click keeps the lines after a backspace
    run("subtract", Options(**options))


@command.command("augment")
@making_options
@click.option(
    "--tagger",
    type=click.Choice(["spacy", "rule"]),
    default="spacy",
    show_default=True,
    help="How to tell her (him) from her (his), and people from places and words: by a spaCy model,"
    " or by rule.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Number of swapped pairs to print.",
)
def augment(**options: Any) -> None:
    """Add the most biased entries again, with genders swapped.

    Each percentile gives a corpus of its own. Words and first names of one gender become their
    counterparts of the other; a name becomes one that is as popular. An entry without such a word
    is not added. A run that was stopped continues.

    \b
    harness corpus augment -i scored.jsonl -p 90,95 -o corpora
    """  # noqa: D301  # click keeps the lines after a backspace
    run("augment", Options(**options))


@dataclass(frozen=True, kw_only=True)
class Options(ScoringOptions):
    """The options of `subtract` and `augment`, as click parses them; `--help` describes each."""

    model: str | None
    percentiles: Sequence[Fraction]
    out: Path
    holdout: Fraction
    dev: Path | None
    test: Path | None
    seed: int
    overwrite: bool
    as_json: bool
    tagger: Tagger = "spacy"
    examples: int = 0


def run(method: Method, options: Options) -> None:
    """Make the corpora, and print their counts and examples of swaps."""
    from harness import progress
    from harness.plugins.corpora import fair_corpora, report
    from harness.plugins.corpora.scored_corpus import ScoredCorpus
    from harness.plugins.corpora.splits import Splits
    from harness.plugins.corpora.swaps import Swaps

    if options.model is None:
        _reject_scoring_options()
    recipe = fair_corpora.Recipe(
        method=method,
        percentiles=options.percentiles,
        splits=Splits(
            holdout=options.holdout, dev=options.dev, test=options.test, seed=options.seed
        ),
        tagger=options.tagger,
        kind=options.kind,
    )
    shown = progress.for_terminal()
    corpus = ScoredCorpus(_scores(options, shown), shown)
    corpora = fair_corpora.make(
        corpus, recipe, options.out, overwrite=options.overwrite, progress=shown
    )
    figure = _draw(corpus, corpora, options.out / FIGURE)
    swaps = Swaps(options.out / fair_corpora.SWAPS) if method == "augment" else None
    examples = swaps.examples(options.examples, options.seed) if swaps else []
    if options.as_json:
        report.as_json(corpora, figure, examples)
    else:
        report.tables(method, corpora, figure, examples)


def _reject_scoring_options() -> None:
    """Refuse the options that say how to score a corpus, where no model scores it."""
    ctx = click.get_current_context()
    for parameter in ctx.command.params:
        name = str(parameter.name)
        typed = ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if typed and name in SCORING_OPTIONS:
            raise InvalidOption(
                f"{parameter.opts[0]} is about scoring: it needs --model, because without it "
                "--input has scores already"
            )


def _scores(options: Options, progress: Progress) -> Path:
    """Return the file of scores, after scoring the corpus if there is a model."""
    if options.model is None:
        return Path(options.source)
    from harness.plugins.corpora import auto_scoring
    from harness.registry.registry import Registry

    registry = Registry(include=options.include)
    path = options.out / SCORES
    auto_scoring.score_once(
        registry.embedder(options.model),
        registry.concept(options.concept),
        options.corpus(),
        path,
        options.method(registry),
        overwrite=options.overwrite,
        progress=progress,
    )
    return path


def _draw(corpus: ScoredCorpus, corpora: Sequence[FairCorpus], path: Path) -> Path:
    """Write the distribution of the scores as a page."""
    from harness.plugins.corpora.histogram import histogram
    from harness.results import figures

    thresholds = {
        f"{fair.about['made_from']['percentile']:g}": fair.about["threshold"]
        for fair in corpora
        if fair.about["threshold"] is not None
    }
    model = escape(str(corpus.about.get("model") or corpus.path.name))
    figures.write(path, histogram(corpus.scores, thresholds, model), "Bias scores of a corpus")
    return path
