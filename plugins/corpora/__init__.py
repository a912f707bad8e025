"""Corpora of sentences and of sentence pairs; the command `harness corpus`.

==================  ================================================================
`entries`           reads a corpus of any format, also on the hub, entry by entry
`commands`          the command line of `harness corpus`
`scoring`           scores a corpus of any size, buffer by buffer, into a resumable file
`fair_corpora`      fairer corpora by subtraction or augmentation: splits and swaps
==================  ================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness corpus`."""
    from .commands import command

    group.add_command(command)
