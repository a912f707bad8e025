"""What the papers print, beside what comes out here; the command `harness reproduce`.

===========  =======================================================================
`command`    the command line
`schema`     a file of rows, as a person writes it
`rows`       reads the files of rows and checks them
`selection`  what a row selects: a score of a task, or a cell of a study
`standing`   whether that is a valid score
`running`    finds the selected values: runs tasks, reads studies
`values`     the values that are kept beside the rows
`status`     reproduced, differs or needs: computed from expected and found values
`page`       the page in Markdown
===========  =======================================================================

Rows are in the subfolder `reproduction` of a folder of tasks, one file a paper. No row is fitted to
its paper: a row that differs says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness reproduce`."""
    from harness.plugins.reproduction.command import command

    group.add_command(command)
