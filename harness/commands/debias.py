"""`harness debias`: writes a model's whole vocabulary under a mitigator to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.run.debiasing import Debiased


@click.command("debias")
@arguments.model("Word embedder: a registered name, or provider:reference.")
@click.option(
    "--mitigator",
    "-M",
    required=True,
    help="Mitigator, such as hard-debias?k=2; chain with +.",
    shell_complete=arguments.complete("mitigator"),
)
@arguments.concept("Concept that the mitigator is fitted on.")
@arguments.out("File to write: .txt, .vec, .bin, .kv or .safetensors.")
@click.option(
    "--format",
    "format_",
    help="word2vec, word2vec-binary, gensim or safetensors.  [default: by suffix]",
)
@arguments.overwrite
@arguments.include
@arguments.as_json
def command(
    model: str,
    mitigator: str,
    concept: str,
    out: Path,
    format_: str | None,
    overwrite: bool,
    include: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write a word embedder's whole vocabulary, debiased.

    \b
    harness debias --model glove-6b-50d --mitigator hard-debias --concept gender --out debiased.bin
    harness eval --model vectors:debiased.bin --tasks bias
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.run import debiasing

    report(
        debiasing.debias(
            model,
            mitigator,
            out,
            concept=arguments.concept_or_none(concept),
            format=format_,
            overwrite=overwrite,
            include=include,
            progress=progress.for_terminal(),
        ),
        as_json=as_json,
    )


def report(debiased: Debiased, *, as_json: bool) -> None:
    """Print what was written, and which words of the fit the model does not have."""
    from harness.commands import output

    if as_json:
        facts = vars(debiased)
        output.as_json({key: facts[key] for key in facts if key != "notes" or debiased.notes})
        return
    shown = {name: getattr(debiased, name) for name in ("format", "words", "dimensions", "bytes")}
    facts = {"file": debiased.path, **shown, "missing words": len(debiased.missing)}
    output.lines([facts], drop=("format",))
    if debiased.missing:
        echo(f"not in the vocabulary: {', '.join(debiased.missing)}")
    if debiased.format == "gensim":
        echo(f"its vectors are beside it, in {debiased.path.name}.vectors.npy", err=True)
    for note in debiased.notes:
        echo(note, err=True)
