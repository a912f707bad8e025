"""The largest sizes that the harness accepts: the one home of these numbers.

A limit is far above what anybody needs, and far below what fills a memory or a disk. The code that
checks a limit makes its message with `too_many`, and adds where. Limits of what is displayed are
elsewhere.
"""

from __future__ import annotations

# Files that people write

YAML_BYTES = 2_000_000
"""Bytes of a YAML file. The largest one that is shipped has 50,000."""
YAML_ENTRIES = 200_000
"""Keys and items of a YAML file. A few lines of nested aliases expand to billions."""
NESTING = 100
"""Depth of lists and mappings in YAML and JSON. Deeper ones end the process in some parsers."""
TABLE_BYTES = 200_000_000
"""Bytes of the file of a table, decompressed."""
TABLE_ROWS = 2_000_000
"""Rows of a table."""
NAME_CHARACTERS = 1_000
"""Characters of a name; names with long options are the longest."""
PLAIN_NAME_CHARACTERS = 200
"""Characters of the name of a task, concept, study or benchmark."""
FILE_NAME_CHARACTERS = 120
"""Characters of a file name that is made of the name of a model, task or study. Most file systems
take 255 bytes."""
FILE_NAME_BYTES = 255
"""Bytes of a name in a path of a task: the limit of most file systems."""

# Files of models

MODEL_CONFIG_BYTES = 16_000_000
"""Bytes of a configuration of a model; an index of the shards of a large one has two million."""
MODEL_JSON_BYTES = 200_000_000
"""Bytes of another JSON file of a model; the largest `tokenizer.json` has 40 million."""
MODEL_FILES = 20_000
"""Files below the folder of a model."""
PROMPT_CHARACTERS = 100_000
"""Characters of a prompt in the files of a model: it is read with each text."""

# Texts of a task

TEXT_CHARACTERS = 1_000_000
"""Characters of a text, also of a template with its fields filled in."""
INPUT_TEXTS = 5_000_000
"""Texts of an input of a task: its items times its templates."""
INPUT_CHARACTERS = 1_000_000_000
"""Characters of all texts of an input of a task."""

# Runs

FAILURES_IN_A_ROW = 16
"""Texts that may fail one after another, sent singly, before the model is abandoned."""
SEGMENT_HEADER_BYTES = 1 << 16
"""Bytes of the header of a segment of the store; one has about 400."""

MODEL_FILE_BYTES = 64_000_000
"""Bytes of the file that describes the model of a store; one has some hundred."""

# Records: own ones, and other people's

INTEGER = 2**63 - 1
"""The integers that parsers of most languages can hold."""
OWN_LINE_BYTES = 64_000_000
"""Bytes of a line of one's own results; usual ones have 2,500, and those of large studies a
million."""
LINE_BYTES = 1_000_000
"""Bytes of a record of somebody else; usual ones have 2,500, and those that list missing words have
100,000."""
RECORDS_BYTES = 100_000_000
"""Bytes of a file of records of somebody else; those of a model on all tasks are a few million."""
RECORD_TEXT_CHARACTERS = 10_000
"""Characters of a text in a record of somebody else."""
STUDY_SETTINGS = 1_000
"""Points of the grid of a mitigator in a study."""
STUDY_FOLDS = 1_000
"""Folds, and repeats, of a study: memory is allocated for all of them before records are read."""

# Submissions to a leaderboard

SUBMISSION_BYTES = 1_000_000
"""Bytes of a `submission.json`."""
SUBMITTED_RECORDS_BYTES = 50_000_000
"""Bytes of a `RUN.jsonl`: some 20,000 records. Hosts of repositories warn from 50 MB."""
SUBMITTED_RECORDS = 50_000
"""Records of a submission: all scores of one model under ten mitigators are about 10,000."""
SUBMITTED_RUNS = 200
"""Files `RUN.jsonl` of a submission."""
SUBMITTED_SAMPLES_BYTES = 20_000_000
"""Bytes of a `RUN.samples.jsonl`: some 5,000 lines."""
EXTRACT_BYTES = 16_000
"""Bytes of a line with the strongest items of a record; usual ones have 3,000."""
SUBMITTED_NAME_CHARACTERS = 200
"""Characters of a name in a submission, such as a model's."""


def too_many(size: int, largest: int, unit: str = "bytes") -> str:
    """Return what is wrong with a size: `1,200 bytes; at most 1,000 are allowed`."""
    return f"{size:,} {unit}; at most {largest:,} are allowed"
