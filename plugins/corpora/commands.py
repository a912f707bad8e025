"""`harness corpus`: score corpora, and make fairer ones."""

from __future__ import annotations

import click

from harness.plugins.corpora import score_command


@click.group("corpus")
def command() -> None:
    """Score the gender bias of corpora, and make fairer ones."""


command.add_command(score_command.command)
