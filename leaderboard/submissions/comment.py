"""The result of a check as Markdown, for a comment on a pull request that strangers can trigger.

Every text of a submission is inert: in a table it stands in `<code>` with each character that is no
letter or digit as an HTML entity, and problems stand in a block of code. So nothing becomes a link,
an image, a mention, a formula or HTML, on the hosts that render such comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.leaderboard.submissions.additions import Addition
from harness.leaderboard.submissions.check import Checked
from harness.leaderboard.submissions.texts import hidden
from harness.results.markup import grid

LISTED = 40
"""Problems that a comment or a terminal lists."""
_ROWS, _TASKS, _SHOWN = 20, 100, 60
_LONGEST = 60_000
"""Characters of a comment; a usual host takes 65,536."""


def markdown(checked: Checked, additions: Sequence[Addition]) -> str:
    """Return the comment on a check."""
    parts = [f"### {summary(checked)}"]
    if checked.problems:
        parts.append(_block(listed(map(str, checked.problems), "problem")))
    if checked.warnings:
        parts += [
            "For a maintainer to weigh:",
            _block(listed(map(str, checked.warnings), "warning")),
        ]
    if additions:
        parts.append("What is new, beside two reference models:")
        parts.append(_means(additions))
    for addition in additions[:2]:
        parts.append(_tasks(addition))
    text = ""
    for part in parts:
        if len(text) + len(part) > _LONGEST:
            text += "The rest is left out, since a comment must be short.\n"
            break
        text += part + "\n\n"
    return text.rstrip("\n") + "\n"


def summary(checked: Checked) -> str:
    """Return one line on a check."""
    n, new = len(checked.problems), len(checked.records)
    found = f"{n:,} problem{'s'[: n != 1]}" if n else "valid"
    known = f", {checked.known:,} that the base has already" if checked.known else ""
    return f"{found}; {new:,} new record{'s'[: new != 1]}{known}"


def listed(lines: Iterable[str], noun: str) -> list[str]:
    """Return the first lines, printable and not too long, and how many more there are."""
    every = list(lines)
    shown = [printable(line) for line in every[:LISTED]]
    more = len(every) - len(shown)
    return [*shown, f"and {more:,} more {noun}{'s'[: more != 1]}"] if more else shown


def printable(text: str, longest: int = 400) -> str:
    """Return a text without what a terminal or a log would obey, cut if it is long."""
    clean = "".join("�" if hidden(character) else character for character in text[: longest + 1])
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def inert(text: str) -> str:
    """Return a text of a stranger for a cell of a table in Markdown."""
    parts = [
        character if character.isalnum() else f"&#{ord(character)};"
        for character in printable(text, _SHOWN)
    ]
    return f"<code>{''.join(parts)}</code>"


def _block(lines: Sequence[str]) -> str:
    """Return lines as a block of code that none of them can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def _means(additions: Sequence[Addition]) -> str:
    rows = [
        [
            inert(addition.row.label),
            *(mean.measures, str(mean.tasks), _number(mean.value)),
            inert(mean.reference),
            _number(mean.beside),
        ]
        for addition in additions[:_ROWS]
        for mean in addition.means
    ]
    columns = ("new", "mean of", "tasks", "value", "reference", "its value")
    more = len(additions) - _ROWS
    return grid(columns, rows) + (f"\n\nand {more:,} more rows" if more > 0 else "")


def _tasks(addition: Addition) -> str:
    names = [row.label for row in (addition.row, *addition.references)]
    lines = addition.lines()
    rows = [
        [inert(task), inert(score), *map(_number, values)] for task, score, values in lines[:_TASKS]
    ]
    table = grid(("task", "score", *map(inert, names)), rows)
    more = f"\n\nand {len(lines) - _TASKS:,} more tasks" if len(lines) > _TASKS else ""
    title = f"Each task of {inert(addition.row.label)}"
    return f"<details><summary>{title}</summary>\n\n{table}{more}\n\n</details>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
