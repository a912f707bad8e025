"""The leaderboard: turns records into rankings and static pages; adds `harness leaderboard`.

| folder | subject |
| --- | --- |
| `claims/` | Reads records as claims: facts come from the registered task. |
| `boards/` | Ranks models, and compares mitigators. |
| `site/` | Writes the static pages and data files. |
| `submissions/` | A repository of many people's results: pack, check, merge. |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness leaderboard`, and the commands of submissions to `harness results`."""
    from .commands import init, leaderboard, results

    leaderboard.add_command(init)
    group.add_command(leaderboard)
    group.add_command(results)
