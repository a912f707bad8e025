"""Who submitted the results of a model, from the `submission.json` beside the records."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import polars as pl

from harness.errors import InvalidFile
from harness.leaderboard.submissions import submission


def submitters(frame: pl.DataFrame) -> dict[tuple[str, str], list[str]]:
    """Return the submitters of each model, by its name and fingerprint.

    Results without a valid `submission.json` have none.

    Parameters
    ----------
    frame
        The records, with the columns of `claims.frame.SCHEMA`.
    """
    names: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    runs: dict[Path, dict[str, submission.Submission]] = {}
    lines = frame.select(pl.col("model", "fingerprint", "file").cast(pl.String)).drop_nulls()
    for model, fingerprint, file in lines.unique().iter_rows():
        folder = Path(file).parent
        if folder not in runs:
            try:
                has_any = (folder / submission.NAME).is_file()
                runs[folder] = submission.read(folder) if has_any else {}
            except InvalidFile:
                runs[folder] = {}
        run = runs[folder].get(Path(file).stem)
        if run is not None:
            names[model, fingerprint].add(run.submitted_by)
    return {key: sorted(group) for key, group in names.items()}
