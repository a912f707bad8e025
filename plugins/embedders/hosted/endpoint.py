"""An endpoint of OpenAI's protocol: requests through the `openai` client, and what its errors mean.

The client repeats requests, waits as the endpoint asks, and opens connections. A key is read from
an environment variable when the first request is sent, and goes only to the host that it was set
for. Errors are made of the status and the endpoint's message, without the key, and never have the
client's own error, which holds the request, as a cause.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from harness import names
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable

if TYPE_CHECKING:
    from openai import OpenAI, OpenAIError

T = TypeVar("T")
R = TypeVar("R")

TIMEOUT = 60.0  # seconds
RETRIES = 5
PARALLEL = 4  # concurrent requests
MESSAGE_LENGTH = 200  # most characters that an error quotes of an endpoint's message


class Refused(ModelError):
    """A request was refused, or its answer is invalid; other requests may succeed."""


class Home(NamedTuple):
    """The endpoint of a provider, for models without `base_url`."""

    url: str
    key: str
    """Variable with the key of this endpoint, and of the one in `variable`."""
    variable: str | None = None
    """Variable with another address; None if there is none."""


OPENAI = Home("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL")


class Endpoint:
    """An endpoint.

    Parameters
    ----------
    base_url
        Address such as `http://localhost:8000/v1`; None for that of `home`.
    key
        Name of the environment variable that holds the key. None: that of `home` for its
        endpoint and the one in its variable, and no key for a `base_url`.
    home
        The endpoint without a `base_url`.
    timeout
        Seconds to wait for a connection and for each part of an answer; above 0.
    retries
        How often a failed request is repeated, 0 or more.

    Attributes
    ----------
    address
        Host and path, for messages and fingerprints.

    Raises
    ------
    InvalidOption
        If the address is invalid or holds a key, `key` is not the name of a variable, or a number
        is out of range.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        home: Home = OPENAI,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        if key is not None and not names.is_variable(key):
            raise InvalidOption(
                "key= must be the name of an environment variable, such as OPENAI_API_KEY, in "
                "capitals with an underscore; never the key itself"
            )
        if not timeout > 0 or retries < 0:
            raise InvalidOption("timeout must be above 0, and retries 0 or more")
        url = base_url or os.environ.get(home.variable or "") or home.url
        self.url = url.strip().rstrip("/")
        self.address = _host_and_path(self.url)
        self.key = key or (None if base_url and self.url != home.url else home.key)
        self.timeout, self.retries = timeout, retries

    def request(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the JSON object that the endpoint answers at a path below its address.

        Raises
        ------
        Refused
            If the endpoint refuses the request, or its answer is not a JSON object.
        Unavailable
            If it does not answer, rejects the key, or does not know the model.
        """
        content, problem = b"", None
        client = self._client
        import httpx2
        from openai import OpenAIError

        try:
            content = client.post(path, cast_to=httpx2.Response, body=dict(body)).content
        except OpenAIError as error:
            problem = self._meaning(error, body["model"])
        except UnicodeError:
            problem = Refused("the text cannot be sent: it has characters that UTF-8 cannot encode")
        if problem is not None:  # raised here, so that the request with its key is not a context
            raise problem
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, Mapping):
            raise Refused("the answer is not a JSON object")
        if answer.get("error"):  # some endpoints report errors with status 200
            raise Refused(self._safe(_message(answer["error"])))
        return answer

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    @functools.cached_property
    def _client(self) -> OpenAI:
        try:
            from openai import DefaultHttpxClient, OpenAI
        except ModuleNotFoundError:
            raise Unavailable(
                "hosted models need the package 'openai': "
                'pip install "embedding-bias-harness[openai]"'
            ) from None
        secret = self._secret()
        if self.key is not None and not (secret and secret.isascii()):
            raise Unavailable(
                f"{self.address} requires a key: set the environment variable {self.key}"
            )
        return OpenAI(
            api_key=secret or "none",  # the client requires some key
            base_url=self.url,
            timeout=self.timeout,
            max_retries=self.retries,
            # A redirect would send the texts to another host.
            http_client=DefaultHttpxClient(follow_redirects=False, timeout=self.timeout),
        )

    def _secret(self) -> str:
        return os.environ.get(self.key or "", "").strip()

    def _meaning(self, error: OpenAIError, model: str) -> HarnessError:
        """Return what the last error of the client means."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            return Unavailable(f"{self.address} did not answer within {self.timeout:g} s")
        if isinstance(error, openai.APIConnectionError):
            return Unavailable(
                f"{self.address} cannot be reached ({self._safe(error.__cause__ or error)})"
            )
        if not isinstance(error, openai.APIStatusError):
            return Refused(self._safe(error))
        status = error.status_code
        details = f"{status}: {self._safe(_message(error.body) or error.message)}"
        if status in (401, 403):
            if self.key is None:
                return Unavailable(
                    f"{self.address} requires a key ({status}): put it into an environment "
                    "variable and add key=NAME_OF_THE_VARIABLE"
                )
            details = details if status == 403 else str(status)  # a 401 repeats parts of the key
            return Unavailable(f"{self.address} rejects the key in {self.key} ({details})")
        if 300 <= status < 400:
            return Unavailable(f"{self.address} redirects ({status}): set base_url to the target")
        if status == 404:
            return Unavailable(f"{self.address} has no model '{model}' ({details})")
        if status in (408, 409, 429) or status > 500:
            return Unavailable(f"{self.address} answers {details}")
        return Refused(details)  # a 500 may be about one text

    def _safe(self, message: object) -> str:
        """Return a message as one short line without the key."""
        line = " ".join(str(message).split())
        secret = self._secret()
        return (line.replace(secret, "…") if secret else line)[:MESSAGE_LENGTH]


def _host_and_path(url: str) -> str:
    """Return host and path of an endpoint's address; InvalidOption if it has more or is none."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidOption("base_url must be like http://localhost:8000/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidOption(
            "base_url must be only host and path; put a key into an environment variable and add "
            "key=NAME_OF_THE_VARIABLE"
        )
    return parts.netloc.lower() + parts.path


def _message(body: object) -> str:
    """Return the message in the body of an error."""
    for _ in range(3):  # messages are nested
        if isinstance(body, Mapping):
            body = next((body[n] for n in ("message", "detail", "error") if body.get(n)), None)
    return "" if body is None else str(body)


def map_in_threads(function: Callable[[T], R], items: Sequence[T], threads: int) -> list[R]:
    """Return `function` of each item, in their order; if it raises, no further item is started."""
    if threads == 1:
        return list(map(function, items))
    pool = ThreadPoolExecutor(threads)
    try:
        return list(pool.map(function, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
