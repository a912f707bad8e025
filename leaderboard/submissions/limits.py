"""How large a submission may be: the one place with these numbers."""

from __future__ import annotations

from harness.leaderboard.claims.reading import LONGEST_LINE

FILE_BYTES = 50_000_000
"""Bytes of a `RUN.jsonl`: some 20,000 records. Hosts of repositories warn from 50 MB."""
LINE_BYTES = LONGEST_LINE
"""Bytes of a record; usual ones have 2,500, and those that list missing words have 100,000."""
RECORDS = 50_000
"""Records of a submission: all scores of one model under ten mitigators are about 10,000."""
RUNS = 200
"""Files `RUN.jsonl` of a submission."""
NAME = 200
"""Characters of a name, such as a model's."""
SUBMISSION_BYTES = 1_000_000
"""Bytes of a `submission.json`."""
