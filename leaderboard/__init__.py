"""The leaderboard: turns records into rankings and static pages; adds `harness leaderboard`.

| module | what it does |
| --- | --- |
| `cells.py` | Chooses the records that count, and measures each |
| `grid.py` | A line for every row and task; which tasks are ranked, means of rows, what rows lack |
| `usable.py` | Which rows are usable: required controls, and more use than random vectors. |
| `ranking.py` | Means over families with their intervals; ranks with simultaneous sets of ranks. |
| `effects.py` | Paired effects of mitigators on models, and mitigators ranked over models. |
| `board.py` | Puts these together: a `Board` for each kind of embedder. |
| `notices.py` | What weakens the ranks of a board. |
| `published.py` | Bias against published quality. |
| `studies.py` | Studies in the results. |
| `references.py` | The shipped records of random and constant vectors, and how they are computed. |
| `site.py` | The files: pages (`page.py`, `study_page.py`), CSV, JSON, attachments. |
| `pareto.py` | The plot of bias against usefulness. |
| `published_plot.py` | The plot of bias against published quality. |
| `model_table.py` | The tables of models. |
| `mitigator_tables.py` | The tables of effects and of mitigators. |
| `task_table.py` | The table of the scores themselves. |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.specs import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def harness_commands(group: click.Group) -> None:
    """Add `harness leaderboard`."""
    from harness.leaderboard.command import leaderboard

    group.add_command(leaderboard)
