"""The commands that submissions add to `harness results`: each has a module `*_command`.

These modules import what they need inside their functions, so that `harness --help` stays instant.
"""

from __future__ import annotations

import click

from harness.leaderboard.submissions.card_command import card
from harness.leaderboard.submissions.check_command import check
from harness.leaderboard.submissions.merge_command import merge
from harness.leaderboard.submissions.pack_command import pack
from harness.leaderboard.submissions.rerun_command import rerun


@click.group("results")
def results() -> None:
    """Commands that join `harness results`."""


for command in (pack, check, rerun, merge, card):
    results.add_command(command)
