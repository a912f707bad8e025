"""Stores in a bucket: shared by machines, failed puts, damage, pruning, one line for faults."""

import uuid

import numpy as np
import pytest

from harness import bucket, folders
from harness.embedder import MockEmbedder
from harness.errors import DiskError, UsageError
from harness.folders import Url
from harness.store import pruning
from harness.store.store import Store

TEXTS = [f"text {i}" for i in range(100)]


@pytest.fixture(params=["memory", "s3"])
def place(request):
    if request.param == "memory":
        return Url(f"memory://{uuid.uuid4().hex}/embeddings")
    return Url(request.getfixturevalue("s3").new_bucket()) / "embeddings"


@pytest.fixture
def s3_place(s3):
    return Url(s3.new_bucket()) / "embeddings"


@pytest.fixture(autouse=True)
def first_machine(on_machine):
    on_machine("first")


def vectors_of(texts, d=8):
    return MockEmbedder(dimensions=d).encode(texts)


def segments(store):
    names = bucket.Bucket(store.folder).entries()
    return sorted(name for name in names if name.endswith(".safetensors"))


def test_a_second_machine_reads_what_the_first_wrote(place, fill, on_machine):
    fill(Store(place, "model"), TEXTS[:50])
    on_machine("second")
    store = Store(place, "model")
    assert store.missing(TEXTS) == TEXTS[50:]
    np.testing.assert_array_equal(store.get(TEXTS[:50]), vectors_of(TEXTS[:50]))
    fill(store, TEXTS[50:])
    on_machine("first")
    first = Store(place, "model")
    np.testing.assert_array_equal(first.get(TEXTS), vectors_of(TEXTS))
    assert first.notices == store.notices == []


def test_two_drivers_write_into_one_store_at_once(place):
    stores = [Store(place, "model"), Store(place, "model")]
    with stores[0].writer(rows=10) as a, stores[1].writer(rows=10) as b:
        for start in range(0, 100, 20):
            for writer, first in ((a, start), (b, start + 10)):
                writer.add(TEXTS[first : first + 10], vectors_of(TEXTS[first : first + 10]))
    for store in stores:
        np.testing.assert_array_equal(store.get(TEXTS), vectors_of(TEXTS))
    assert len(segments(stores[0])) == 10


def test_a_segment_is_copied_once_and_what_a_machine_wrote_never(s3, s3_place, fill, on_machine):
    store = fill(Store(s3_place, "model"), d=1024)
    for machine, sent in (("first", 0), ("second", store.info().bytes), ("second", 0)):
        on_machine(machine)
        before = s3.sent
        Store(s3_place, "model").get(TEXTS)
        assert sent <= s3.sent - before < sent + 10_000
    on_machine("third")
    before = s3.sent
    assert [info.rows for info in pruning.stores(s3_place)] == [100]
    assert s3.sent - before < 20_000, "counting copies nothing"


@pytest.mark.parametrize("status", [(503, "SlowDown"), (403, "AccessDenied")])
def test_vectors_that_cannot_be_put_are_kept_and_sent_by_the_next_run(
    s3, s3_place, fill, on_machine, status
):
    fill(Store(s3_place, "model"), ["before"])
    s3.refused["PUT"] = status
    with pytest.raises(DiskError) as caught:
        fill(Store(s3_place, "model"))
    assert "\n" not in str(caught.value)
    assert str(s3_place) in str(caught.value)
    assert str(folders.cache()) in str(caught.value)
    for secret in ("AKIDTESTING", "secret-of-the-tests"):
        assert secret not in str(caught.value)
    offline = Store(s3_place, "model")
    np.testing.assert_array_equal(offline.get(TEXTS), vectors_of(TEXTS))
    assert len(offline.notices) == 1, "that they are not in the bucket"
    on_machine("second")
    assert Store(s3_place, "model").missing(TEXTS) == TEXTS
    s3.refused.clear()
    on_machine("first")
    assert Store(s3_place, "model").missing(TEXTS) == []
    on_machine("second")
    np.testing.assert_array_equal(Store(s3_place, "model").get(TEXTS), vectors_of(TEXTS))


@pytest.mark.parametrize(
    ("url", "kind", "part"),
    [
        ("s3://no-such-bucket-here/x", DiskError, "no such bucket"),
        ("nonsense://x", UsageError, "protocol"),
        ("s3://", UsageError, "no bucket"),
        ("ftp://user:hidden@127.0.0.1:9/x", DiskError, "cannot"),
    ],
)
def test_a_bucket_that_cannot_be_used_is_one_line(s3, url, kind, part):
    with pytest.raises(kind) as caught:
        Store(folders.place(url), "model").missing(["a"])
    message = str(caught.value)
    assert part in message
    assert "\n" not in message
    assert "hidden" not in message


def test_a_segment_that_is_cut_in_the_bucket_is_dropped(place, fill, on_machine):
    store = fill(fill(Store(place, "model"), TEXTS[:50]), TEXTS[50:])
    name, own = segments(store)[1], bucket.Bucket(store.folder)
    own.write(name, own.read(name)[:-3])
    on_machine("second")
    second = Store(place, "model")
    assert second.missing(TEXTS) == TEXTS[50:]
    assert name in second.notices[0]
    on_machine("third")
    third = Store(place, "model")
    assert third.missing(TEXTS) == TEXTS[50:]
    assert third.notices == []


def test_small_segments_are_merged_and_readers_of_them_go_on(place, fill, on_machine):
    store = Store(place, "model")
    for start in range(0, 100, 20):
        fill(store, TEXTS[start : start + 20])
    on_machine("second")
    reader = Store(place, "model")
    assert reader.missing(TEXTS) == []
    on_machine("first")
    assert pruning.prune(place).merged == 5
    assert len(segments(store)) == 1
    on_machine("second")
    np.testing.assert_array_equal(reader.get(TEXTS), vectors_of(TEXTS))
    reader.refresh()
    np.testing.assert_array_equal(reader.get(TEXTS), vectors_of(TEXTS))
    pruning.prune(place)
    copies = [path.name for path in bucket.mirror(place).rglob("*.safetensors")]
    assert copies == segments(store), "copies of what was merged are removed"


def test_a_removed_store_is_gone_and_can_be_filled_again(place, fill):
    for name in ("a", "b"):
        fill(Store(place, name)).describe({"name": name})
    pruned = pruning.prune(place, names=["a"])
    assert [info.fingerprint for info in pruned.removed] == ["a"]
    assert pruned.freed > 100 * 32
    assert [info.fingerprint for info in pruning.stores(place)] == ["b"]
    assert Store(place, "a").missing(TEXTS) == TEXTS
    fill(Store(place, "a"), ["new"]).describe({"name": "a"})
    assert Store(place, "a").missing([*TEXTS, "new"]) == TEXTS
