"""`harness debias`: writes a model under a mitigator, to a file of word vectors or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import arguments
from harness.printing import echo

if TYPE_CHECKING:
    from harness.run.debiasing import Debiased
    from harness.run.exporting import Exported


@click.command("debias")
@arguments.model("Word embedder or text encoder: a registered name, or provider:reference.")
@click.option(
    "--mitigator",
    "-M",
    required=True,
    help="Mitigator, such as hard-debias?k=2; chain with +.",
    shell_complete=arguments.complete("mitigator"),
)
@arguments.concept("Concept that the mitigator is fitted on.")
@arguments.out(
    "File of word vectors: .txt, .vec, .bin, .kv or .safetensors. Of a text encoder, a folder.",
    folder=True,
)
@click.option(
    "--format",
    "format_",
    help="word2vec, word2vec-binary, gensim or safetensors.  [default: by suffix]",
)
@click.option(
    "--results",
    "-r",
    type=arguments.PlaceType(),
    help="Text encoder: folder of records, also in a bucket, whose scores the card states.",
)
@click.option("--onnx", is_flag=True, help="Text encoder: also write onnx/model.onnx.")
@click.option(
    "--push",
    metavar="OWNER/NAME",
    help="Text encoder: upload the folder to the Hugging Face hub; the token is that of `hf auth "
    "login` or HF_TOKEN.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing file or model.")
@arguments.include
@arguments.as_json
def command(
    model: str,
    mitigator: str,
    concept: str,
    out: Path,
    format_: str | None,
    results: Path | None,
    onnx: bool,
    push: str | None,
    overwrite: bool,
    include: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write a model, debiased: a vocabulary as a file, a text encoder as a folder.

    \b
    harness debias --model glove-6b-50d --mitigator hard-debias --concept gender --out debiased.bin
    harness eval --model vectors:debiased.bin --tasks bias
    harness debias --model all-MiniLM-L6-v2 --mitigator leace --out ./minilm-leace
    harness eval --model ./minilm-leace --tasks bias

    sentence-transformers loads the folder without the harness. Its README.md is its card.
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness import progress
    from harness.results import folder
    from harness.run import debiasing
    from harness.run.debiasing import Debiased

    written = debiasing.debias(
        model,
        mitigator,
        out,
        concept=arguments.concept_or_none(concept),
        format=format_,
        results=None if results is None else folder.local_copy(results),
        onnx=onnx,
        push=push,
        overwrite=overwrite,
        include=include,
        progress=progress.for_terminal(),
    )
    if isinstance(written, Debiased):
        report_words(written, as_json=as_json)
    else:
        report_model(written, as_json=as_json)


def report_words(debiased: Debiased, *, as_json: bool) -> None:
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
    echo(f"its card is beside it, in {debiased.path.name}.md", err=True)
    if debiased.format == "gensim":
        echo(f"its vectors are beside it, in {debiased.path.name}.vectors.npy", err=True)
    for note in debiased.notes:
        echo(note, err=True)


def report_model(exported: Exported, *, as_json: bool) -> None:
    """Print what was written, and what the model does not do."""
    from harness.commands import output

    if as_json:
        output.as_json(vars(exported))
        return
    facts = {
        "folder": exported.path,
        "dimensions": exported.dimensions,
        "bytes": exported.bytes,
        "difference": f"{exported.difference:.1e}",
        "scores on the card": exported.scores,
    }
    output.lines([facts])
    if exported.url:
        echo(exported.url)
    for line in exported.omits:
        echo(line, err=True)
