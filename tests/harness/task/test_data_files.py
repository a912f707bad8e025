"""Data files: found here or fetched over https, checked, kept; every fault is one clear line."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile

import pytest

from harness.errors import InvalidFile, Unavailable

URL = "https://data.example/a.tsv"
ROWS = b"word\tside\na\t1\nb\t2\n"
TASK = """\
name: mine
version: 1
title: Mine
category: places
metrics: {toy-gap: {}}
primary: {metric: toy-gap, score: gap}
inputs:
  targets_1: {table: t, column: word, where: {side: "1"}}
  targets_2: {table: t, column: word, where: {side: "2"}}
tables:
"""


def sha256(content=ROWS):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("HARNESS_DATA", raising=False)


@pytest.fixture
def registry(registry_with, tmp_path):
    """A registry that trusts the tasks of these tests: they name addresses."""
    return registry_with(trust=True)


@pytest.fixture
def read(registry, write):
    """Read a task with tables; return the texts of its inputs."""

    def resolve(*tables):
        lines = [f"  {name}: {{{table}}}\n" for name, table in zip("tuvw", tables, strict=False)]
        path = write("mine.yaml", TASK + "".join(lines))
        inputs = registry.task_file(path).scenarios[0].inputs
        return inputs["targets_1"].texts, inputs["targets_2"].texts

    return resolve


@pytest.fixture
def refused(read):
    """Check that a table is unavailable, and return the message, which is one line."""

    def check(*tables):
        with pytest.raises(Unavailable) as caught:
            read(*tables)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return check


def table(url=URL, content=ROWS, **keys):
    keys = {"url": f"'{url}'", "sha256": sha256(content), **keys}
    return ", ".join(f"{key}: {value}" for key, value in keys.items())


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_once_and_kept_under_its_local_path(read, web, cache):
    web.pages[URL] = ROWS
    for _ in range(2):
        assert read(table(local="sub/a.tsv")) == (("a",), ("b",))
    assert web.requests == [URL]
    assert files(cache / "data") == ["sub/a.tsv"]


def test_what_is_fetched_is_told_with_its_terms(read, registry, web, capsys):
    from harness.progress import Lines

    web.pages[URL] = ROWS
    registry.data.progress = Lines()
    read(table(local="a.tsv", terms="CC BY-NC 4.0"))
    line, total = capsys.readouterr().err.splitlines()
    assert "1/1 files" in total
    for fact in ("a.tsv", "data.example", "CC BY-NC 4.0"):
        assert fact in line


def test_a_folder_of_data_that_does_not_exist_is_told(registry, tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "absent"))
    (notice,) = registry.notices
    assert f"'{tmp_path}/absent'" in notice


def test_a_copy_under_harness_data_is_preferred(read, web, write, tmp_path, monkeypatch):
    write("data/sub/a.tsv", ROWS.decode())
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    assert read(table(local="sub/a.tsv")) == (("a",), ("b",))
    assert not web.tunnels


def test_another_file_under_harness_data_is_an_error(refused, web, write, tmp_path, monkeypatch):
    copy = write("data/a.tsv", "other")
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    message = refused(table(local="a.tsv"))
    assert str(copy) in message
    assert sha256() in message
    assert not web.tunnels


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://data.example/a.tsv", "a.tsv"),
        ("https://data.example/..%2F.hidden", "hidden"),
        ("https://data.example/", "unnamed"),
    ],
)
def test_without_a_local_path_a_file_is_kept_under_a_safe_name(read, web, cache, url, name):
    web.pages[url] = ROWS
    assert read(table(url)) == (("a",), ("b",))
    assert files(cache / "data") == [f"{sha256()[:16]}/{name}"]


def test_the_suffix_of_an_address_selects_the_parser(read, web):
    content = ROWS.replace(b"\t", b",")
    web.pages["https://data.example/a.csv?download=1"] = content
    assert read(table("https://data.example/a.csv?download=1", content)) == (("a",), ("b",))


def zipped():
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("in/a.tsv", ROWS)
            archive.writestr("../../evil", "x")
        return file.getvalue()


def tarred():
    with io.BytesIO() as file:
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            info = tarfile.TarInfo("in/a.tsv")
            info.size = len(ROWS)
            archive.addfile(info, io.BytesIO(ROWS))
        return file.getvalue()


@pytest.mark.parametrize("archive", [zipped(), tarred()], ids=["zip", "tar"])
def test_a_member_of_an_archive_is_read_and_nothing_else_is_written(read, web, cache, archive):
    url = "https://data.example/all.tgz"
    web.pages[url] = archive
    tables = [table(url, member="in/a.tsv", local=name) for name in ("a.tsv", "b.tsv")]
    assert read(*tables) == (("a",), ("b",))
    assert web.requests == [url]  # two files of one archive
    assert files(cache / "data") == ["a.tsv", "b.tsv"]


@pytest.mark.parametrize("member", ["absent.tsv", "in"])
@pytest.mark.parametrize("archive", [zipped(), tarred(), b"no archive"], ids=["zip", "tar", "none"])
def test_an_archive_without_the_member_is_refused(refused, web, cache, archive, member):
    url = "https://data.example/all.zip"
    web.pages[url] = archive
    assert url in refused(table(url, member=member))
    assert not files(cache / "data")


def test_a_gz_is_decompressed(read, web, cache):
    url = "https://data.example/a.tsv.gz"
    web.pages[url] = gzip.compress(ROWS)
    assert read(table(url)) == (("a",), ("b",))
    assert files(cache / "data") == [f"{sha256()[:16]}/a.tsv"]


def cut(page):
    page.start(len(ROWS))
    page.wfile.write(ROWS[:-3])


WRONG = {
    "another file": (b"another file", sha256()),
    "cut": (cut, "3 more expected"),
    "an error": (lambda page: page.send_error(500), "500"),
    "a file of this machine": (lambda page: page.redirect("file:///etc/passwd"), "file:"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_refused_in_one_line(refused, web, cache, name):
    answer, fact = WRONG[name]
    if answer is not None:
        web.pages[URL] = answer
    message = refused(table(local="a.tsv"))
    assert URL in message
    assert fact in message
    assert not files(cache / "data")


def test_a_connection_that_breaks_is_tried_again(read, web):
    def page(page):
        page.close_connection = True
        web.pages[URL] = ROWS  # for the second request

    web.pages[URL] = page
    assert read(table()) == (("a",), ("b",))
    assert web.requests == [URL, URL]


def test_a_redirect_to_another_https_address_is_followed(read, web):
    web.pages[URL] = lambda page: page.redirect("https://other.example/b")
    web.pages["https://other.example/b"] = ROWS
    assert read(table()) == (("a",), ("b",))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("owner/name/a.tsv", "owner/name/resolve/main/a.tsv"),
        ("owner/name@v1.0/sub/a%20b.tsv", "owner/name/resolve/v1.0/sub/a%2520b.tsv"),
    ],
)
def test_a_file_of_the_hub_is_fetched(read, web, url, address):
    web.pages[f"https://huggingface.co/datasets/{address}"] = ROWS
    assert read(table(f"hf://datasets/{url}", local="b.tsv")) == (("a",), ("b",))


def test_a_token_of_the_hub_is_sent_to_the_hub_only(read, web, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    tokens = []

    def hub(page):
        tokens.append(page.headers.get("Authorization"))
        page.redirect("https://storage.example/a")

    def storage(page):
        tokens.append(page.headers.get("Authorization"))
        page.start(len(ROWS))
        page.wfile.write(ROWS)

    web.pages["https://huggingface.co/datasets/owner/name/resolve/main/a.tsv"] = hub
    web.pages["https://storage.example/a"] = storage
    web.pages[URL] = storage
    read(table("hf://datasets/owner/name/a.tsv"), table(local="b.tsv"))
    assert tokens == ["Bearer hf_secret", None, None]


def test_a_certificate_that_is_not_trusted_is_refused(refused, web, monkeypatch):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    web.pages[URL] = ROWS
    assert "certificate" in refused(table())
    assert not web.requests


def test_all_missing_files_are_told_at_once_and_a_host_is_tried_for_one(refused, registry, web):
    web.down.add("data.example")
    tables = [table(f"https://data.example/{name}", local=name) for name in ("a.tsv", "b.tsv")]
    message = refused(*tables, "local: c.tsv")
    for fact in ("'a.tsv', 'b.tsv'", "data.example", "harness data fetch", "'c.tsv'", "no address"):
        assert message.count(fact) == 1
    assert web.tunnels == ["data.example"] * 2, "for the first file: pooch tries twice"
    (notice,) = registry.notices
    assert "3 data files" in notice


def test_a_file_without_an_address_is_missing_with_where_to_put_it(refused):
    message = refused("local: sts/b.csv")
    for fact in ("'sts/b.csv'", "HARNESS_DATA"):
        assert fact in message
    assert "harness data fetch" not in message  # it has no address


@pytest.mark.parametrize("package", ["no_such_package", "no_such.part", "json.decoder.x"])
def test_a_package_that_is_not_installed_is_missing(refused, package):
    assert f"pip install {package}" in refused(f"package: {package}, file: a.tsv")


def test_a_file_of_an_installed_package_is_read(read, refused, tmp_path, write, monkeypatch):
    write("site/some_data_package/__init__.py", "raise RuntimeError('must not be imported')")
    write("site/some_data_package/a.tsv", ROWS.decode())
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert read("package: some_data_package, file: a.tsv") == (("a",), ("b",))
    message = refused("package: some_data_package, file: b.tsv")
    assert "'some_data_package'" in message
    assert "'b.tsv'" in message


@pytest.mark.parametrize("package", ["..json", "json/..", "", "a..b", "/etc"])
def test_a_package_with_an_invalid_name_is_a_mistake(read, package):
    with pytest.raises(InvalidFile, match="invalid package"):
        read(f"package: '{package}', file: a.tsv")


def test_a_link_out_of_the_folder_of_data_is_not_followed(refused, tmp_path, write, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.tsv").symlink_to(write("secret.tsv", ROWS.decode()))
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    assert "outside of HARNESS_DATA" in refused("local: a.tsv")
