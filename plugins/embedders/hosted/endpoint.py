"""An OpenAI-compatible endpoint: requests for embeddings and chats, and the meaning of its errors.

A key is read from an environment variable when the first request is sent. It appears in no message,
no identity and no cause of an exception, and goes only to the host that it was set for. This module
knows neither embedders nor mitigators. It bounds the size of answers; `retrying.py` repeats
requests.
"""

from __future__ import annotations

import base64
import binascii
import functools
import html
import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, urlsplit

from harness import limits, names
from harness.digest import digest
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable

from .retrying import (
    MAX_WAIT,
    RETRIES,
    TEMPORARY,
    TIMEOUT,
    Clock,
    Limiter,
    Problem,
    Retrying,
    asked_wait,
)

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, OpenAI


# The address of an endpoint: checked, and as it may be shown and written, without any key.


VARIABLE = "OPENAI_BASE_URL"
"""Variable with the address of an endpoint, for models without `base_url`."""
_PREFIX = re.compile(
    r"(?:sk|pk|rk|xai|glpat|nvapi|pplx)-.{8}|(?:hf|gsk|gh[a-z]|r8|key|token)_.{8}|AIza.{8}|eyJ.{8}|"
    r"(?:bearer|api-?key|key|token|secret)[ =:-].{8}",
    re.IGNORECASE,
)
"""The beginnings of the keys of well-known providers."""
_LONGEST_WORD = 20  # letters and digits in a row; the parts of a UUID are shorter
_HIDDEN = "…"


@dataclass(frozen=True)
class Address:
    """An address.

    Parameters
    ----------
    url
        The whole address, to send requests to.
    shown
        Host and path, for messages; a part that looks like a key is left out.
    identity
        Host and path, for fingerprints; such a part is a digest.
    """

    url: str
    shown: str
    identity: str


def parse(url: str, *, of_variable: bool, variable: str | None = VARIABLE) -> Address:
    """Return an address.

    Parameters
    ----------
    url
        What the user gives.
    of_variable
        Whether it comes from an environment variable: then it may have a key in its path.
    variable
        The environment variable that may hold an address; None if there is none.

    Raises
    ------
    InvalidOption
        If it is no address, or has a key where it would be shown.
    """
    url = url.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1)
    except ValueError:
        valid = None
    if not valid:
        raise InvalidOption("base_url must be like http://localhost:8000/v1 or https://host/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidOption(
            "base_url must be only host and path; put a key into an environment variable and add "
            "key=NAME_OF_THE_VARIABLE"
        )
    host = parts.netloc.lower()
    segments = [_HIDDEN if _is_key(part) else part for part in parts.path.split("/")]
    shown = host + "/".join(segments)
    if _HIDDEN not in segments:
        return Address(url, shown, shown)
    if not of_variable:
        raise InvalidOption(
            "base_url has a part that looks like a key, and would be shown; "
            + (
                f"set the whole address as the environment variable {variable}, and leave base_url "
                "out"
                if variable
                else "put the key into an environment variable and add key=NAME_OF_THE_VARIABLE"
            )
        )
    return Address(url, shown, f"{shown} {digest(parts.path)}")


def host_and_path(url: str) -> str:
    """Return an address of a server's choice, such as of a redirect, as it may be shown."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return "an invalid address"
    path = "/".join(_HIDDEN if _is_key(part) else part for part in parts.path.split("/"))
    return f"{host}{path}"


def _is_key(segment: str) -> bool:
    plain = unquote(segment)
    if _PREFIX.match(plain):
        return True
    return any(
        len(word) >= _LONGEST_WORD
        and sum(c.isdigit() for c in word) >= 3
        and sum(c.isalpha() for c in word) >= 3
        for word in re.split(r"[^A-Za-z0-9]+", plain)
    )


# The `openai` client of an endpoint, with limits on what a server can make this process do.
#
# It follows no redirect, since the texts would go to another host. An answer has a largest size
# after decompression. A request and its answer have a time together: the client's own is one for
# each read, so that a byte of a header every second would hold it for hours. It repeats nothing:
# `retrying.py` does.


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
        Seconds for a request and its whole answer.

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

    deadline = _Deadline(timeout)
    http = DefaultHttpxClient(
        headers={"Accept-Encoding": ", ".join(ENCODINGS)},
        event_hooks={"request": [deadline.begin], "response": [_bound]},
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


class _Deadline(threading.local):
    """When the exchange of this thread ends.

    A connection serves the requests of several threads, one after another.

    Parameters
    ----------
    timeout
        Seconds for an exchange.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.until = math.inf

    def begin(self, request: httpx2.Request) -> None:
        """Set the deadline of a request, and ask to be told of connections that it opens."""
        self.until = time.monotonic() + self.timeout
        request.extensions["trace"] = self._opened

    def _opened(self, event: str, info: Mapping[str, Any]) -> None:
        """Limit the reads and writes of a connection that has just been opened."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            import httpcore2

            stream = info["return_value"]
            stream.read = self._limited(stream.read, httpcore2.ReadTimeout)
            stream.write = self._limited(stream.write, httpcore2.WriteTimeout)

    def _limited(self, function: Callable[..., Any], error: type[Exception]) -> Callable[..., Any]:
        def limited(content: Any, timeout: float | None = None) -> Any:
            left = self.until - time.monotonic()
            if left <= 0:
                raise error("the exchange takes too long")
            return function(content, min(left, self.timeout if timeout is None else timeout))

        return limited


def _bound(response: httpx2.Response) -> None:
    """Let the content of a response end with an error if it is too long."""
    import httpx2

    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", *ENCODINGS):
        raise Unbounded(f"the answer is compressed as {encoding[:40]!r}, which nobody asked for")
    if not isinstance(response.stream, httpx2.SyncByteStream):
        return
    stream = response.stream
    headers = {"content-encoding": encoding} if encoding else {}
    decoded = httpx2.Response(200, headers=headers, stream=stream, request=response.request)
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
                yield chunk

        def close(self) -> None:
            stream.close()

    response.stream = Bounded()
    response.headers.pop("content-encoding", None)


# Keeps keys out of every line that is shown or written: what an endpoint sends may repeat a key.
#
# A part of a key as it is becomes `…`. A message that repeats a part in another form, such as
# base64 or percent signs, is withheld as a whole.


PART = 4  # characters of a key in a row that are masked
APART = 6  # the same with other characters between them
WITHHELD = "(message withheld: it repeats the key)"
LONGEST = 20_000  # characters of a message that are read
_ESCAPE = re.compile(r"\\(?:u\{?|x)([0-9a-fA-F]{2,6})\}?")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{6,}")
_STANDARD = str.maketrans("-_", "+/")
_BASE32 = re.compile(r"[A-Za-z2-7]{8,}")
_LETTERS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"),
    *("kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango"),
    *("uniform", "victor", "whiskey", "x", "yankee", "zulu"),
)
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SIGNS = ("capital", "dash", "dot", "hyphen", "minus", "ray", "underscore")
_SPOKEN = {
    **{word: word[0] for word in _LETTERS},
    **{word: str(digit) for digit, word in enumerate(_DIGITS)},
    **dict.fromkeys(_SIGNS, ""),
}
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:,]?){4,}")
_SEPARATOR = re.compile(r"[\W_]+")


def masked(message: str, secret: str) -> str:
    """Return a message as one line without the key `secret` and without any part of it."""
    line = " ".join(message[:LONGEST].split())
    if not secret:
        return line
    line = _without_parts(line, secret)
    if any(_repeats(view, secret, PART) for view in _decoded(line)):
        return WITHHELD
    apart = _SEPARATOR.sub("", secret)
    for view in (line, line[::-1], _said(line)):
        if _repeats(_SEPARATOR.sub("", view), apart, APART):
            return WITHHELD
    return line


def _without_parts(line: str, secret: str) -> str:
    parts, start = [], 0
    while start < len(line):
        size = _shared(line, secret, start)
        is_part = size >= min(PART, len(secret))
        parts.append("…" if is_part else line[start])
        start += size if is_part else 1
    return "".join(parts)


def _repeats(line: str, secret: str, least: int) -> bool:
    least = min(least, len(secret))
    return least > 0 and any(_shared(line, secret, i) >= least for i in range(len(line)))


def _shared(line: str, secret: str, start: int) -> int:
    """Return how many characters from `start` are a part of the key, in capitals or not."""
    low, key, size = line.lower(), secret.lower(), 0
    while start + size < len(low) and low[start : start + size + 1] in key:
        size += 1
    return size


def _decoded(line: str) -> Iterator[str]:
    """Yield what a line says after the codes that a server may put a key into."""
    plain = line
    for _ in range(2):  # a code within a code
        plain = html.unescape(unquote(_ESCAPE.sub(_character, plain)))
    yield plain
    for text in {line, plain}:
        for token in _BASE64.findall(text):
            yield from _plain(token.translate(_STANDARD), 4, base64.b64decode)
        for token in _BASE32.findall(text):
            yield from _plain(token.upper(), 8, base64.b32decode)
        for token in _HEX.findall(text):
            digits = re.sub(r"[\s:,]", "", token)
            yield bytes.fromhex(digits).decode("latin-1")


def _plain(token: str, block: int, decode: Callable[[str], bytes]) -> Iterator[str]:
    """Yield what a token says that was coded in blocks, from each place where one may begin."""
    for skipped in range(block):
        whole = token[skipped:]
        whole = whole[: len(whole) // block * block]
        try:
            yield decode(whole).decode("latin-1")
        except binascii.Error:  # such as a length that none has
            continue


def _said(line: str) -> str:
    """Return a line with the names of letters and digits, such as `kilo one`, as characters."""
    return re.sub(r"[A-Za-z]+", lambda word: _SPOKEN.get(word[0].lower(), word[0]), line)


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code < 0x110000 else ""


# Counts of requests and tokens, as an endpoint reports them.


@dataclass
class Usage:
    """Requests and tokens counted so far; a request without counts adds no tokens."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, counted: object) -> None:
        """Add the `usage` of an answer."""
        counts = counted if isinstance(counted, Mapping) else {}
        completion = _number(counts.get("completion_tokens"))
        total = _number(counts.get("total_tokens"))
        with self._lock:
            self.requests += 1
            self.prompt += _number(counts.get("prompt_tokens")) or total - completion
            self.completion += completion


def usage_notes(model: str, usage: Usage, price: float | None) -> tuple[str, ...]:
    """Return one line on the tokens that an endpoint counted; none without a request.

    Parameters
    ----------
    model
        Name of the model.
    usage
        The counts.
    price
        US$ per million tokens; None if unknown.
    """
    if not usage.requests:
        return ()
    tokens = f"{usage.prompt:,}" + (f" + {usage.completion:,}" if usage.completion else "")
    cost = "" if price is None else f", US$ {usage.prompt * price / 1e6:.4f}"
    requests = f"{usage.requests} request{'s' if usage.requests > 1 else ''}"
    return (f"{model}: the endpoint counted {tokens} tokens in {requests}{cost}",)


def _number(value: object) -> int:
    if isinstance(value, float) and value.is_integer():  # Cohere's type of counts
        return int(value)
    return value if isinstance(value, int) else 0


@dataclass(frozen=True)
class Home:
    """The endpoint of a provider, for models without `base_url`.

    Parameters
    ----------
    url
        Its address.
    key
        Variable with the key of this endpoint, and of the one in `variable`.
    variable
        Variable with another address; None if there is none.
    """

    url: str
    key: str
    variable: str | None = None


OPENAI = Home("https://api.openai.com/v1", "OPENAI_API_KEY", VARIABLE)
PARALLEL = 4  # concurrent requests

Reading: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Makes a request or an answer in another form; one of them is OpenAI's."""


def as_sent(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request or an answer as it is, in OpenAI's form."""
    return content


MESSAGE_LENGTH = 200  # most characters that an error quotes of an endpoint's message


class Refused(ModelError):
    """A request was refused, or its answer is invalid; other requests may succeed.

    Parameters
    ----------
    problem
        What is wrong.
    broken
        Whether the endpoint itself failed (status 500, or an answer that is cut), so that many
        retries are useless.
    """

    def __init__(self, problem: str, *, broken: bool = False) -> None:
        super().__init__(problem)
        self.broken = broken


class Endpoint:
    """An endpoint. If a request raises `Unavailable`, further requests fail in the same way.

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
        Seconds to wait for a connection, and for a whole answer; above 0.
    retries
        How often a failed request is repeated, 0 or more.
    max_wait
        Longest wait in seconds that the endpoint may ask for; beyond it the run ends, and says so.
    rpm, tpm
        Most requests and tokens a minute, above 0; None for no limit.
    clock
        What tells the time.

    Attributes
    ----------
    address
        Host and path, for messages.
    identity
        Host and path, for fingerprints.
    stated_model
        Name of the model in an answer, if it is another one than was asked for; else empty.
    retrying
        Repeats requests; its `say` shows a line while a run waits.

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
        max_wait: float = MAX_WAIT,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Clock = time,
    ) -> None:
        if key is not None and not names.is_variable(key):
            raise InvalidOption(
                "key= must be the name of an environment variable, such as OPENAI_API_KEY, in "
                "capitals with an underscore; never the key itself"
            )
        if not timeout > 0 or retries < 0 or not max_wait >= 0:
            raise InvalidOption("timeout must be above 0, and retries and max_wait 0 or more")
        url = base_url or os.environ.get(home.variable or "") or home.url
        parsed = parse(url, of_variable=not base_url, variable=home.variable)
        self.url, self.address, self.identity = parsed.url, parsed.shown, parsed.identity
        self.key = key or (None if base_url and self.url != home.url else home.key)
        self.timeout = timeout
        self.retrying = Retrying(Limiter(rpm, tpm, clock), retries, max_wait)
        self.usage = Usage()
        self.stated_model = ""

    def embeddings(
        self,
        body: Mapping[str, Any],
        *,
        path: str,
        read: Reading,
        tokens: int = 0,
        retries: int | None = None,
    ) -> Mapping[str, Any]:
        """Request embeddings.

        Parameters
        ----------
        body
            Fields of the request.
        path
            Where it goes, below the address of the endpoint.
        read
            Makes an answer in OpenAI's form from one of the endpoint.
        tokens
            Number of tokens of the request, at least an estimate.
        retries
            Overrides the endpoint's own number.

        Raises
        ------
        Refused
            If the endpoint refuses the request, or its answer is not a JSON object.
        Unavailable
            If it does not answer, rejects the key, or does not know the model.
        """
        return self._ask(path, body, tokens, retries, read)

    def chat(self, *, tokens: int = 0, **body: Any) -> Mapping[str, Any]:
        """Request the completion of a chat; raises the same errors as `embeddings`."""
        return self._ask("/chat/completions", body, tokens)

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        openai = self.__dict__.pop("_client", None)
        if openai is not None:
            openai.close()

    def _ask(
        self,
        path: str,
        body: Mapping[str, Any],
        tokens: int,
        retries: int | None = None,
        read: Reading = as_sent,
    ) -> Mapping[str, Any]:
        once = functools.partial(self._once, self._client, path, body, read)
        return self.retrying.request(once, tokens, self.address, retries)

    def _once(
        self,
        openai: OpenAI,
        path: str,
        body: Mapping[str, Any],
        read: Reading,
    ) -> Mapping[str, Any] | Problem:
        import httpx2
        from openai import OpenAIError

        model = body["model"]
        # What is returned here is raised outside the except block, so that the request with its
        # key is not a cause.
        try:
            reply = openai.post(path, cast_to=httpx2.Response, body=body)
        except OpenAIError as error:
            return self._problem(error, model)
        except Unbounded as error:
            return Problem(Refused(str(error)))
        except UnicodeError:
            return Problem(
                Refused("the text cannot be sent: it has characters that UTF-8 cannot encode")
            )
        answer = self._read(reply.content, read)
        stated = None if isinstance(answer, Problem) else answer.get("model")
        # Endpoints add an owner, a version or a tag to a name.
        if isinstance(stated, str) and _base(model) not in stated.casefold():
            self.stated_model = self._safe(stated)
        return answer

    @functools.cached_property
    def _client(self) -> OpenAI:
        return client(self.url, self._secret(), self.timeout)

    def _secret(self) -> str:
        if self.key is None:
            return ""
        secret = os.environ.get(self.key, "").strip()
        if not secret:
            raise Unavailable(
                f"{self.address} requires a key: set the environment variable {self.key}"
            )
        if not secret.isascii() or not secret.isprintable():
            raise Unavailable(
                f"the environment variable {self.key} does not hold a key: it has characters that "
                "no key has"
            )
        return secret

    def _problem(self, error: Exception, model: str) -> Problem:
        import openai

        if isinstance(error, openai.APITimeoutError):
            text = f"{self.address} did not answer within {self.timeout:g} s, {self._tries()}"
            unreached = type(error.__cause__).__name__ == "ConnectTimeout"
            return Problem(Unavailable(text), again=True, unreached=unreached)
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            text = f"{self.address} cannot be reached ({self._safe(cause)}), {self._tries()}"
            unreached = type(cause).__name__ == "ConnectError"
            return Problem(Unavailable(text), again=True, unreached=unreached)
        if not isinstance(error, openai.APIStatusError):
            return Problem(Refused(self._safe(error)))
        status = error.status_code
        asked = asked_wait(error.response.headers)
        again = status in TEMPORARY or status >= 500
        meaning = self._meaning(error, model)
        return Problem(meaning, again=again, wait=asked, too_many=status == 429)

    def _meaning(self, error: APIStatusError, model: str) -> HarnessError:
        status = error.status_code
        details = f"{status}: {self._safe(_message(error.body) or error.message)}"
        if status in (401, 403):
            if self.key is None:
                return Unavailable(
                    f"{self.address} requires a key ({status}): put it into an environment "
                    "variable and add key=NAME_OF_THE_VARIABLE"
                )
            # The message of a 401 repeats parts of the key.
            details = details if status == 403 else str(status)
            return Unavailable(f"{self.address} rejects the key in {self.key} ({details})")
        if 300 <= status < 400:
            place = self._safe(host_and_path(error.response.headers.get("location", "")))
            return Unavailable(
                f"{self.address} redirects to {place or 'nowhere'} ({status}), which is not "
                "followed: set base_url to the right address"
            )
        if status == 404:
            return Unavailable(f"{self.address} has no model '{model}' ({details})")
        if status in TEMPORARY or status > 500:
            return Unavailable(f"{self.address} answers {details}, {self._tries()}")
        return Refused(details, broken=status == 500)

    def _read(
        self,
        content: bytes,
        read: Reading = as_sent,
    ) -> Mapping[str, Any] | Problem:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            # Most likely it was cut on the way.
            return Problem(Refused("the answer is not JSON", broken=True), again=True)
        if not isinstance(answer, Mapping):
            return Problem(Refused("the answer is not a JSON object"))
        if answer.get("error"):  # some endpoints report errors with status 200
            return Problem(Refused(self._safe(_message(answer["error"]))))
        answer = read(answer)
        self.usage.add(answer.get("usage"))
        return answer

    def _safe(self, message: object) -> str:
        """Return an endpoint's message as one short line without the key."""
        secret = os.environ.get(self.key or "", "").strip()
        return masked(str(message), secret)[:MESSAGE_LENGTH]

    def _tries(self) -> str:
        retries = self.retrying.retries
        return f"after up to {retries + 1} requests" if retries else "after 1 request"


def _base(model: str) -> str:
    return model.rpartition("/")[2].casefold()


def _message(body: object) -> str:
    """Return the message in the body of an error."""
    for _ in range(4):  # messages are nested, but not for ever
        if not isinstance(body, Mapping):
            break
        body = next((body[n] for n in ("message", "detail", "error") if body.get(n)), None)
    try:
        return "" if body is None else str(body)
    except RecursionError:
        return "a message that is nested too deep"
