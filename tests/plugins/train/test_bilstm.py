"""The BiLSTM: its fast way on the CPU, and batches of similar length."""

from __future__ import annotations

import pytest
import torch
from sentence_transformers.sentence_transformer.modules import LSTM

from harness.plugins.train import bilstm
from harness.plugins.train.running import SimilarLengths


def test_each_direction_by_itself_gives_the_states_and_gradients_of_the_library():
    torch.manual_seed(0)
    lstm = LSTM(5, 4)
    lengths = torch.tensor([3, 1, 6])
    features = {"token_embeddings": torch.randn(3, 6, 5), "sentence_lengths": lengths}

    def states_and_gradient():
        lstm.zero_grad()
        states = lstm(dict(features))["token_embeddings"]
        is_word = torch.arange(6)[None] < lengths[:, None]
        states[is_word].pow(2).sum().backward()
        return states[is_word].detach(), [w.grad.clone() for w in lstm.parameters()]

    states, gradients = states_and_gradient()
    bilstm.speed_up(lstm)
    fast_states, fast_gradients = states_and_gradient()
    torch.testing.assert_close(fast_states, states)
    for fast, slow in zip(fast_gradients, gradients, strict=True):
        torch.testing.assert_close(fast, slow)


@pytest.fixture
def sampler():
    lengths = [(i % 7 + 1, i % 3 + 1) for i in range(50)]
    return SimilarLengths([None] * 50, lengths=lengths, batch_size=8, drop_last=False, seed=1)


def test_an_epoch_has_each_pair_once_in_batches_of_similar_length(sampler):
    batches = list(sampler)
    assert sorted(i for batch in batches for i in batch) == list(range(50))
    assert len(batches) == len(sampler) == 7
    assert max(len({i % 7 for i in batch}) for batch in batches) <= 3


def test_the_order_depends_on_the_epoch_and_can_be_had_again(sampler):
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first
