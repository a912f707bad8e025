"""`harness corpus score`: the command line of the bias score of a corpus.

Reads the options and prints the result; `scoring` does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from harness.plugins.bias_score.importance import Importance
    from harness.plugins.bias_score.method import Method
    from harness.plugins.corpora.entries import Kind
    from harness.plugins.corpora.scoring import Corpus, CorpusScores
    from harness.registry.registry import Registry

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
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@arguments.as_json
def command(**options: Any) -> None:
    """Score the gender bias of each sentence of a corpus of any size.

    bias_f is positive: bias towards women. bias_m is negative: bias towards men. abs is the sum of
    the words' absolute values; a pair has the larger one of its sentences. Fair is 0. Token states
    are not stored: a second run encodes the sentences again.

    \b
    harness corpus score -m all-MiniLM-L6-v2 -i snli.jsonl -o scored.jsonl
    harness corpus score -m glove-6b-50d -i hf://stanfordnlp/snli -o scored.jsonl
    """  # noqa: D301  # click keeps the lines after a backspace
    run(Options(**options))


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
        from harness.plugins.corpora import entries, scoring

        kind = self.kind or entries.format_of(self.source)
        return scoring.Corpus(name=self.source, kind=kind, keys=self.keys, split=self.split)

    def method(self, registry: Registry) -> Method:
        """Return how sentences are scored."""
        from harness.plugins.bias_score.method import Method

        return Method(
            importance=self.importance,
            direction=self.direction,
            vectors=registry.embedder(self.word_vectors) if self.word_vectors else None,
            words=self.gendered_words,
            names=self.names,
            long_list=self.long_list,
        )


@dataclass(frozen=True, kw_only=True)
class Options(ScoringOptions):
    """The options of the command."""

    model: str
    out: Path
    with_words: bool
    top: int
    overwrite: bool
    resume: bool
    as_json: bool


def run(options: Options) -> None:
    """Score the corpus and print the result."""
    from harness import progress
    from harness.plugins.corpora import scoring
    from harness.registry.registry import Registry

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
            resume=options.resume,
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
    from harness.commands import output

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
    from harness.commands import output

    method, summary = scores.method, scores.summary
    click.echo(
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
        click.echo(f"left out: {output.counted(n, 'row')} with {reason}")
    click.echo(f"wrote {scores.path}")
