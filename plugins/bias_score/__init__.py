"""The bias score of sentences, and the command `harness score-corpus`.

==================  ================================================================
`command`           the command line
`scoring`           scores a corpus of any size, buffer by buffer
`method`            how sentences are scored: importance, direction, gendered words
`scorer`            scores sentences with one model
`equations`         the equations of the paper
`importance`        weight of each token in the vector of its text
`direction`         the gender direction from pairs of vectors
`gendered`          the list of gendered words, which do not count as bias
`sentence_pairs`    pairs of sentences that differ in gender alone
`states`            token states of any embedder
`corpus`            reads sentences from JSON lines, TSV or plain text
`scored_file`       the output file, which can be continued after an interruption
`summary`           means and most biased sentences of a corpus
==================  ================================================================

Knows no mitigator and no task. Token states are not kept in the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness score-corpus`."""
    from harness.plugins.bias_score.command import command

    group.add_command(command)
