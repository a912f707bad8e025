"""What five papers print, beside what comes out here; the command `harness reproduce`.

===========  =====================================================================
`rows`       reads the files of rows: what a paper prints, what answers it, the status
`reproduce`  runs what rows select, and prints
===========  =====================================================================
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
