"""What all tests share: where data that cannot be shipped lies, and that no test has a deadline.

Data is looked for in HARNESS_DATA, else in `shared/data` beside the checkout.
"""

import os
from pathlib import Path

from hypothesis import settings

BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "HARNESS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["HARNESS_DATA"] = str(BESIDE)

settings.register_profile("harness", deadline=None)
settings.load_profile("harness")
