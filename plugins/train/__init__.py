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

Recipes train and compare several encoders; these modules begin with `recipe`:

==============  ===============================================================
`_command`      `harness train --recipe`
`_file`         the schema of recipe files; `recipe` looks up the names in them
`_plan`         the steps in their order, with what each depends on
`_run`          runs the steps that are left, noted by `_record`
`_steps`        does a step; `_corpora` those about corpora
`_results`      the result, of finished steps and records: a `_summary`
`_cells`        its values and tests, by `_statistics`
`_tables`       its tables, with the `_texts` of cells, the `_statement` of what
                stands out, and the `_figure`; `_report` prints and writes them
==============  ===============================================================

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
    from harness.plugins.train.command import command

    group.add_command(command)
