"""Training of encoders on pairs of sentences; the command `harness train`.

=================  ============================================================
`train_command`    the command line
`training`         `train`: checks, then trains or goes on, then saves
`settings`         the settings of a training, and what it leaves behind
`pairs`            reads and checks the splits of a corpus
`training_folder`  the folder of a training: its state, checkpoints and model card
`running`          builds model, loss and trainer, and runs them
`bilstm`           a BiLSTM with max pooling over the vocabulary of a word embedder
`bias_evaluator`   measures bias in any training of sentence-transformers, and stops it at a bound
`retraining`       a script: encoders retrained on fairer corpora, over seeds
=================  ============================================================

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
    from .train_command import command

    group.add_command(command)
