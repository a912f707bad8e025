"""`harness score-corpus`: the command line of the bias score. The work is done elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.commands import arguments

if TYPE_CHECKING:
    from harness.plugins.bias_score.scoring import Scored

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("score-corpus")
@arguments.model("Text encoder that shows its tokens' states, or word vectors.")
@click.option(
    "--input",
    "-i",
    "source",
    required=True,
    help="Corpus in UTF-8: .jsonl, .tsv, .txt, or - for standard input.",
)
@arguments.out("File of scores to write, JSON lines; it appears when it is whole.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["jsonl", "tsv", "text"]),
    help="What the corpus is.  [default: by its ending; text for standard input]",
)
@click.option(
    "--text-key",
    "-k",
    "keys",
    multiple=True,
    help="Key or column that holds sentences; a number for a table without a first line of names; "
    "repeatable.  [default: text]",
)
@click.option(
    "--importance",
    type=click.Choice(["max", "mean", "mean-raw", "uniform"]),
    help="How words are weighed.  [default: as the encoder pools]",
)
@click.option(
    "--direction",
    help="sentences (125 shipped pairs), pairs (the concept's words), or a file of sentences, each "
    "taken with its other gender.  [default: pairs for word vectors, else sentences]",
)
@click.option(
    "--word-vectors",
    help="Word embedder whose vectors stand for the words, as GloVe for InferSent.",
    shell_complete=arguments.complete("model"),
)
@arguments.concept("Gives the pairs and the words that are no bias.")
@click.option(
    "--gendered-words",
    type=_FILE,
    multiple=True,
    help="Further words that are no bias: one a line, or a JSON array; repeatable.",
)
@click.option(
    "--names",
    type=_FILE,
    multiple=True,
    help="Given names that are no bias: name,sex,count a line; the first 5,765; repeatable.",
)
@click.option("--words", "with_words", is_flag=True, help="Write what each word gives.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Most biased sentences to show a side.",
)
@arguments.overwrite
@click.option("--resume", is_flag=True, help="Go on where a broken run of the same ended.")
@arguments.include
@arguments.as_json
def command(
    model: str,
    source: str,
    out: Path,
    kind: Any,
    keys: tuple[str, ...],
    importance: Any,
    direction: str | None,
    word_vectors: str | None,
    concept: str,
    gendered_words: tuple[Path, ...],
    names: tuple[Path, ...],
    with_words: bool,
    top: int,
    overwrite: bool,
    resume: bool,
    include: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Score the gender bias of each sentence of a corpus of any size.

    Positive (bias_f) is towards women, negative (bias_m) towards men, 0 is fair. Tokens' states are
    not kept in the store: what is scored twice is encoded twice.

    \b
    harness score-corpus -m all-MiniLM-L6-v2 -i snli.jsonl -k premise -k hypothesis -o scored.jsonl
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.plugins.bias_score import corpus, scoring
    from harness.plugins.bias_score.method import Method
    from harness.registry.registry import Registry

    registry = Registry(include=include)
    method = Method(
        importance=importance,
        direction=direction,
        vectors=registry.embedder(word_vectors) if word_vectors else None,
        words=gendered_words,
        names=names,
    )
    if kind is None:
        kind = "text" if source == corpus.STDIN else corpus.format_of(source)
    report(
        scoring.score_corpus(
            registry.embedder(model),
            registry.concept(concept),
            scoring.Corpus(name=source, kind=kind, keys=keys),
            out,
            method,
            with_words=with_words,
            top=top,
            overwrite=overwrite,
            resume=resume,
            progress=progress.for_terminal(),
        ),
        as_json=as_json,
    )


def report(made: Scored, *, as_json: bool) -> None:
    """Print the method as it was settled, the means, and the most biased sentences."""
    from harness.commands import output
    from harness.plugins.bias_score.summary import SIDES

    summary = made.summary
    means = {name: summary.mean(name) for name in ("bias_f", "bias_m", "abs")}
    top = {
        side: [{"score": score, "text": text} for score, text in summary.most_biased(side)]
        for side in SIDES
    }
    if as_json:
        output.as_json(
            {
                "path": made.path,
                "sentences": summary.sentences,
                "continued": made.continued,
                "without_words": summary.without_words,
                "cut": summary.cut,
                "sentences_per_second": made.per_second,
                "importance": made.importance,
                "direction": made.direction_of,
                "direction_pairs": made.direction.pairs,
                "direction_explained": made.direction.explained,
                "gendered_words": len(made.gendered.words),
                "names": len(made.gendered.names),
                "mean": means,
                "top": top,
            }
        )
        return
    click.echo(
        f"importance: {made.importance}; direction: {made.direction_of}, "
        f"{output.counted(made.direction.pairs, 'pair')}, "
        f"{made.direction.explained:.1%} of their differences; no bias: "
        f"{len(made.gendered.words)} words, {len(made.gendered.names)} names"
    )
    output.table(
        ["sentences", "mean bias_f", "mean bias_m", "mean abs", "no words", "cut", "a second"],
        [[summary.sentences, *means.values(), summary.without_words, summary.cut,
          round(made.per_second)]],
    )  # fmt: skip
    for side, title in (("bias_f", "Towards women"), ("bias_m", "Towards men")):
        if top[side]:
            rows = [[found["score"], found["text"]] for found in top[side]]
            output.table([side, "sentence"], rows, title=title, shorten="sentence")
    click.echo(f"wrote {made.path}")
