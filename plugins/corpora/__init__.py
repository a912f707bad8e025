"""Corpora of sentences and of sentence pairs; the command `harness corpus`.

==================  ================================================================
`entries`           reads a corpus of any format, entry by entry
`rows`              rows of JSON lines, tables and plain lines
`lines`             lines of a file or of standard input
`hub`               rows of a data set of the Hugging Face hub
`commands`          the command line of `harness corpus`
`score_command`     the command line of `harness corpus score`
`scoring`           scores a corpus of any size, buffer by buffer
`auto_scoring`      scores a corpus unless its scores are there
`scored_rows`       rows of a file of scores
`resumable_file`    a file that can be continued after an interruption
`summary`           means, and most biased sentences and pairs of a corpus
`scored_corpus`     a file of scores: the entries above a percentile
`fair_corpora`      fairer corpora by subtraction or augmentation
`splits`            the parts of a corpus to train, to develop and to test
`swaps`             entries with genders swapped
`gender_words`      words and names with a counterpart of the other gender
`histogram`         the distribution of scores as a figure
`report`            what `subtract` and `augment` print
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
