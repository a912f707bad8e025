"""`harness score-corpus`: the command line of the bias score.

Reads the options and prints the result; `scoring` does the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from harness.plugins.bias_score.corpus import Format
    from harness.plugins.bias_score.importance import Importance
    from harness.plugins.bias_score.method import Method
    from harness.plugins.bias_score.scoring import Corpus, CorpusScores
    from harness.registry.registry import Registry

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("score-corpus")
@arguments.model("Text encoder that gives token states, or word vectors.")
@click.option(
    "--input",
    "-i",
    "source",
    required=True,
    help="Corpus in UTF-8: .jsonl, .tsv, .txt, or - for standard input.",
)
@arguments.out("JSON-lines file of scores to write; it appears when it is complete.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["jsonl", "tsv", "text"]),
    help="Format of the corpus.  [default: by the file extension; text for standard input]",
)
@click.option(
    "--text-key",
    "-k",
    "keys",
    multiple=True,
    help="Key or column that holds sentences; a column number, from 1, if the table has no header; "
    "repeatable.  [default: text]",
)
@click.option(
    "--importance",
    type=click.Choice(["max", "mean", "mean-raw", "uniform"]),
    help="Weight of each word.  [default: by the pooling of the encoder]",
)
@click.option(
    "--direction",
    help="Source of the gender direction: sentences (125 built-in pairs), pairs (the concept's "
    "definitional pairs), or a file of sentences, each paired with its gender-swapped version.  "
    "[default: pairs for word vectors, else sentences]",
)
@click.option(
    "--word-vectors",
    help="Word embedder that gives the vectors of words, such as GloVe for InferSent.  "
    "[default: mean of the word's token states]",
    shell_complete=arguments.complete("model"),
)
@arguments.concept("Concept with the definitional pairs and the gendered words.")
@click.option(
    "--gendered-words",
    type=_FILE,
    multiple=True,
    help="File of further gendered words, which do not count as bias: one per line, or a JSON "
    "array; repeatable.",
)
@click.option(
    "--names",
    type=_FILE,
    multiple=True,
    help="File of given names, which do not count as bias: name,sex,count per line; the 5,765 "
    "most frequent are used; repeatable.",
)
@click.option("--words", "with_words", is_flag=True, help="Write the contribution of each word.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of most biased sentences to print for each side.",
)
@arguments.overwrite
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@arguments.include
@arguments.as_json
def command(**options: Any) -> None:
    """Score the gender bias of each sentence of a corpus of any size.

    bias_f is positive: bias towards women. bias_m is negative: bias towards men. Fair is 0. Token
    states are not stored: a second run encodes the sentences again.

    \b
    harness score-corpus -m all-MiniLM-L6-v2 -i snli.jsonl -k premise -k hypothesis -o scored.jsonl
    """  # noqa: D301  # click keeps the lines after a backspace
    run(Options(**options))


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the command, as click parses them; `--help` describes each."""

    model: str
    source: str
    out: Path
    kind: Format | None
    keys: tuple[str, ...]
    importance: Importance | None
    direction: str | None
    word_vectors: str | None
    concept: str
    gendered_words: tuple[Path, ...]
    names: tuple[Path, ...]
    with_words: bool
    top: int
    overwrite: bool
    resume: bool
    include: tuple[Path, ...]
    as_json: bool

    def corpus(self) -> Corpus:
        """Return the corpus to read."""
        from harness.plugins.bias_score import corpus, scoring

        default: Format | None = "text" if self.source == corpus.STDIN else None
        kind = self.kind or default or corpus.format_of(self.source)
        return scoring.Corpus(name=self.source, kind=kind, keys=self.keys)

    def method(self, registry: Registry) -> Method:
        """Return how sentences are scored."""
        from harness.plugins.bias_score.method import Method

        return Method(
            importance=self.importance,
            direction=self.direction,
            vectors=registry.embedder(self.word_vectors) if self.word_vectors else None,
            words=self.gendered_words,
            names=self.names,
        )


def run(options: Options) -> None:
    """Score the corpus and print the result."""
    from harness import progress
    from harness.plugins.bias_score import scoring
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
            "sentences": summary.sentences,
            "continued": scores.continued,
            "without_words": summary.without_words,
            "cut": summary.cut,
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
        }
    )


def print_tables(scores: CorpusScores) -> None:
    """Print the resolved method, then the means and the most biased sentences."""
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
            output.table([side, "sentence"], sentences, title=titles[side], shorten="sentence")
    click.echo(f"wrote {scores.path}")
