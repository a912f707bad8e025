"""Corpora of sentences and of sentence pairs; the command `harness corpus`.

==================  ================================================================
`entries`           reads a corpus of any format, entry by entry
`rows`              rows of JSON lines, tables and plain lines
`lines`             lines of a file or of standard input
`hub`               rows of a data set of the Hugging Face hub
`score_command`     the command line of `harness corpus score`
`scoring`           scores a corpus of any size, buffer by buffer
`scored_rows`       rows of a file of scores
`resumable_file`    a file that can be continued after an interruption
`summary`           means, and most biased sentences and pairs of a corpus
`gender_words`      words and names with a counterpart of the other gender
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
    from harness.plugins.corpora.commands import command

    group.add_command(command)
