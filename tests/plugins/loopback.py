"""An endpoint on 127.0.0.1 that embeds and chats as OpenAI's does, with faults on demand.

It is a real HTTP server in a thread; tests reach it through the real client. The vector of a text
depends on the text alone, so that a test can compute the expected one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np

from harness.encode import admission

MODEL = "toy"
DIMENSIONS = 8


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong with the answer to one request.

    Parameters
    ----------
    status, headers, body
        What is sent; without a body, an error in OpenAI's format.
    seconds
        Seconds to wait before the answer.
    cut
        Whether the connection is cut in the middle of the answer.
    twist
        Changes the correct answer in place, or returns another one.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    seconds: float = 0.0
    cut: bool = False
    twist: Callable[[dict[str, Any]], Any] | None = None


TOO_MANY = Fault(status=429, headers={"retry-after": "0.01"})
"""Too many requests; a retry is allowed soon."""
BROKEN = Fault(status=500, headers={"retry-after": "0.01"})
BUSY = Fault(status=503, headers={"retry-after": "0.01"})


class Loopback:
    """The endpoint, a context manager.

    Parameters
    ----------
    key
        The key that requests must have; None for any.
    longest
        Most characters of a text; longer ones are refused.
    most
        Most texts of a request; larger ones are refused.
    port
        The port; 0 for any free one.
    """

    def __init__(
        self,
        *,
        key: str | None = None,
        longest: int = 10_000,
        most: int = 2048,
        port: int = 0,
    ) -> None:
        self.key, self.longest, self.most, self.port = key, longest, most, port
        self.reply: Callable[[str, str], Any] = lambda system, text: text
        """Returns the answer of a chat to an instruction and a text."""
        self.embed: Callable[[list[str], int], Any] = lambda texts, d: [vector(t, d) for t in texts]
        """Returns float32 vectors of texts, with so many dimensions."""
        self.answer: Callable[[str, Mapping[str, Any]], tuple[int, Any]] | None = None
        """Returns status and answer for the path and body of a request, in another form."""
        self.faults: list[Fault | None] = []
        """Faults of the next requests, in order; None for a correct answer."""
        self.always: Callable[[Mapping[str, Any]], Fault | None] = lambda body: None
        """Returns the fault for a request's body, once `faults` is empty."""
        self.requests: list[dict[str, Any]] = []
        """The body of each request; `headers` has its headers, with names in lower case."""
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was sent for embedding, in order, but for the canaries."""
        sent = [text for body in self.requests for text in body.get("input", ())]
        return [text for text in sent if text not in admission.CANARY_TEXTS]

    def __enter__(self) -> Self:
        class Handler(_Handler):
            loopback = self

        self.stopped.clear()
        self._server = _Server(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening; later connections are refused."""
        if not self.stopped.is_set():
            self.stopped.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


def vector(text: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Return the (d,) float32 unit vector of a text."""
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    drawn = np.random.default_rng(seed).standard_normal(dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def expected(texts: Iterable[str]) -> np.ndarray:
    """Return the vectors of texts, a row each."""
    return np.array([vector(text) for text in texts])


def twisted(change: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], Fault]:
    """Return a function for `always` that changes the data of each correct answer in place."""

    def twist(answer: dict[str, Any]) -> None:
        change(answer["data"])

    return lambda body: Fault(twist=twist)


class _Server(ThreadingHTTPServer):
    """Says nothing of connections that break."""

    def handle_error(self, *_: object) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    """Answers requests."""

    loopback: Loopback
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:  # the library's name
        loopback = self.loopback
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with loopback.lock:
            loopback.requests.append(body | {"headers": headers})
            fault = loopback.faults.pop(0) if loopback.faults else loopback.always(body)
        if fault is None:
            self._send(*self._answer(body))
            return
        loopback.stopped.wait(fault.seconds)
        status, answer = self._answer(body) if fault.status == 200 else (fault.status, None)
        if fault.twist is not None:
            answer = fault.twist(answer) or answer
        if fault.body is None and answer is None:
            answer = {"error": {"message": f"status {fault.status} on demand"}}
        self._send(status, answer, fault)

    def _answer(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        loopback = self.loopback
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if loopback.key is not None and key != loopback.key:
            return 401, _error(f"Incorrect API key provided: {key}")
        if loopback.answer is not None:
            return loopback.answer(self.path, body)
        if body["model"] != MODEL:
            return 404, _error(f"The model `{body['model']}` does not exist")
        if self.path == "/v1/embeddings":
            return self._embeddings(body)
        if self.path == "/v1/chat/completions":
            return self._chat(body)
        return 404, _error("Not found")

    def _embeddings(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        texts = body["input"]
        if len(texts) > self.loopback.most:
            return 413, _error(f"batch size {len(texts)} > maximum {self.loopback.most}")
        if any(len(text) > self.loopback.longest for text in texts):
            return 400, _error("maximum context length exceeded")
        if not all(texts):
            return 400, _error("input cannot be an empty string")
        vectors = self.loopback.embed(texts, body.get("dimensions", DIMENSIONS))
        data = [
            {"object": "embedding", "index": i, "embedding": row.tolist()}
            for i, row in enumerate(vectors)
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return 200, {"object": "list", "model": MODEL, "data": data, "usage": usage}

    def _chat(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        *before, text = (message["content"] for message in body["messages"])
        system = "".join(before)
        content = self.loopback.reply(system, text)
        prompt = len(f"{system} {text}".split())
        completion = len(str(content).split())
        message = {"role": "assistant", "content": content}
        return 200, {
            "id": "1",
            "object": "chat.completion",
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }

    def _send(self, status: int, answer: Any, fault: Fault | None = None) -> None:
        fault = fault or Fault()
        content = json.dumps(answer).encode() if fault.body is None else fault.body
        self.send_response(status)
        for name, value in fault.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if fault.cut else content)
        self.close_connection = fault.cut or self.loopback.stopped.is_set()

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def finish(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # a connection that was reset
            super().finish()


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}
