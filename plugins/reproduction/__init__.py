"""What the papers print, beside what comes out here; the command `harness reproduce`.

===========  =======================================================================
`command`    the command line, and the page
`rows`       reads the files of rows and checks them
`status`     reproduced, differs or needs: computed from expected and found values
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
    from .command import command

    group.add_command(command)
