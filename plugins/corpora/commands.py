"""`harness corpus`: score corpora, and make fairer ones.

Reads the options and prints the results; `fair_corpora` does the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments, output
from harness.digest import digest
from harness.errors import InvalidOption
from harness.printing import echo
from harness.progress import Progress

if TYPE_CHECKING:
    from harness.concept import Concept
    from harness.embedder import Embedder
    from harness.registry.registry import Registry

    from ..bias_score.method import Method as ScoringMethod
    from ..bias_score.scorer import Importance
    from ..texts.swapping import Tagger
    from .entries import Kind
    from .fair_corpora import FairCorpus, Method
    from .scoring import Corpus, CorpusScores, ScoredCorpus


# `harness corpus score`: the command line of the bias score of a corpus.
#
# Reads the options and prints the result; `scoring` does the work.


F = TypeVar("F", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


def scoring_options(function: F) -> F:
    """Add the options that say how a corpus is read and how its sentences are scored."""
    options = [
        click.option(
            "--format",
            "kind",
            type=click.Choice(["jsonl", "tsv", "text", "snli", "multinli", "stsb"]),
            help="Format of the corpus.  [default: by the file extension; text for standard input]",
        ),
        click.option(
            "--text-key",
            "-k",
            "keys",
            multiple=True,
            help="Key or column that holds sentences; a column number, from 1, if the table has no "
            "header; repeatable: the sentences of one row are scored together.  [default: premise "
            "and hypothesis, sentence1 and sentence2, or text]",
        ),
        click.option(
            "--split",
            default="train",
            show_default=True,
            help="Split of a data set of the hub; several are joined by +.",
        ),
        click.option(
            "--importance",
            type=click.Choice(["max", "mean", "mean-raw", "uniform"]),
            help="Weight of each word.  [default: by the pooling of the encoder]",
        ),
        click.option(
            "--direction",
            help="Source of the gender direction: sentences (125 built-in pairs), pairs (the "
            "concept's definitional pairs), or a file of sentences, each paired with its "
            "gender-swapped version.  [default: pairs for word vectors, else sentences]",
        ),
        click.option(
            "--word-vectors",
            help="Word embedder that gives the vectors of words, such as GloVe for InferSent.  "
            "[default: mean of the word's token states]",
            shell_complete=arguments.complete("model"),
        ),
        arguments.concept("Concept with the definitional pairs and the gendered words."),
        click.option(
            "--gendered-words",
            type=_FILE,
            multiple=True,
            help="File of further gendered words, which do not count as bias: one per line, or a "
            "JSON array; repeatable.",
        ),
        click.option(
            "--names",
            type=_FILE,
            multiple=True,
            help="File of given names, which do not count as bias: name,sex,count per line; the "
            "5,765 most frequent are used; repeatable.",
        ),
        click.option(
            "--long-list",
            is_flag=True,
            help="Also leave out the 409 words of GN-GloVe and the 5,765 most frequent given names "
            "of the USA, which are shipped.",
        ),
        arguments.include,
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command("score")
@arguments.model("Text encoder that gives token states, or word vectors.")
@click.option(
    "--input",
    "-i",
    "source",
    required=True,
    help="Corpus in UTF-8: .jsonl, .tsv, .txt, - for standard input, or hf://owner/name[@revision]"
    " for a data set of the Hugging Face hub.",
)
@arguments.out("JSON-lines file of scores to write; it appears when it is complete.")
@scoring_options
@click.option("--words", "with_words", is_flag=True, help="Write the contribution of each word.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of most biased sentences to print for each side, and of pairs.",
)
@arguments.overwrite
@arguments.as_json
def score_command(**options: Any) -> None:
    """Score the gender bias of each sentence of a corpus of any size.

    bias_f is positive: bias towards women. bias_m is negative: bias towards men. abs is the sum of
    the words' absolute values; a pair has the larger one of its sentences. Fair is 0. Token states
    are not stored: a second run encodes the sentences again. A run that was stopped continues.

    \b
    harness corpus score -m all-MiniLM-L6-v2 -i snli.jsonl -o scored.jsonl
    harness corpus score -m glove-6b-50d -i hf://stanfordnlp/snli -o scored.jsonl
    """  # noqa: D301  # click keeps the lines after a backspace
    run_score(ScoreOptions(**options))


@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """The options of `scoring_options`, as click parses them; `--help` describes each."""

    source: str
    kind: Kind | None
    keys: tuple[str, ...]
    split: str
    importance: Importance | None
    direction: str | None
    word_vectors: str | None
    concept: str
    gendered_words: tuple[Path, ...]
    names: tuple[Path, ...]
    long_list: bool
    include: tuple[Path, ...]

    def corpus(self) -> Corpus:
        """Return the corpus to read."""
        from . import entries, scoring

        kind = self.kind or entries.format_of(self.source)
        return scoring.Corpus(name=self.source, kind=kind, keys=self.keys, split=self.split)

    def method(self, registry: Registry) -> ScoringMethod:
        """Return how sentences are scored."""
        from ..bias_score.method import Method

        return Method(
            importance=self.importance,
            direction=self.direction,
            vectors=registry.embedder(self.word_vectors) if self.word_vectors else None,
            words=self.gendered_words,
            names=self.names,
            long_list=self.long_list,
        )


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(ScoringOptions):
    """The options of the command."""

    model: str
    out: Path
    with_words: bool
    top: int
    overwrite: bool
    as_json: bool


def run_score(options: ScoreOptions) -> None:
    """Score the corpus and print the result."""
    from harness import progress
    from harness.registry.registry import Registry

    from . import scoring

    registry = Registry(include=options.include)
    method = options.method(registry)
    corpus = options.corpus()
    scores = scoring.score_corpus(
        registry.embedder(options.model),
        registry.concept(options.concept),
        corpus,
        scoring.Output(
            path=options.out,
            with_words=options.with_words,
            overwrite=options.overwrite,
        ),
        method,
        top=options.top,
        progress=progress.for_terminal(),
    )
    if options.as_json:
        print_json(scores)
    else:
        print_tables(scores)


def print_json(scores: CorpusScores) -> None:
    """Print the resolved method, the means and the most biased sentences as JSON."""
    method, summary = scores.method, scores.summary
    output.as_json(
        {
            "path": scores.path,
            "entries": summary.entries,
            "sentences": summary.sentences,
            "continued": scores.continued,
            "without_words": summary.without_words,
            "cut": summary.cut,
            "dropped": scores.dropped,
            "sentences_per_second": scores.per_second,
            "importance": method.importance,
            "direction": method.direction_source,
            "direction_pairs": scores.direction.pairs,
            "direction_explained": scores.direction.explained,
            "gendered_words": len(method.gendered.words),
            "names": len(method.gendered.names),
            "mean": summary.means(),
            "top": {
                side: [{"score": score, "text": text} for score, text in sentences]
                for side, sentences in summary.most_biased().items()
            },
            "top_pairs": [
                {"score": score, "texts": texts, "label": label}
                for score, (*texts, label) in summary.most_biased_pairs()
            ],
        }
    )


def print_tables(scores: CorpusScores) -> None:
    """Print the resolved method, then the means and the most biased sentences and pairs."""
    method, summary = scores.method, scores.summary
    echo(
        f"importance: {method.importance}\n"
        f"direction: {method.direction_source} ({output.counted(scores.direction.pairs, 'pair')}, "
        f"{scores.direction.explained:.1%} of their differences explained)\n"
        f"not counted as bias: {len(method.gendered.words)} gendered words, "
        f"{len(method.gendered.names)} names"
    )
    output.table(
        ["sentences", "mean bias_f", "mean bias_m", "mean abs", "no words", "cut", "per second"],
        [[summary.sentences, *summary.means().values(), summary.without_words, summary.cut,
          round(scores.per_second)]],
    )  # fmt: skip
    titles = {"bias_f": "Towards women", "bias_m": "Towards men"}
    for side, sentences in summary.most_biased().items():
        if sentences:
            output.table([side, "sentence"], sentences, title=titles[side], shorten=["sentence"])
    pairs = [
        [score, " / ".join(texts), label] for score, (*texts, label) in summary.most_biased_pairs()
    ]
    if pairs:
        output.table(["abs", "pair", "label"], pairs, title="Most biased pairs", shorten=["pair"])
    for reason, n in scores.dropped.items():
        echo(f"left out: {output.counted(n, 'row')} with {reason}")
    echo(f"wrote {scores.path}")


SCORES, FIGURE = "scored.jsonl", "scores.svg"
SCORING_OPTIONS = frozenset(field.name for field in fields(ScoringOptions)) - {
    "source",
    "kind",  # also of --dev and --test
    "include",
}


@click.group("corpus")
def command() -> None:
    """Score the gender bias of corpora, and make fairer ones."""


command.add_command(score_command)


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
        scoring_options,
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

    from . import fair_corpora
    from .fair_corpora import Splits
    from .scoring import ScoredCorpus

    if options.model is None:
        _reject_scoring_options()
    change = fair_corpora.Change(
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
        corpus, change, options.out, overwrite=options.overwrite, progress=shown
    )
    figure = _draw(corpus, corpora, options.out / FIGURE)
    examples: list[dict[str, Any]] = []
    if method == "augment":
        swaps = options.out / fair_corpora.SWAPS
        examples = fair_corpora.examples(swaps, options.examples, options.seed)
    if options.as_json:
        report_as_json(corpora, figure, examples)
    else:
        report_tables(method, corpora, figure, examples)


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
    from harness.registry.registry import Registry

    registry = Registry(include=options.include)
    path = options.out / SCORES
    score_once(
        registry.embedder(options.model),
        registry.concept(options.concept),
        options.corpus(),
        path,
        options.method(registry),
        overwrite=options.overwrite,
        progress=progress,
    )
    return path


def _draw(corpus: ScoredCorpus, corpora: Sequence[FairCorpus], path: Path) -> Path | None:
    """Write the distribution of the scores if Matplotlib is installed; return its file."""
    from harness.results.figures import write_if_installed

    from .scoring import histogram

    thresholds = {
        f"{fair.about['made_from']['percentile']:g}": fair.about["threshold"]
        for fair in corpora
        if fair.about["threshold"] is not None
    }
    model = str(corpus.about.get("model") or corpus.path.name)
    return path if write_if_installed(path, *histogram(corpus.scores, thresholds, model)) else None


# Scores a corpus for a command that needs its scores, unless they are there.


def score_once(
    embedder: Embedder,
    concept: Concept,
    source: Corpus,
    path: Path,
    method: ScoringMethod,
    *,
    overwrite: bool,
    progress: Progress,
) -> None:
    """Write the scores of a corpus to a file, unless it has them; continue what was interrupted.

    Raises
    ------
    InvalidOption
        If the file has other scores.
    """
    from ..bias_score.method import resolve
    from . import scoring
    from .scoring import Output

    identity = scoring.identity_of(embedder, concept, source, resolve(method, embedder, concept))
    if path.exists() and not overwrite:
        about = scoring.read_about(path)
        if (about.get("identity"), about.get("corpus")) == (digest(identity), source.about()):
            return
        raise InvalidOption(
            f"'{path}' has scores of another model, corpus or options; --overwrite replaces it"
        )
    output = Output(path=path, overwrite=overwrite)
    scoring.score_corpus(embedder, concept, source, output, method, progress=progress)


# What `harness corpus subtract` and `harness corpus augment` print.


def report_as_json(
    corpora: Sequence[FairCorpus], figure: Path | None, examples: Sequence[Mapping[str, Any]]
) -> None:
    """Print what each `corpus.json` holds, with the folder, and the examples of swaps."""
    rows = [{"path": fair.path, "new": fair.new, **fair.about} for fair in corpora]
    shown = [{"entry": row["entry"], "swapped": row["swapped"]} for row in examples]
    output.as_json({"corpora": rows, "figure": figure, "examples": shown})


def report_tables(
    method: Method,
    corpora: Sequence[FairCorpus],
    figure: Path | None,
    examples: Sequence[Mapping[str, Any]],
) -> None:
    """Print the counts of each corpus, and examples of swaps as in table 5 of the paper."""
    if method == "subtract":
        columns = ["corpus", "threshold", "removed", "highest before", "highest left"]
        rows = [_subtracted(fair.about) for fair in corpora]
    else:
        columns = ["corpus", "threshold", "above", "added", "share added"]
        rows = [_augmented(fair.about) for fair in corpora]
    parts = [[fair.about["counts"][part] for part in ("train", "dev", "test")] for fair in corpora]
    output.table(
        [*columns, "train", "dev", "test"],
        [[*row, *sizes] for row, sizes in zip(rows, parts, strict=True)],
        repeat=1,
    )
    if examples:
        output.table(
            ["entry", "swapped"],
            [[_text(row["entry"]), _text(row["swapped"])] for row in examples],
            title="Examples of swaps",
            shorten=["entry", "swapped"],
        )
    counts = corpora[0].about["counts"]
    if counts["without_score"]:
        echo(
            f"without a score, because the model knows none of the words: "
            f"{counts['without_score']:,} of {counts['entries']:,} entries"
        )
    for fair in corpora:
        echo(f"{'wrote' if fair.new else 'unchanged, there already:'} {fair.path}")
    if figure is not None:
        echo(f"distribution of the scores: {figure}")


def _subtracted(about: Mapping[str, Any]) -> list[Any]:
    highest = about["highest"]
    removed = about["counts"]["removed"]
    return [about["name"], about["threshold"], removed, highest["before"], highest["below"]]


def _augmented(about: Mapping[str, Any]) -> list[Any]:
    counts = about["counts"]
    share = counts["added"] / counts["above"] if counts["above"] else None
    return [about["name"], about["threshold"], counts["above"], counts["added"], share]


def _text(entry: Mapping[str, Any]) -> str:
    from .entries import TEXT_KEYS

    keys = next(keys for keys in TEXT_KEYS if all(key in entry for key in keys))
    return " / ".join(entry[key] for key in keys)
