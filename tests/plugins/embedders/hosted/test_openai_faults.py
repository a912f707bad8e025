"""Facts about hosted text encoders whose server misbehaves, and texts that it refuses."""

import numpy as np
import pytest
from loopback import BROKEN, BUSY, DIMENSIONS, TOO_MANY, Fault, Loopback, expected

from harness.encode.batches import encode_batches
from harness.errors import ModelError, Unavailable
from harness.plugins.embedders.hosted.openai import PROBE, EndpointError
from harness.store.store import Store

TEXTS = [f"text number {i}" for i in range(10)]


@pytest.fixture
def encode(tmp_path):
    """Encode as a run does: `encode(embedder, texts)` gives the store and the report."""

    def run(embedder, texts, budget=1_000):
        store = Store(tmp_path / "store", embedder.info.fingerprint)
        with store.writer() as writer:
            report = encode_batches(
                embedder, texts, writer, batch_tokens=budget, on_done=lambda n: None
            )
        return store, report

    return run


def only(condition, fault):
    """Return what answers requests amiss whose texts meet a condition."""
    return lambda body: fault if any(condition(text) for text in body["input"]) else None


# What may pass


@pytest.mark.parametrize(
    "fault", [TOO_MANY, BROKEN, BUSY, Fault(cut=True), Fault(seconds=0.3)], ids=str
)
def test_what_may_pass_is_tried_again(loopback, embedder, fault):
    loopback.faults = [fault]
    made = embedder(timeout=0.2 if fault.seconds else 5)
    np.testing.assert_array_equal(made.encode(TEXTS), expected(TEXTS))
    assert len(loopback.requests) == 2


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (TOO_MANY, "answers 429: status 429 on demand, asked up to 2 times"),
        (BUSY, "answers 503: status 503 on demand, asked up to 2 times"),
        (Fault(status=429, headers={"retry-after": "3600"}), "answers 429"),
        (Fault(cut=True), "cannot be reached"),
        (Fault(seconds=5), "did not answer within 0.2 s, asked up to 2 times"),
        (Fault(status=502, body=b"<html>\n" * 99), "answers 502: <html> <html>"),
    ],
)
def test_what_does_not_pass_is_told(loopback, embedder, fault, told):
    loopback.always = lambda body: fault
    with pytest.raises(Unavailable) as gone:
        embedder(timeout=0.2 if fault.seconds else 5).encode(TEXTS)
    assert told in str(gone.value)
    assert len(str(gone.value)) < 400


def test_an_endpoint_that_is_not_there_is_told(embedder):
    with Loopback() as gone:
        pass
    with pytest.raises(Unavailable, match=f"127.0.0.1:{gone.port}/v1 cannot be reached .*refused"):
        embedder(base_url=gone.url, retries=0).encode(TEXTS)


# What one text does


def test_a_text_that_is_too_long_is_found_and_the_others_are_kept(loopback, embedder, encode):
    loopback.longest = 100
    texts = [*TEXTS, "long " * 30, "longer " * 30]
    store, report = encode(embedder(), texts)
    assert report.n_texts == len(TEXTS)
    reason = "EndpointError: 400: maximum context length exceeded"
    assert report.failed == {"long " * 30: reason, "longer " * 30: reason}
    np.testing.assert_array_equal(store.get(TEXTS), expected(TEXTS))
    # 12 are halved to 6, 3, 2 and 1, where the long ones come first; no text is sent in vain.
    assert [len(request["input"]) for request in loopback.requests] == [12, 6, 3, 2, 1, 1, 1, 3, 6]


def test_an_empty_text_that_is_refused_is_told_like_any(embedder, encode):
    _, report = encode(embedder(), ["", *TEXTS])
    assert report.failed == {"": "EndpointError: 400: input cannot be an empty string"}


def test_a_text_that_cannot_be_sent_is_told_like_any(embedder, encode):
    _, report = encode(embedder(), ["half a pair \ud800", *TEXTS])
    assert list(report.failed) == ["half a pair \ud800"]
    assert report.n_texts == len(TEXTS)


def test_a_text_that_breaks_the_endpoint_is_told_like_any(loopback, embedder, encode):
    loopback.always = only(lambda text: text == TEXTS[3], BROKEN)
    _, report = encode(embedder(retries=3), TEXTS)
    assert report.failed == {TEXTS[3]: "EndpointError: 500: status 500 on demand"}


def test_texts_that_are_too_many_are_sent_in_smaller_requests_from_then_on(loopback, embedder):
    loopback.most = 3
    made = embedder(batch_texts=8)
    texts = [f"text number {i}" for i in range(24)]
    np.testing.assert_array_equal(made.encode(texts[:8]), expected(texts[:8]))
    loopback.requests.clear()
    np.testing.assert_array_equal(made.encode(texts[8:]), expected(texts[8:]))
    assert all(len(request["input"]) <= 3 for request in loopback.requests)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([0.5] * (DIMENSIONS - 1), "its vector has 7 dimensions, not 8"),
        ([float("nan")] * DIMENSIONS, "NaN or infinity"),
        ([1e300] * DIMENSIONS, "NaN or infinity"),
        ([None] * DIMENSIONS, "NaN or infinity"),
        ([], "its vector is empty"),
        ("", "its vector is empty"),
        ("AAA", "not one of numbers"),
        (["a"] * DIMENSIONS, "not one of numbers"),
        ([[0.5] * DIMENSIONS], "not one of numbers"),
        ({"a": 1}, "not one of numbers"),
        (0.5, "not one of numbers"),
    ],
)
def test_one_vector_that_is_none_leaves_the_others(loopback, embedder, encode, given, told):
    def spoil(answer):
        # The engine asks for the longest texts first, and these are of one length.
        answer["data"][2]["embedding"] = given

    loopback.faults = [Fault(twist=spoil)]
    store, report = encode(embedder(), TEXTS)
    assert list(report.failed) == [TEXTS[2]]
    assert told in report.failed[TEXTS[2]]
    others = [text for text in TEXTS if text != TEXTS[2]]
    np.testing.assert_array_equal(store.get(others), expected(others))
    assert len(loopback.requests) == 1, "what was answered is not asked for again"


def test_a_vector_that_goes_missing_is_found(loopback, embedder, encode):
    """As of an endpoint that leaves out a text it does not like."""

    def drop(body):
        def twist(answer):
            answer["data"] = [
                item
                for item, text in zip(answer["data"], body["input"], strict=True)
                if text != TEXTS[5]
            ]

        return Fault(twist=twist)

    loopback.always = drop
    _, report = encode(embedder(), TEXTS)
    assert report.failed == {TEXTS[5]: "EndpointError: 0 vectors came for 1 texts"}


# An endpoint that is no good


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(body=b"{"), "the answer is not JSON"),
        (Fault(body=b"[" * 100_000), "the answer is not JSON"),
        (Fault(body=b"\xff\xfe"), "the answer is not JSON"),
        (Fault(body=b"[]"), "not a JSON object"),
        (Fault(body=b"{}"), "no list of vectors"),
        (Fault(body=b'{"data": [1]}'), "no list of vectors"),
        (Fault(body=b'{"error": {"message": "no credit"}}'), "no credit"),
        (Fault(status=400), "400: status 400 on demand"),
        (Fault(status=422, body=b'{"detail": "dimensions"}'), "422: dimensions"),
        (Fault(twist=lambda a: a["data"].clear()), "0 vectors came for 1 texts"),
        (Fault(twist=lambda a: a["data"].append(a["data"][0])), "2 vectors came for 1 texts"),
        (
            Fault(twist=lambda a: [item.update(index=7) for item in a["data"]] and None),
            "not numbered from 0 to 0",
        ),
        (BROKEN, "500: status 500 on demand"),
    ],
)
def test_an_endpoint_that_is_always_wrong_is_given_up_soon(loopback, embedder, fault, told):
    loopback.always = lambda body: fault
    texts = [f"text number {i}" for i in range(100)]
    with pytest.raises(ModelError, match="refuses whatever is sent") as given_up:
        embedder(retries=1).encode(texts)
    assert told in str(given_up.value)
    sent = {tuple(request["input"]) for request in loopback.requests}
    assert (PROBE,) in sent
    assert len(sent) < 20


def test_vectors_of_another_length_than_asked_for_are_no_answer(loopback, embedder):
    loopback.always = lambda body: Fault(
        twist=lambda a: [item.update(embedding=[0.5, 0.5]) for item in a["data"]] and None
    )
    with pytest.raises(ModelError, match="its vector has 2 dimensions, not 8"):
        embedder(dimensions=8).encode(TEXTS)


def test_many_texts_that_are_refused_on_end_do_not_condemn_the_endpoint(loopback, embedder, encode):
    loopback.longest = 100
    long = ["long " * (30 + i) for i in range(20)]
    _, report = encode(embedder(), [*TEXTS, *long])
    assert set(report.failed) == set(long)
    assert report.n_texts == len(TEXTS)


# An endpoint that goes away


@pytest.mark.parametrize("parallel", [1, 4])
def test_what_was_encoded_stays_when_the_endpoint_goes_away(loopback, embedder, encode, parallel):
    loopback.always = lambda body: BUSY if len(loopback.requests) > 5 else None
    texts = [f"text number {i:03}" for i in range(100)]
    made = embedder(batch_texts=4, parallel=parallel)
    store, report = encode(made, texts, budget=200)
    assert report.n_texts == 20
    assert len(store.missing(texts)) == len(report.failed) == 80
    assert all("answers 503" in why for why in report.failed.values())
    assert len(loopback.requests) <= 5 + 2 * parallel, "it is not asked for every text"


def test_once_gone_it_is_gone_for_the_run_even_if_it_comes_back(loopback, embedder):
    made = embedder(retries=0)
    made.encode(["a"])
    loopback.faults = [BUSY]
    for _ in range(2):
        with pytest.raises(EndpointError, match="answers 503"):
            made.encode(["b"])
    assert len(loopback.requests) == 2
