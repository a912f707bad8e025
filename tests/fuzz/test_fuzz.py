"""A short run of the fuzzer: the corpus of each kind, and some mutations."""

from __future__ import annotations

import pytest

from harness.errors import InvalidFile

from .kinds import KINDS
from .running import findings, problem_of, sandbox, seeds

MUTATIONS = 100
pytestmark = pytest.mark.posix


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there


@pytest.mark.parametrize("name", KINDS)
def test_nothing_but_a_clear_error_comes_out(name, tmp_path):
    inputs = len(seeds(name)) + (MUTATIONS // 5 if name == "claims" else MUTATIONS)
    assert [problem for problem, _ in findings(name, tmp_path, inputs)] == []


@pytest.mark.parametrize(
    ("read", "fact"),
    [
        (lambda _: 1 // 0, "ZeroDivisionError"),
        (lambda _: exit(7), "SystemExit"),  # as a model does
        (lambda path: InvalidFile("ok", path=path), None),
        (lambda path: (path.parent / "link.tsv").read_text(), "secret.tsv"),
        (lambda path: (path.parent / "a.tsv").read_text(), None),
    ],
)
def test_what_is_a_finding(tmp_path, read, fact):
    inside, outside = sandbox(tmp_path)
    found = problem_of(read, inside / "x", outside)
    assert fact in found if fact else found is None
