"""Training of encoders on pairs of sentences; the command `harness train`.

===========  ==================================================================
`command`    the command line
`training`   `train`: checks, then trains or goes on, then saves
`settings`   the settings of a training, and what it leaves behind
`pairs`      reads and checks the splits of a corpus
`folder`     the folder of a training: its state and checkpoints
`card`       the model card
`running`    builds model, loss and trainer, and runs them
`words`      the vocabulary of a word embedder: tokenizer and vectors
`bilstm`     a BiLSTM with max pooling over word vectors
`batches`    batches of pairs of similar length; tokens found once
`trainer`    the library's trainer, its checkpoints and callbacks
`scoring`    accuracy, or correlation with graded pairs
`quiet`      silences the libraries
===========  ==================================================================

The folder `recipes` trains and compares several encoders.

The library sentence-transformers has the modules, the losses and the loop. torch is imported when a
training begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness train`."""
    from .command import command

    group.add_command(command)
