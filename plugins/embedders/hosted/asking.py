"""Asks an endpoint for the vectors of texts, in requests of bounded size, and checks the answers.

A refused request is split in halves; a text that is refused alone is reported. After several such
texts in a row, a probe finds out whether the endpoint accepts any text. Once it is unavailable,
nothing more is sent.

Vectors are asked for in base64, which is a quarter of the bytes. If the endpoint refuses that, or
its first vectors are not float32 numbers, they are asked for as lists from then on.

With `watch`, each request of several texts also has one whose vector is known. If its vector is
another one, another model answers, or the vectors are in another order: then none of them is used.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.embedder import Role
from harness.encode.canary import is_same
from harness.errors import HarnessError, ModelError, Unavailable
from harness.plugins.embedders.hosted import answers
from harness.plugins.embedders.hosted.answers import Row
from harness.plugins.embedders.hosted.endpoint import Endpoint, Refused
from harness.plugins.embedders.hosted.request_texts import RequestTexts

PROBE = "a"
"""Text sent to find out whether an endpoint refuses some texts or all of them."""
ENCODING = "encoding_format"
"""Field of a request."""
PATIENCE = 5  # refused texts in a row before the probe is sent


class Asking:
    """Asks for vectors.

    Parameters
    ----------
    endpoint
        The endpoint.
    texts
        Makes the fields of a request from its texts.
    request
        Fields that every request has, `ENCODING` among them.
    batch_texts, batch_tokens
        Most texts and tokens of a request.
    length
        Length of a vector; None if unknown.

    Attributes
    ----------
    unavailable
        Why nothing more is sent; None while requests are sent.
    has_succeeded
        Whether a request had valid vectors.
    as_list
        Why vectors are no longer asked for in base64; None while they are as the user said.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        texts: RequestTexts,
        request: Mapping[str, Any],
        *,
        batch_texts: int,
        batch_tokens: int,
        length: int | None,
    ) -> None:
        self._endpoint, self._texts, self._request = endpoint, texts, dict(request)
        self._most_texts, self._most_tokens = batch_texts, batch_tokens
        self.length = self._stated = length
        self.unavailable: HarnessError | None = None
        self.has_succeeded = False
        self.as_list: str | None = None
        self._lock = threading.Lock()
        self._refused_in_a_row = 0
        self._takes_several = False
        self._watched: str | None = None
        self._known: dict[Role, Row] = {}  # the vector of the watched text, by role

    def watch(self, text: str | None, vector: Row | None) -> None:
        """Send `text` with each request of several texts, and compare its vector; None: nothing."""
        self._watched = text
        self._known = {} if vector is None else {"text": vector}
        self.length = self._stated if vector is None else len(vector)

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[list[str]]:
        """Yield the texts of each request."""
        room = max(1, self._most_texts - self._is_watching)
        batch: list[str] = []
        tokens = 0
        for text, size in zip(texts, self.lengths(texts, role), strict=True):
            if batch and (len(batch) >= room or tokens + size > self._most_tokens):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def lengths(self, texts: Sequence[str], role: Role) -> list[int]:
        """Return an estimate of the tokens of each text, the prompt's included."""
        return [2 + (len(self._texts.prompt(role)) + len(text)) // 4 for text in texts]

    def encode(
        self, texts: list[str], retries: int | None = None, *, role: Role
    ) -> dict[str, Row | HarnessError]:
        """Return the vector of each text of a request, or the error."""
        if self.unavailable is not None:
            return dict.fromkeys(texts, self.unavailable)
        encoding = self._request[ENCODING]
        try:
            rows = self._send(texts, retries, role)
        except (Unavailable, Refused) as error:
            if _is_of_encoding(error) and self._asks_for_lists(encoding, error):
                return self.encode(texts, retries, role=role)
            if isinstance(error, Unavailable):
                self.unavailable = error
                return dict.fromkeys(texts, error)
            if error.broken:
                # Most likely it fails on one of these texts, and will again.
                retries = min(1, self._endpoint.retrying.retries)
            if len(texts) > 1:
                return self._halved(texts, retries, role)
            if self._is_watching and not self._takes_several:
                self._most_texts = 1  # the smallest request is two texts, and perhaps one too many
                return self.encode(texts, retries, role=role)
            self._refused_in_a_row += 1
            if self._refused_in_a_row >= PATIENCE:
                self._probe(error, retries)
                if encoding != self._request[ENCODING] and self.unavailable is None:
                    return self.encode(texts, retries, role=role)
            return {texts[0]: self.unavailable or error}
        self.has_succeeded, self._refused_in_a_row = True, 0
        return dict(zip(texts, rows, strict=True))

    @property
    def _is_watching(self) -> bool:
        return self._watched is not None and self._most_texts > 1

    def _halved(
        self, texts: list[str], retries: int | None, role: Role
    ) -> dict[str, Row | HarnessError]:
        half = (len(texts) + 1) // 2
        sent = half + self._is_watching
        encoded = self.encode(texts[:half], retries, role=role)
        encoded |= self.encode(texts[half:], retries, role=role)
        if not any(isinstance(answer, HarnessError) for answer in encoded.values()):
            self._most_texts = min(self._most_texts, sent)  # the number of texts was the problem
        return encoded

    def _probe(self, error: Refused, retries: int | None) -> None:
        """Find out whether the endpoint accepts any text, and give it up if not."""
        self._refused_in_a_row = 0
        encoding = self._request[ENCODING]
        try:
            self._send([PROBE], retries)
        except Unavailable as unavailable:
            self.unavailable = unavailable
        except Refused as refused:
            if self._asks_for_lists(encoding, refused):  # its message need not say that this is why
                self._probe(error, retries)
                return
            self.unavailable = ModelError(f"{self._endpoint.address} refuses every text ({error})")

    def _send(
        self, texts: list[str], retries: int | None, role: Role | None = None
    ) -> list[Row | Refused]:
        """Return the vectors of one request; raise Refused if none of them is valid."""
        watched: list[str] = []
        if role and self._watched is not None and self._is_watching:
            watched = [self._texts.prompt("text") + self._watched]  # as its vector was made
        body = {**self._request, **self._texts.body(texts, role, watched)}
        tokens = sum(self.lengths(texts, role or "text"))
        answer = self._endpoint.embeddings(**body, retries=retries, tokens=tokens)
        items = answers.in_order(answer, len(texts) + len(watched))
        self._takes_several |= len(items) > 1
        rows = answers.vectors(items, self.length)
        if self.length is None:
            lengths = Counter(len(row) for row in rows if not isinstance(row, Refused))
            self.length = lengths.most_common(1)[0][0] if lengths else None
        checked = [self._checked(row) for row in rows]
        invalid = [row for row in checked if isinstance(row, Refused)]
        is_packed = len(invalid) == len(checked) and answers.are_packed(items)
        if is_packed and self._asks_for_lists(body[ENCODING], invalid[0]):
            return self._send(texts, retries, role)
        if role and watched:
            self._compare(rows, role)
            checked.pop()
        if all(isinstance(row, Refused) for row in checked):
            raise invalid[0]
        return checked

    def _compare(self, rows: Sequence[Row | Refused], role: Role) -> None:
        """Compare the last vector, of the watched text, with the known one."""
        seen = rows[-1]
        if isinstance(seen, Refused):
            raise seen
        known = self._known.setdefault(role if self._texts.by_request else "text", seen)
        if is_same(seen, known):
            return
        if any(not isinstance(row, Refused) and is_same(row, known) for row in rows[:-1]):
            raise Refused("its vectors are not in the order of the texts")
        raise Unavailable(
            f"{self._endpoint.address} now answers as another model than before, with other "
            "vectors; what it sent is not used: run the same command again"
        )

    def _asks_for_lists(self, encoding: str, problem: HarnessError) -> bool:
        """Return whether to send a request again, for lists of numbers instead of base64.

        Once an answer was right, all others are of its type.
        """
        with self._lock:
            if encoding == "base64" == self._request[ENCODING] and not self.has_succeeded:
                self._request[ENCODING], self.as_list = "float", str(problem)
            return bool(encoding != self._request[ENCODING])

    def _checked(self, row: Row | Refused) -> Row | Refused:
        if isinstance(row, Refused) or len(row) == self.length:
            return row
        return Refused(f"its vector has {len(row)} dimensions, not {self.length}")


def _is_of_encoding(error: HarnessError) -> bool:
    """Return whether an endpoint's message may be about the format of the vectors."""
    return any(word in str(error).lower() for word in ("base64", "encoding"))
