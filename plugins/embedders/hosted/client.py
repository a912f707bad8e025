"""The `openai` client of an endpoint, with limits on what a server can make this process do.

It follows no redirect, since the texts would go to another host. An answer has a largest size after
decompression, and a time. It repeats nothing: `retrying.py` does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness import limits
from harness.errors import ModelError, Unavailable

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

ENCODINGS = ("gzip", "deflate")  # others make a thousand bytes of one


class Unbounded(ModelError):
    """An answer that is too long, or compressed in a way that nobody asked for."""


def client(url: str, secret: str, timeout: float) -> OpenAI:
    """Return a client.

    Parameters
    ----------
    url
        Address of the endpoint.
    secret
        The key; empty for none.
    timeout
        Seconds for connecting, and for a whole answer after its headers.

    Raises
    ------
    Unavailable
        If the package is not installed.
    """
    try:
        from openai import DefaultHttpxClient, OpenAI
    except ModuleNotFoundError:
        raise Unavailable(
            "hosted models need the package 'openai': "
            'pip install "embedding-bias-harness[openai]"'
        ) from None

    def bound(response: httpx2.Response) -> None:
        _bound(response, timeout)

    http = DefaultHttpxClient(
        headers={"Accept-Encoding": ", ".join(ENCODINGS)},
        event_hooks={"response": [bound]},
        follow_redirects=False,
        timeout=timeout,
    )
    return OpenAI(
        api_key=secret or "none",  # the client requires some key; endpoints without keys ignore it
        base_url=url,
        timeout=timeout,
        max_retries=0,
        http_client=http,
    )


def _bound(response: httpx2.Response, timeout: float) -> None:
    """Let the content of a response end with an error if it is too long or takes too long."""
    import httpx2

    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", *ENCODINGS):
        raise Unbounded(f"the answer is compressed as {encoding[:40]!r}, which nobody asked for")
    if not isinstance(response.stream, httpx2.SyncByteStream):
        return
    stream = response.stream
    headers = {"content-encoding": encoding} if encoding else {}
    decoded = httpx2.Response(200, headers=headers, stream=stream, request=response.request)
    until = time.monotonic() + timeout
    largest = limits.ANSWER_BYTES

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in decoded.iter_bytes():
                size += len(chunk)
                if size > largest:
                    raise Unbounded(
                        f"the answer has {limits.too_many(size, largest)}; "
                        "set a smaller batch_texts"
                    )
                if time.monotonic() > until:
                    raise httpx2.ReadTimeout("the answer takes too long")
                yield chunk

        def close(self) -> None:
            stream.close()

    response.stream = Bounded()
    response.headers.pop("content-encoding", None)
