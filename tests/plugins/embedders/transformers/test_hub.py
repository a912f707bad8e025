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


def test_weights_in_other_formats_are_not_downloaded(served, model):
    (model / "onnx").mkdir()
    for other in ("onnx/model.onnx", "tf_model.h5", "pytorch_model.bin", "rust_model.ot"):
        (model / other).write_bytes(b"weights of another format")
    served.ask("sentence-transformers:some/model")
    assert "model.safetensors" in served.downloaded
    assert not {"model.onnx", "onnx/model.onnx", "tf_model.h5", "pytorch_model.bin"} & {
        *served.downloaded
    }


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


def test_a_model_that_the_hub_does_not_give_is_unavailable_in_one_line(served):
    for name, fact in {
        "some/other": "'some/other'",
        "some/gated": "https://huggingface.co/some/gated",
        "some/model?revision=v9": "revision 'v9'",
    }.items():
        (line,) = served.ask(f"sentence-transformers:{name}")
        assert line.startswith("Unavailable ")
        assert fact in line
    served.close()
    (line,) = served.ask("all-mpnet-base-v2")
    assert line.startswith("Unavailable ")
    assert "'sentence-transformers/all-mpnet-base-v2'" in line


@pytest.mark.parametrize("name", ["gpt2", "last-token:gpt2"])
def test_a_model_without_an_owner_is_found_online_and_in_the_cache(served, model, name):
    served.models["gpt2"] = served.models.pop("some/model")
    online = served.ask(name)
    assert online[0].startswith(COMMIT)
    served.close()
    assert served.ask(name) == online


def test_a_name_that_the_hub_does_not_know_is_unknown(served):
    (line,) = served.ask("all-MiniLM-L6")
    assert line.startswith("UnknownName unknown model 'all-MiniLM-L6'; did you mean")
    assert line.endswith("(and no such model on the hub)")
    served.close()
    (line,) = served.ask("gpt3")
    assert line.startswith("UnknownName unknown model 'gpt3' (the hub cannot be asked: ")


def test_exported_files_of_a_repository_are_needed_only_for_their_backend():
    files = ["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"]
    files += ["onnx/model_O2.onnx", "onnx/model.onnx_data", "openvino/openvino_model.bin"]
    files += ["openvino/openvino_model.xml"]
    plain = ["config.json", "model.safetensors"]
    assert hub.needed(files) == plain
    assert hub.needed(files, "onnx") == [*plain, "onnx/model.onnx", "onnx/model.onnx_data"]
    assert hub.needed(files, "openvino") == [*plain, *files[-2:]]
