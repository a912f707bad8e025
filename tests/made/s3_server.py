"""A server of S3's protocol on 127.0.0.1, which counts what it sends and can refuse requests."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from moto.server import ThreadedMotoServer

_NUMBERS = itertools.count()
_REFUSAL = (
    "<Error><Code>{code}</Code><Message>refused, key AKIDTESTING</Message>"
    "<RequestId>1</RequestId></Error>"
)
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIDTESTING",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-tests",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_MAX_ATTEMPTS": "1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "NO_PROXY": "127.0.0.1",
}


@dataclass
class S3Server:
    """A running server.

    Parameters
    ----------
    refused
        Statuses and codes of errors by the request's method, such as `{"PUT": (503, "SlowDown")}`,
        or by a header of it, such as `HTTP_IF_NONE_MATCH`.
    sent
        Number of bytes of answers so far.
    """

    refused: dict[str, tuple[int, str]] = field(default_factory=dict)
    sent: int = 0

    def __enter__(self):
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.url = f"http://{host}:{port}"
        self._inner = self._server._server.app
        self._server._server.app = self._answer
        return self

    def __exit__(self, *_):
        self._server.stop()

    def _answer(self, environ, start_response):
        keys = [key for key in self.refused if key in environ or key == environ["REQUEST_METHOD"]]
        status, code = self.refused[keys[0]] if keys else (0, "")
        if status and environ["PATH_INFO"].count("/") > 1:  # an object, not a bucket
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start_response(f"{status} refused", [("Content-Type", "application/xml")])
            return [_REFUSAL.format(code=code).encode()]
        return self._counted(self._inner(environ, start_response))

    def _counted(self, parts):
        for part in parts:
            self.sent += len(part)
            yield part

    def new_bucket(self) -> str:
        """Make a bucket, and return its address."""
        import fsspec

        name = f"bucket-{next(_NUMBERS)}"
        fsspec.filesystem("s3").mkdir(name)
        return f"s3://{name}"
