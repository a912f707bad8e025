"""Data that cannot be shipped: in HARNESS_DATA, else in `shared/data` beside the checkout."""

import os
from pathlib import Path

BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "HARNESS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["HARNESS_DATA"] = str(BESIDE)
