"""Models of the Hugging Face hub, on a local server that speaks the hub's protocol.

Each lookup runs in its own process, because the hub's library reads its settings when it is
imported.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from harness.plugins.embedders.transformers import hub
from harness.plugins.embedders.transformers.last_token import LastTokenEmbedder
from harness.plugins.embedders.transformers.sentence_transformer import SentenceTransformersEmbedder

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ASK = """
import sys
from harness.errors import HarnessError
from harness.registry.registry import Registry
try:
    info = Registry().embedder(sys.argv[1], device="cpu").info
    print(info.revision, info.fingerprint)
except HarnessError as error:
    print(type(error).__name__, error)
"""


class Hub:
    """A hub with models from folders, and a client whose cache is empty at first."""

    def __init__(self, home):
        self.home = home
        self.models = {}
        self.downloaded = []
        handler = type("Handler", (_Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def ask(self, model):
        """Return what a process prints that loads the model from this hub."""
        done = subprocess.run(
            [sys.executable, "-c", ASK, model],
            capture_output=True,
            text=True,
            env={"HF_ENDPOINT": self.url, "HF_HOME": str(self.home), "PATH": "", "HF_TOKEN": ""},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def cached(self, model):
        """Return the folder of a model in the client's cache."""
        return self.home / "hub" / f"models--{model.replace('/', '--')}" / "snapshots" / COMMIT


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self):
        path = unquote(urlsplit(self.path).path).strip("/").split("/")
        if path[:2] == ["api", "models"]:
            name, rest = self.split(path[2:])
            self.model(name, rest)
        else:
            name, rest = self.split(path)
            self.file(name, rest[1], "/".join(rest[2:]))

    def do_HEAD(self):
        self.do_GET()

    def split(self, path):
        """Return the id at the beginning of a path, with or without an owner, and the rest."""
        n = 1 if path[0] in self.hub.models or len(path) == 1 or path[1] == "revision" else 2
        return "/".join(path[:n]), path[n:]

    def model(self, name, rest):
        if name == "some/gated":
            self.answer(403, b"{}", {"X-Error-Code": "GatedRepo"})
        elif name not in self.hub.models:
            self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif rest and rest[1] not in ("main", COMMIT):
            self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        elif rest and rest[0] == "tree":
            self.answer(200, json.dumps([self.entry(name, f) for f in self.files(name)]).encode())
        else:
            siblings = [{"rfilename": file} for file in self.files(name)]
            found = {"id": name, "sha": COMMIT, "siblings": siblings}
            self.answer(200, json.dumps(found).encode())

    def entry(self, name, file):
        content = (self.hub.models[name] / file).read_bytes()
        found = {"type": "file", "path": file, "size": len(content), "oid": "0" * 40}
        if file.endswith(".safetensors"):
            sha256 = hashlib.sha256(content).hexdigest()
            found["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 100}
        return found

    def file(self, name, revision, file):
        headers = {"X-Repo-Commit": COMMIT}
        if name not in self.hub.models or file not in self.files(name):
            self.answer(404, b"", {**headers, "X-Error-Code": "EntryNotFound"})
            return
        content = (self.hub.models[name] / file).read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        # The hub's tag of a large file is its SHA-256, of a small one git's shorter hash.
        headers["ETag"] = f'"{sha256 if file.endswith(".safetensors") else sha256[:40]}"'
        if self.command == "GET":
            self.hub.downloaded.append(file)
        self.answer(200, content, headers)

    def files(self, name):
        folder = self.hub.models[name]
        return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())

    def answer(self, status, content, headers=()):
        self.send_response(status)
        for key, value in dict(headers).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def served(tmp_path, model):
    hub = Hub(tmp_path / "home")
    hub.models["some/model"] = model
    yield hub
    hub.close()


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise OSError("the network is off")

    monkeypatch.setattr("socket.socket.connect", refuse)


def test_a_model_is_downloaded_once_and_works_without_the_hub_afterwards(served, model, no_network):
    online = served.ask("sentence-transformers:some/model")
    served.close()
    assert served.ask("sentence-transformers:some/model") == online
    local = SentenceTransformersEmbedder(str(model), device="cpu")
    assert online == [f"{COMMIT} {local.info.fingerprint}"]
    cached = SentenceTransformersEmbedder(str(served.cached("some/model")), device="cpu")
    np.testing.assert_allclose(cached.encode(["hello"]), local.encode(["hello"]), atol=1e-6)


def test_a_cached_model_is_used_without_a_request(served):
    first = served.ask("sentence-transformers:some/model")
    del served.models["some/model"]
    assert served.ask("sentence-transformers:some/model") == first


def test_weights_in_other_formats_are_not_downloaded(served, model):
    (model / "onnx").mkdir()
    for other in ("onnx/model.onnx", "tf_model.h5", "pytorch_model.bin", "rust_model.ot"):
        (model / other).write_bytes(b"weights of another format")
    served.ask("sentence-transformers:some/model")
    assert "model.safetensors" in served.downloaded
    assert not {"model.onnx", "onnx/model.onnx", "tf_model.h5", "pytorch_model.bin"} & {
        *served.downloaded
    }


def test_exported_weights_are_downloaded_only_for_their_backend(served, model):
    pytest.importorskip("onnxruntime")
    (model / "onnx").mkdir()
    for file in ("onnx/model.onnx", "onnx/model_O4.onnx"):
        (model / file).write_bytes(b"an exported graph")
    name = "sentence-transformers:some/model"
    plain = served.ask(name)
    assert not any(file.startswith("onnx/") for file in served.downloaded)
    exported = served.ask(f"{name}?backend=onnx")
    assert "onnx/model.onnx" in served.downloaded
    assert "onnx/model_O4.onnx" not in served.downloaded
    assert plain != exported
    served.close()
    assert served.ask(f"{name}?backend=onnx") == exported
    assert served.ask(name) == plain


def test_a_hub_model_without_exported_weights_is_refused(served):
    pytest.importorskip("onnxruntime")
    (line,) = served.ask("sentence-transformers:some/model?backend=onnx")
    assert line.startswith("ModelError ")
    assert "'some/model'" in line
    assert "backend=onnx" in line


def test_a_language_model_is_downloaded_and_works_without_the_hub_afterwards(
    served, model, no_network
):
    online = served.ask("last-token:some/model?pooling=mean")
    served.close()
    assert served.ask("last-token:some/model?pooling=mean") == online
    local = LastTokenEmbedder(str(model), pooling="mean", device="cpu")
    assert online == [f"{COMMIT} {local.info.fingerprint}"]
    cached = LastTokenEmbedder(str(served.cached("some/model")), pooling="mean", device="cpu")
    np.testing.assert_allclose(cached.encode(["hello"]), local.encode(["hello"]), atol=1e-6)


def test_a_plain_transformers_model_works_without_the_hub_afterwards(served, model):
    for file in ("modules.json", "config_sentence_transformers.json"):
        (model / file).unlink()
    online = served.ask("sentence-transformers:some/model")
    served.close()
    assert served.ask("sentence-transformers:some/model") == online
    assert online[0].startswith(COMMIT)


def test_a_partly_cached_model_is_completed_and_not_read_as_a_plain_one(served, model):
    folder = served.home / "hub" / "models--some--model"
    snapshot = folder / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        (snapshot / file).write_bytes((model / file).read_bytes())
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(COMMIT)
    local = SentenceTransformersEmbedder(str(model), device="cpu")
    assert served.ask("sentence-transformers:some/model") == [f"{COMMIT} {local.info.fingerprint}"]


def test_code_of_another_repository_is_part_of_a_model_that_runs_it(served, model, tmp_path):
    config = json.loads((model / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "some/code--own.Model"}
    (model / "config.json").write_text(json.dumps(config))
    code = tmp_path / "code"
    code.mkdir()
    served.models["some/code"] = code
    prints = []
    for text in ("a = 1", "a = 2"):
        (code / "own.py").write_text(text)
        shutil.rmtree(served.home, ignore_errors=True)
        prints += served.ask(f"sentence-transformers:{model}?trust_remote_code=true")
        prints += served.ask(f"sentence-transformers:{model}?trust_remote_code=false")
    assert len(set(prints)) == 3
    assert prints[1] == prints[3]
    config["auto_map"] = {"AutoModel": f"{code}--own.Model"}
    (model / "config.json").write_text(json.dumps(config))
    (line,) = served.ask(f"sentence-transformers:{model}?trust_remote_code=true")
    assert "outside its folder" in line


def test_a_revision_can_be_named(served):
    named = served.ask(f"sentence-transformers:some/model?revision={COMMIT}")
    assert named == served.ask("sentence-transformers:some/model")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("some/other", ["'some/other'", "no", "public model"]),
        ("some/gated", ["'some/gated'", "https://huggingface.co/some/gated", "hf auth login"]),
        ("some/model?revision=v9", ["'some/model'", "revision 'v9'"]),
        ("some/mo del", ["'some/mo del'", "owner/name"]),
    ],
)
def test_a_model_that_the_hub_does_not_give_is_unavailable_in_one_line(served, name, facts):
    (line,) = served.ask(f"sentence-transformers:{name}")
    assert line.startswith("Unavailable ")
    assert all(fact in line for fact in facts)


def test_without_the_hub_a_model_is_unavailable_in_one_line(served):
    served.close()
    (line,) = served.ask("all-mpnet-base-v2")
    assert line.startswith("Unavailable ")
    assert "'sentence-transformers/all-mpnet-base-v2'" in line
    assert "cache" in line


@pytest.mark.parametrize("name", ["gpt2", "sentence-transformers:gpt2", "last-token:gpt2"])
def test_a_model_without_an_owner_is_found_online_and_in_the_cache(served, model, name):
    served.models["gpt2"] = served.models.pop("some/model")
    online = served.ask(name)
    assert online[0].startswith(COMMIT)
    served.close()
    assert served.ask(name) == online


def test_the_library_s_own_owner_comes_first(served, model):
    served.models = {"sentence-transformers/mine": model, "mine": model}
    online = served.ask("mine")
    assert online[0].startswith(COMMIT)
    assert served.cached("sentence-transformers/mine").is_dir()
    assert not served.cached("mine").exists()


def test_a_model_without_an_owner_that_another_library_cached_is_used_without_the_hub(
    served, model
):
    served.models["gpt2"] = model
    fetch = "import sys, transformers; transformers.AutoModel.from_pretrained('gpt2')"
    environment = {"HF_ENDPOINT": served.url, "HF_HOME": str(served.home), "PATH": ""}
    subprocess.run([sys.executable, "-c", fetch], env=environment, check=True, capture_output=True)
    served.close()
    assert served.ask("gpt2")[0].startswith(COMMIT)


def test_an_id_on_the_hub_needs_no_provider(served):
    assert served.ask("some/model") == served.ask("sentence-transformers:some/model")


def test_a_name_that_the_hub_does_not_know_is_unknown(served):
    (line,) = served.ask("all-MiniLM-L6")
    assert line.startswith("UnknownName unknown model 'all-MiniLM-L6'; did you mean")
    assert line.endswith("(and no such model on the hub)")
    served.close()
    (line,) = served.ask("gpt3")
    assert line.startswith("UnknownName unknown model 'gpt3' (the hub cannot be asked: ")


def test_pickled_weights_are_needed_only_where_there_are_no_others():
    files = [
        "a/model.safetensors",
        "a/pytorch_model.bin",
        "b/pytorch_model.bin",
        "consolidated.pth",
    ]
    assert hub.needed(files) == ["a/model.safetensors", "b/pytorch_model.bin"]
