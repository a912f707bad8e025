"""SIGTERM and SIGHUP: what was encoded is kept, and no process is left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from harness import signals
from harness.encode import admission
from harness.store.store import Store

pytestmark = pytest.mark.posix

PLUGIN = """
import time
from harness import EmbedderSpec, hookimpl
from harness.embedder import MockEmbedder


class Slow(MockEmbedder):
    def __init__(self, *, device="cpu", log=""):
        super().__init__(dimensions=4)
        self.log = log
        self.batch_tokens = 40

    def encode(self, texts):
        time.sleep(0.02)
        with open(self.log, "a") as file:
            file.write("".join(f"{text}\\n" for text in texts))
        return super().encode(texts)


@hookimpl
def harness_embedders():
    return [EmbedderSpec(name="slow", target="slow_plugin:Slow")]
"""
TASK = """
name: many-words
version: 1
title: Many words
description: Many words.
source: This test
category: gender
concept: gender
kinds: [text]
inputs:
  targets_1: {{words: [{words}]}}
  targets_2: {{words: [mother, sister]}}
  attributes_1: {{words: [engineer, captain]}}
  attributes_2: {{words: [nurse, librarian]}}
metrics:
  weat: {{}}
primary: {{metric: weat, score: association}}
"""


@pytest.fixture(autouse=True)
def default_handlers():
    """Jobs of a shell's background ignore Ctrl-C, and those of nohup SIGHUP: so would the tests."""
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def site(tmp_path):
    """A folder with the model `slow`, as if it were installed."""
    folder = tmp_path / "site"
    (folder / "slow-1.dist-info").mkdir(parents=True)
    (folder / "slow_plugin.py").write_text(PLUGIN)
    (folder / "slow-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: slow\nVersion: 1\n"
    )
    (folder / "slow-1.dist-info" / "entry_points.txt").write_text("[harness]\nslow = slow_plugin\n")
    return folder


@pytest.mark.parametrize(
    ("name", "code", "engine"),
    [("SIGTERM", 143, "local"), ("SIGHUP", 129, "local"), ("SIGTERM", 143, "devices")],
)
def test_a_command_that_is_ended_keeps_what_it_encoded(tmp_path, site, name, code, engine):
    (tmp_path / "task.yaml").write_text(
        TASK.format(words=", ".join(f"word{i}" for i in range(3000)))
    )
    log = tmp_path / "log"
    log.touch()
    arguments = ["eval", "-m", f"slow?log={log}", "-t", str(tmp_path / "task.yaml")]
    arguments += ["--results", str(tmp_path / "results"), "--cache", str(tmp_path / "store")]
    arguments += ["--engine", engine, "--devices", "cpu"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from harness.commands.main import main; main()", *arguments],
        env={**os.environ, "PYTHONPATH": str(site)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(log.read_text().splitlines()) < 100 and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, getattr(signal, name))  # a scheduler signals all processes
    _, errors = process.communicate()
    assert process.returncode == code, errors
    assert errors.splitlines()[-1].startswith(f"harness: ended by {name}; ")
    assert "Traceback" not in errors
    encoded = log.read_text().splitlines()[:-30]  # without the batch in flight
    encoded = [text for text in encoded if text not in admission.TEXTS]
    assert encoded
    assert Store(tmp_path / "store", "mock-text-4").missing(encoded) == []


def test_a_signal_that_is_ignored_stays_ignored(monkeypatch):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.raised():
            os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
