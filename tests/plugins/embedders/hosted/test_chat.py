"""Facts about language models behind an endpoint, through the real client to a real server."""

import pytest
from loopback import BROKEN, BUSY, TOO_MANY, Fault

from harness.errors import Unavailable
from harness.plugins.embedders.hosted.chat import Chat
from harness.plugins.embedders.hosted.endpoint import Refused


@pytest.fixture
def chat(loopback):
    """Make a chat with the loopback server: `chat(option=…)`."""
    made = []

    def make(model="toy", **options):
        options = {"base_url": loopback.url, "retries": 2, "timeout": 5} | options
        made.append(Chat(model, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_an_answer_is_what_the_model_says(loopback, chat):
    loopback.reply = lambda system, text: f"{system}: {text.upper()}"
    assert chat().ask("shout", "hello") == "shout: HELLO"
    (request,) = loopback.requests
    assert (request["temperature"], request["seed"], request["model"]) == (0, 0, "toy")


def test_sampling_that_a_model_refuses_can_be_left_out(loopback, chat):
    chat(temperature=None, seed=None).ask("", "hello")
    assert not {"temperature", "seed"} & loopback.requests[0].keys()


def test_many_answers_come_in_the_order_of_the_texts(loopback, chat):
    texts = [f"text {i}" for i in range(20)]
    assert chat(parallel=4).ask_many("s", texts) == texts
    assert len(loopback.requests) == 20


def test_no_texts_need_no_request(loopback, chat):
    assert chat().ask_many("s", []) == []
    assert loopback.requests == []


@pytest.mark.parametrize("fault", [TOO_MANY, BROKEN, BUSY, Fault(cut=True)])
def test_what_may_pass_is_tried_again(loopback, chat, fault):
    loopback.faults = [fault]
    assert chat().ask("s", "hello") == "hello"
    assert len(loopback.requests) == 2


def test_one_text_that_is_refused_leaves_the_others(loopback, chat):
    def fault(body):
        return Fault(status=400) if body["messages"][1]["content"] == "bad" else None

    loopback.always = fault
    good, bad, last = chat().ask_many("s", ["good", "bad", "last"])
    assert (good, last) == ("good", "last")
    assert isinstance(bad, Refused)
    assert str(bad) == "400: status 400 on demand"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"choices": []}, "no choices"),
        ({"choices": [{"message": None}]}, "no choices"),
        ({"choices": [{"message": {"content": None}}]}, "no text"),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}, "not whole"),
        ({"choices": [{"message": {"content": "", "refusal": "No."}}]}, "declines: No."),
        ({"error": {"message": "overloaded"}}, "overloaded"),
        ([1], "not a JSON object"),
    ],
)
def test_an_answer_that_is_none_is_an_error(loopback, chat, content, told):
    loopback.always = lambda body: Fault(twist=lambda answer: content)
    (answer,) = chat().ask_many("s", ["hello"])
    assert isinstance(answer, Refused)
    assert told in str(answer)


def test_malformed_json_is_an_error(loopback, chat):
    loopback.always = lambda body: Fault(body=b"<html>502")
    with pytest.raises(Refused, match="not JSON"):
        chat().ask("s", "hello")


def test_once_the_endpoint_is_gone_the_texts_left_are_not_sent(loopback, chat):
    loopback.always = lambda body: BUSY
    answers = chat(parallel=2, retries=1).ask_many("s", [f"text {i}" for i in range(50)])
    assert all(isinstance(answer, Unavailable) for answer in answers)
    assert "answers 503" in str(answers[-1])
    assert len(loopback.requests) <= 4


def test_the_endpoint_counts_tokens(loopback, chat):
    asked = chat(parallel=1)
    assert asked.notes == ()
    asked.ask_many("one two", ["three", "four five"])
    assert (asked.usage.requests, asked.usage.prompt, asked.usage.completion) == (2, 7, 3)
    assert asked.notes == ("toy: the endpoint counted 7 + 3 tokens in 2 requests",)


def test_an_identity_names_endpoint_model_and_sampling(loopback, chat):
    where = f"127.0.0.1:{loopback.port}/v1"
    assert chat(key="SOME_KEY").identity == {
        "endpoint": where,
        "model": "toy",
        "temperature": 0.0,
        "seed": 0,
    }
