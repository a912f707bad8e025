"""Facts about hosted text encoders, through the real client to a real server that misbehaves."""

import logging
import sys
import traceback

import numpy as np
import pytest
from loopback import BROKEN, BUSY, DIMENSIONS, TOO_MANY, Fault, Loopback, vector

from harness.embedder import Embedder
from harness.engine import encode_batches
from harness.errors import HarnessError, InvalidOption, ModelError, Unavailable
from harness.plugins.embedders.openai import PROBE, EndpointError, OpenAIEmbedder
from harness.registry import Registry
from harness.store import Store

SECRET = "sk-1234-never-to-be-seen"
TEXTS = [f"text number {i}" for i in range(10)]


@pytest.fixture
def embedder(loopback):
    """Make an embedder of the loopback server: `embedder(option=…)`."""
    made = []

    def make(reference="toy", **options):
        options = {"base_url": loopback.url, "retries": 1, "timeout": 5, "parallel": 1} | options
        made.append(OpenAIEmbedder(reference, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


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


def expected(texts):
    return np.array([vector(text) for text in texts])


def only(condition, fault):
    """Return what answers requests amiss whose texts meet a condition."""
    return lambda body: fault if any(condition(text) for text in body["input"]) else None


def twisted(change):
    """Return what changes each right answer in place."""

    def twist(answer):
        change(answer["data"])

    return lambda body: Fault(twist=twist)


# Vectors


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_vectors_are_those_of_the_endpoint_to_the_last_bit(embedder, encoding):
    vectors = embedder(encoding=encoding).encode(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, expected(TEXTS))


def test_floats_are_understood_where_base64_was_asked_for(loopback, embedder):
    def as_floats(data):
        for item, text in zip(data, TEXTS, strict=True):
            item["embedding"] = vector(text).tolist()

    loopback.always = twisted(as_floats)
    np.testing.assert_array_equal(embedder().encode(TEXTS), expected(TEXTS))


def test_the_numbers_of_the_answer_say_whose_vector_it_is(loopback, embedder):
    loopback.always = twisted(lambda data: data.reverse())
    np.testing.assert_array_equal(embedder().encode(TEXTS), expected(TEXTS))


def test_no_texts_need_no_request(loopback, embedder):
    assert embedder(dimensions=4).encode([]).shape == (0, 4)
    assert loopback.requests == []


def test_dimensions_and_prompt_are_sent(loopback, embedder):
    assert embedder(dimensions=4, prompt="query: ").encode(["a"]).shape == (1, 4)
    (request,) = loopback.requests
    assert (request["dimensions"], request["input"]) == (4, ["query: a"])
    embedder().encode(["a"])
    assert "dimensions" not in loopback.requests[1]


def test_requests_hold_so_many_texts_and_tokens_at_most(loopback, embedder):
    embedder(batch_texts=4).encode(TEXTS)
    assert [len(request["input"]) for request in loopback.requests] == [4, 4, 2]
    loopback.requests.clear()
    embedder(batch_tokens=15).encode(["x" * 20, "y" * 20, "z" * 400, "w"])
    assert [len(request["input"]) for request in loopback.requests] == [2, 1, 1]


def test_requests_under_way_at_once_give_vectors_in_the_order_of_the_texts(loopback, embedder):
    texts = [f"text number {i}" for i in range(60)]
    vectors = embedder(batch_texts=3, parallel=4).encode(texts)
    np.testing.assert_array_equal(vectors, expected(texts))
    assert len(loopback.requests) == 20


# What it is


def test_what_it_is_costs_no_request_and_needs_no_key(loopback, embedder):
    made = embedder(dimensions=4, price=0.5, key="NO_SUCH_VARIABLE")
    assert isinstance(made, Embedder)
    assert (made.info.kind, made.info.dimensions, made.info.price) == ("text", 4, 0.5)
    assert loopback.requests == []


def test_a_fingerprint_tells_endpoints_models_lengths_and_prompts_apart():
    def fingerprint(reference="toy", **options):
        return OpenAIEmbedder(reference, **options).info.fingerprint

    some = [
        fingerprint(),
        fingerprint("other"),
        fingerprint(dimensions=4),
        fingerprint(prompt="q: "),
        fingerprint(base_url="http://localhost:1/v1"),
        fingerprint(base_url="http://localhost:2/v1"),
    ]
    assert len(set(some)) == len(some)
    same = {"key": "OTHER_KEY", "retries": 0, "timeout": 1, "batch_texts": 2, "encoding": "float"}
    assert fingerprint(**same, base_url="https://api.openai.com/v1/") == fingerprint()


def test_it_is_reported_under_what_changes_its_vectors(loopback):
    options = f"base_url={loopback.url}&timeout=3&dimensions=4&key=SOME_KEY&retries=0"
    info = Registry().embedder(f"openai:toy?{options}").info
    assert info.name == f"openai:toy?base_url={loopback.url}&dimensions=4"


@pytest.mark.parametrize(
    ("name", "dimensions", "price"),
    [
        ("text-embedding-3-small", 1536, 0.02),
        ("text-embedding-3-large", 3072, 0.13),
        ("text-embedding-ada-002", 1536, 0.10),
        ("voyage-3-lite", 512, 0.02),
        ("gemini-embedding-001", 3072, 0.15),
    ],
)
def test_hosted_models_are_registered_with_their_cards(name, dimensions, price):
    info = Registry().embedder(name).info
    assert (info.name, info.dimensions, info.price) == (name, dimensions, price)


def test_the_endpoint_counts_tokens_and_the_price_makes_them_a_cost(embedder):
    made = embedder(price=1000, batch_texts=5)
    assert made.notes == ()
    made.encode(TEXTS)
    told = "openai:toy: the endpoint counted 30 tokens in 2 requests, US$ 0.0300"
    assert made.notes == (told,)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"base_url": "localhost:80"}, "base_url must be like"),
        ({"base_url": f"http://user:{SECRET}@localhost/v1"}, "host and path alone"),
        ({"base_url": f"http://localhost/v1?key={SECRET}"}, "host and path alone"),
        ({"key": SECRET}, "the name of an environment variable"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"batch_texts": 0}, "batch_texts=0"),
        ({"parallel": 0}, "parallel=0"),
        ({"dimensions": 0}, "dimensions=0"),
    ],
)
def test_options_that_do_not_fit_are_refused_without_telling_a_key(options, told):
    with pytest.raises(InvalidOption, match=told) as refused:
        OpenAIEmbedder("toy", **options)
    assert SECRET not in str(refused.value)


# Keys


def test_the_key_is_that_of_the_variable(loopback, embedder, monkeypatch):
    loopback.key = SECRET
    monkeypatch.setenv("SOME_KEY", SECRET)
    assert embedder(key="SOME_KEY").encode(["a"]).shape == (1, DIMENSIONS)


def test_a_key_goes_to_no_host_that_it_was_not_named_for(loopback, embedder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    embedder().encode(["a"])
    assert SECRET not in str(loopback.requests)
    monkeypatch.setenv("OPENAI_BASE_URL", loopback.url)
    embedder(base_url=None).encode(["a"])
    assert loopback.requests[1]["headers"]["authorization"] == f"Bearer {SECRET}"


def test_a_key_does_not_follow_to_where_an_endpoint_sends_on(loopback, embedder, monkeypatch):
    monkeypatch.setenv("SOME_KEY", SECRET)
    with Loopback() as other:
        there = {"location": f"{other.url}/embeddings"}
        loopback.always = lambda body: Fault(status=307, headers=there)
        embedder(key="SOME_KEY").encode(["a"])
        assert other.texts == ["a"]
        assert SECRET not in str(other.requests)


def test_a_variable_that_is_not_set_is_named(embedder, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(Unavailable, match="the environment variable SOME_KEY is not set"):
        embedder(key="SOME_KEY").encode(["a"])


def test_an_endpoint_that_wants_a_key_says_how_to_name_one(loopback, embedder):
    loopback.key = SECRET
    with pytest.raises(Unavailable, match="add key=NAME_OF_THE_VARIABLE"):
        embedder().encode(["a"])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_the_key_is_in_no_message_log_or_traceback(loopback, embedder, monkeypatch, caplog, status):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SOME_KEY", SECRET)
    body = f'{{"error": {{"message": "{SECRET} is not a key that we know"}}}}'.encode()
    loopback.always = lambda _: Fault(status=status, body=body)
    made = embedder(key="SOME_KEY", retries=0)
    with pytest.raises(HarnessError) as refused:
        made.encode(TEXTS)
    trace = traceback.TracebackException.from_exception(refused.value, capture_locals=False)
    assert SECRET not in "".join(trace.format())
    assert SECRET not in caplog.text
    assert SECRET not in repr(vars(made)) + repr(made.info) + repr(made.notes)
    error = refused.value
    while error is not None:
        assert not hasattr(error, "request"), "the request holds the key"
        error = error.__context__


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_one_line_with_its_variable(
    loopback, embedder, monkeypatch, status
):
    monkeypatch.setenv("SOME_KEY", SECRET)
    loopback.always = lambda body: Fault(status=status)
    with pytest.raises(Unavailable) as refused:
        embedder(key="SOME_KEY").encode(TEXTS)
    assert f"{loopback.port}/v1 refuses the key in SOME_KEY ({status}" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(loopback.requests) == 1, "it is not tried again"


def test_a_model_that_the_endpoint_does_not_know_is_told(loopback, embedder):
    with pytest.raises(Unavailable, match=r"no such model as 'nobody' \(404: The model `nobody`"):
        embedder("nobody").encode(TEXTS)
    assert len(loopback.requests) == 1


def test_without_the_client_it_says_what_to_install(embedder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Unavailable, match=r'pip install "embedding-bias-harness\[openai\]"'):
        embedder().encode(["a"])


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
