"""The tasks and concepts that come with the harness: a plugin that adds this folder."""

from __future__ import annotations

from pathlib import Path

from harness.specs import hookimpl


@hookimpl
def harness_task_folders() -> list[Path]:
    """Add the folder of this file."""
    return [Path(__file__).parent]
