"""What all tests share: where data that cannot be shipped lies, and that no test has a deadline.

Data is looked for in HARNESS_DATA, else in `shared/data` beside the checkout.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "HARNESS_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["HARNESS_DATA"] = str(BESIDE)

settings.register_profile("harness", deadline=None)
settings.load_profile("harness")


@pytest.fixture
def loopback(monkeypatch):
    """An endpoint on 127.0.0.1 that embeds and chats; no proxy stands before it."""
    from loopback import Loopback

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Loopback() as server:
        yield server
