"""Stores in a bucket: shared by machines, keys first, failed puts, pruning, one line for faults."""

import io
import os
import re
import time
import uuid
import zlib

import fsspec
import numpy as np
import pytest
import s3fs

from harness import bucket, folders
from harness.embedder import MockEmbedder
from harness.errors import DiskError, UsageError
from harness.folders import Url
from harness.store import pruning, segment
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


def objects(store):
    return sorted(bucket.Bucket(store.folder).entries())


def segments(store):
    return [name for name in objects(store) if name.endswith(".safetensors")]


def an_hour_passes(store):
    """Write the marks of a store as they would have been written an hour ago."""
    own = bucket.Bucket(store.folder)
    for name in objects(store):
        if match := re.fullmatch(r"(.+)\.(\d+)\.(superseded|damaged)", name):
            own.write(f"{match[1]}.{int(match[2]) - 3700}.{match[3]}", b"")
            own.remove([name])


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


def test_two_drivers_write_into_one_store_at_once(place, on_machine):
    stores = [Store(place, "model"), Store(place, "model")]
    with stores[0].writer(rows=10) as a, stores[1].writer(rows=10) as b:
        for start in range(0, 100, 20):
            for writer, first in ((a, start), (b, start + 10)):
                writer.add(TEXTS[first : first + 10], vectors_of(TEXTS[first : first + 10]))
    for store in stores:
        np.testing.assert_array_equal(store.get(TEXTS), vectors_of(TEXTS))
    assert len(segments(stores[0])) == 10


def test_what_a_machine_wrote_it_does_not_fetch(s3, s3_place, fill):
    store = fill(Store(s3_place, "model"), d=1024)
    before = s3.sent
    assert store.missing(TEXTS) == []
    store.get(TEXTS)
    assert s3.sent - before < 10_000


def test_missing_texts_are_known_from_the_keys_and_only_needed_segments_are_fetched(
    s3, s3_place, on_machine
):
    texts = [f"text {i}" for i in range(1500)]
    with Store(s3_place, "model").writer(rows=500) as writer:
        writer.add(texts, vectors_of(texts, 2048))
    on_machine("second")
    store = Store(s3_place, "model")
    size = store.info().bytes
    before = s3.sent
    assert store.missing([*texts, "new"]) == ["new"]
    assert s3.sent - before < size / 10
    np.testing.assert_array_equal(store.get(texts[:3]), vectors_of(texts[:3], 2048))
    assert size / 4 < s3.sent - before < size / 2
    before = s3.sent
    again = Store(s3_place, "model")
    np.testing.assert_array_equal(again.get(texts[:3]), vectors_of(texts[:3], 2048))
    assert s3.sent - before < 10_000, "the mirror has them"


def test_keys_that_are_longer_than_the_first_read_are_read_whole(s3_place, on_machine):
    texts = [f"text {i}" for i in range(12_000)]  # 192 kB of keys
    with Store(s3_place, "model").writer(rows=12_000) as writer:
        writer.add(texts, vectors_of(texts, 4))
    on_machine("second")
    store = Store(s3_place, "model")
    assert store.missing(texts) == []
    np.testing.assert_array_equal(store.get(texts[-5:]), vectors_of(texts[-5:], 4))


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
    store = Store(s3_place, "model")
    np.testing.assert_array_equal(store.get(TEXTS), vectors_of(TEXTS))


def test_a_put_that_fails_once_is_tried_again_at_the_next_flush(s3, s3_place):
    store = Store(s3_place, "model")
    with store.writer(rows=50) as writer:
        writer.add(TEXTS[:1], vectors_of(TEXTS[:1]))
        s3.refused["PUT"] = (503, "SlowDown")
        writer.add(TEXTS[1:50], vectors_of(TEXTS[1:50]))
        assert segments(store) == []
        s3.refused.clear()
        writer.add(TEXTS[50:], vectors_of(TEXTS[50:]))
        assert len(segments(store)) == 2
    assert store.notices == []


def test_a_server_that_knows_no_conditions_is_written_to_without(s3, s3_place, fill, on_machine):
    s3.refused["HTTP_IF_NONE_MATCH"] = (501, "NotImplemented")
    fill(Store(s3_place, "model"))
    on_machine("second")
    assert Store(s3_place, "model").missing(TEXTS) == []


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


def test_a_server_that_does_not_answer_is_one_line(s3, s3_place, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(DiskError, match="cannot be reached"):
        Store(s3_place, "model").missing(["a"])
    s3fs.S3FileSystem.clear_instance_cache()


def test_a_damaged_segment_is_marked_for_all_machines(place, fill, on_machine):
    store = fill(fill(Store(place, "model"), TEXTS[:50]), TEXTS[50:])
    name = segments(store)[1]
    content = bucket.Bucket(store.folder).read(name)
    bucket.Bucket(store.folder).write(name, content[:-3])
    on_machine("second")
    second = Store(place, "model")
    assert second.missing(TEXTS) == TEXTS[50:]
    assert name in second.notices[0]
    on_machine("third")
    third = Store(place, "model")
    assert third.missing(TEXTS) == TEXTS[50:]
    assert third.notices == []
    assert third.info().leftovers == 1


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_damaged_copy_is_copied_again_and_nothing_is_lost(s3, s3_place, fill, on_machine, damage):
    fill(Store(s3_place, "model"), d=1024)
    on_machine("second")
    Store(s3_place, "model").get(TEXTS)
    (copy,) = bucket.mirror(s3_place).rglob("*.safetensors")
    content = bytearray(copy.read_bytes())
    content[-100] ^= 1
    copy.write_bytes(content[:-1] if damage == "truncated" else content)
    store = Store(s3_place, "model")
    np.testing.assert_array_equal(store.get(TEXTS), vectors_of(TEXTS, 1024))
    assert store.notices == []
    assert store.info().leftovers == 0
    assert copy.stat().st_size == len(content)


@pytest.mark.parametrize("is_merged", [False, True])
def test_a_copy_that_another_process_deletes_while_it_is_replaced_marks_nothing(
    place, fill, monkeypatch, is_merged
):
    store = fill(Store(place, "model"))
    (copy,) = bucket.mirror(place).rglob("*.safetensors")
    content = bytearray(copy.read_bytes())
    content[-10] ^= 1
    copy.write_bytes(content)
    fetch, deleted = bucket.Bucket.fetch, []

    def fetch_and_delete(own, names, folder):
        gone = fetch(own, names, folder)
        if names and not deleted:
            deleted.append(copy)
            copy.unlink()
            if is_merged:  # by another machine, an hour ago
                own.remove(names)
        return gone

    monkeypatch.setattr(bucket.Bucket, "fetch", fetch_and_delete)
    reader = Store(place, "model")
    if is_merged:
        with pytest.raises(KeyError):
            reader.get(TEXTS)
    else:
        np.testing.assert_array_equal(reader.get(TEXTS), vectors_of(TEXTS))
    assert deleted
    assert [name for name in objects(store) if name.endswith(".damaged")] == []


def test_verify_finds_a_flipped_bit_in_the_bucket(place, fill, on_machine):
    store = fill(Store(place, "model"))
    (name,) = segments(store)
    content = bytearray(bucket.Bucket(store.folder).read(name))
    content[-100] ^= 1
    bucket.Bucket(store.folder).write(name, bytes(content))
    on_machine("second")
    (checked,) = Store(place, "model").verify()
    assert "checksum" in checked.problem
    assert Store(place, "model").missing(TEXTS) == TEXTS


def test_a_segment_that_was_not_copied_whole_is_copied_again(place, fill, on_machine):
    fill(Store(place, "model"), [f"text {i}" for i in range(20_000)], 3)  # more than is read first
    on_machine("second")
    store = Store(place, "model")
    assert store.missing(TEXTS) == []
    (name, *_) = segments(store)
    (store.files.path / name).write_bytes(b"cut")
    np.testing.assert_array_equal(store.get(TEXTS), vectors_of(TEXTS, 3))
    assert store.notices == []


def test_a_vector_that_never_had_its_check_is_set_aside_and_not_copied_for_ever(
    place, fill, on_machine
):
    store = fill(Store(place, "model"))
    (name,) = segments(store)
    own = bucket.Bucket(store.folder)
    start = segment.parse(io.BytesIO(own.read(name)))[2]
    tensors = bytearray(own.read(name)[start:])
    tensors[-100] ^= 1  # before the checksum was computed, as memory may do
    head = segment.to_bytes("model", 100, 8, checksum=zlib.crc32(tensors), n_nan=0)
    own.write(name, head + tensors)
    on_machine("second")
    store = Store(place, "model")
    with pytest.raises(KeyError):
        store.get(TEXTS)
    assert name in store.notices[0]


def test_a_segment_that_is_sent_while_the_bucket_is_listed_is_not_lost(
    s3, s3_place, fill, monkeypatch
):
    s3.refused["PUT"] = (503, "SlowDown")
    with pytest.raises(DiskError, match="are kept"):
        fill(Store(s3_place, "model"))  # also without a file that describes the model
    reader, writer = Store(s3_place, "model"), Store(s3_place, "model")
    assert reader.missing(TEXTS) == []
    s3.refused.clear()
    inner, sent = s3._inner, []

    def list_and_then_send(environ, start_response):
        parts = list(inner(environ, start_response))
        if "list-type" in environ["QUERY_STRING"] and not sent:
            sent.append(True)
            writer.files.send()
        return parts

    monkeypatch.setattr(s3, "_inner", list_and_then_send)
    reader.refresh()
    assert reader.missing(TEXTS) == []
    assert sent


def test_merged_segments_are_deleted_after_an_hour_and_readers_of_them_go_on(
    place, fill, on_machine
):
    store = Store(place, "model")
    for start in range(0, 100, 20):
        fill(store, TEXTS[start : start + 20])
    on_machine("second")
    reader, late = Store(place, "model"), Store(place, "model")
    assert reader.missing(TEXTS) == late.missing(TEXTS) == []
    on_machine("first")
    assert pruning.prune(place).merged == 5
    assert store.info().segments == 1
    assert len(segments(store)) == 6
    assert pruning.prune(place).freed == 0
    on_machine("second")
    np.testing.assert_array_equal(reader.get(TEXTS), vectors_of(TEXTS))
    an_hour_passes(store)
    on_machine("first")
    pruned = pruning.prune(place)
    assert (pruned.leftovers, pruned.merged) == (5, 0)
    assert pruned.freed > 5 * 20 * 32
    assert len(segments(store)) == 1
    on_machine("second")
    np.testing.assert_array_equal(late.get(TEXTS), vectors_of(TEXTS))
    np.testing.assert_array_equal(Store(place, "model").get(TEXTS), vectors_of(TEXTS))


def test_a_reader_whose_segments_were_deleted_reads_the_merged_one(s3_place, fill, on_machine):
    texts = [f"text {i}" for i in range(200)]
    for start in (0, 100):
        fill(Store(s3_place, "model"), texts[start : start + 100], d=1024)
    on_machine("second")
    reader = Store(s3_place, "model")
    assert reader.missing(texts) == []
    on_machine("first")
    pruning.prune(s3_place)
    an_hour_passes(reader)
    pruning.prune(s3_place)
    on_machine("second")
    np.testing.assert_array_equal(reader.get(texts), vectors_of(texts, 1024))


def test_a_copy_that_was_cut_by_a_kill_is_removed_after_an_hour(place, fill):
    store = fill(Store(place, "model"))
    cut, young = (store.files.path / f".{name}.tmp" for name in ("cut", "young"))
    for path in (cut, young):
        path.write_bytes(b"a part")
    os.utime(cut, (time.time() - 3700,) * 2)
    assert pruning.prune(place).leftovers == 1
    assert (cut.exists(), young.exists()) == (False, True)


def test_a_removed_store_is_listed_no_more_and_deleted_after_an_hour(place, fill):
    for name in ("a", "b"):
        fill(Store(place, name)).describe({"name": name})
    pruned = pruning.prune(place, names=["a"])
    assert ([info.fingerprint for info in pruned.removed], pruned.freed) == (["a"], 0)
    assert [info.fingerprint for info in pruning.stores(place)] == ["b"]
    removed = Store(place, "a")
    assert removed.missing(TEXTS) == TEXTS
    assert len(segments(removed)) == 1
    an_hour_passes(removed)
    assert pruning.prune(place).freed > 100 * 32
    assert objects(removed) == []


def test_a_store_that_was_removed_can_be_filled_again(place, fill):
    fill(Store(place, "a")).describe({"name": "a"})
    pruning.prune(place, names=["a"])
    fill(Store(place, "a"), ["new"]).describe({"name": "a"})
    an_hour_passes(Store(place, "a"))
    pruning.prune(place)
    store = Store(place, "a")
    assert store.missing([*TEXTS, "new"]) == TEXTS
    assert [info.model["name"] for info in pruning.stores(place)] == ["a"]


def test_use_is_noted_once_a_day_and_pruning_does_not_count(place, fill):
    store = fill(Store(place, "model"))
    (note,) = [name for name in objects(store) if name.endswith(".used")]
    own, then = bucket.Bucket(store.folder), int(time.time()) - 40 * 86_400
    own.write(f"{then}.used", b"")
    own.remove([note])
    pruning.prune(place)
    assert store.info().last_used.timestamp() == then
    assert Store(place, "model").missing(TEXTS) == []
    assert abs(store.info().last_used.timestamp() - time.time()) < 100
    assert pruning.prune(place, unused_days=30).removed == ()
    for name in objects(store):
        own.remove([name] if name.endswith(".used") else [])
    own.write(f"{then}.used", b"")
    assert [info.fingerprint for info in pruning.prune(place, unused_days=30).removed] == ["model"]


def test_model_facts_are_shared(place, fill):
    fill(Store(place, "model")).describe({"name": "Model", "dimensions": 8})
    (info,) = pruning.stores(place)
    assert (info.model["name"], info.model["dimensions"], info.rows) == ("Model", 8, 100)


def test_an_empty_place_has_no_stores(place):
    assert pruning.stores(place) == []


def test_an_address_hides_its_password():
    url = folders.place("ftp://user:hidden@host/x") / "y"
    assert str(url) == "ftp://***@host/x/y"
    assert "hidden" not in repr(url)
    assert fsspec.utils.get_protocol(url.text) == "ftp"
