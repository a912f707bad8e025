"""What five papers print, beside what comes out here; the command `harness reproduce`.

===========  =====================================================================
`rows`       reads the files of rows: what a paper prints, and what answers it
`status`     reproduced, differs or needs: computed, never typed; tables of the page
`reproduce`  runs what rows select, and prints
===========  =====================================================================

Rows are in the subfolder `reproduction` of a folder of tasks, one file a paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness reproduce`."""
    from .reproduce import command

    group.add_command(command)
