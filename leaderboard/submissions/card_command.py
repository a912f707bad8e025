"""`harness results card`: the command line of a model card's scores."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import arguments


@click.command("card")
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", "-m", help="Name of the model; needed if there are several.")
@click.option("--mitigator", "-M", default="none", show_default=True, help="Label of a mitigator.")
@click.option("--url", help="Address of the board, as the source of the scores.")
@arguments.include
def card(
    results: tuple[Path, ...],
    model: str | None,
    mitigator: str,
    url: str | None,
    include: tuple[Path, ...],
) -> None:
    """Print the scores of a model in RESULTS for its page on a hub.

    Prints metadata of a model card (model-index) and a table in Markdown, which together begin a
    README.md. Only scores of registered tasks are in them.

    \b
    harness results card results --model all-MiniLM-L6-v2 > card.md
    """  # noqa: D301  # click keeps the lines after a backspace
    from harness.leaderboard.submissions import card as cards
    from harness.leaderboard.submissions.comment import listed
    from harness.results.markup import markdown

    scores = cards.scores(results, model, mitigator, include=include)
    for line in listed(map(str, scores.aside), "record"):
        click.echo(line, err=True)
    under = "" if mitigator == "none" else f" under the mitigator {markdown(mitigator)}"
    click.echo(f"---\n{cards.model_index(scores.rows, url=url)}\n---\n")
    click.echo(f"Bias and usefulness{under}, by the Embedding Bias Harness:\n")
    click.echo(cards.table(scores.rows))
