"""A hub on 127.0.0.1 that takes uploads by the protocol of huggingface.co, with Git LFS."""

from __future__ import annotations

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_secretOfTheTests"
COMMIT = "c" * 40


class Hub(ThreadingHTTPServer):
    """A running server, a context.

    Attributes
    ----------
    repositories
        Files of each repository, by path.
    refused
        Paths of requests without the token.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.objects: dict[str, bytes] = {}
        self.refused: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it; without the token."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "NO_PROXY": "127.0.0.1",
        }

    def __enter__(self) -> Hub:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_POST(self) -> None:
        body = self._body()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.server.refused.append(self.path)
            self._answer({"error": "Invalid username or password."}, 401)
        elif self.path == "/api/repos/create":
            asked = json.loads(body)
            name = (
                f"{asked['organization']}/{asked['name']}"
                if asked.get("organization")
                else (asked["name"])
            )
            self.server.repositories.setdefault(name, {})
            self._answer({"url": f"{self.server.url}/{name}", "id": name})
        elif self.path == "/api/validate-yaml":  # of the card's metadata
            self._answer({"errors": [], "warnings": []})
        elif self.path.endswith("/preupload/main"):
            files = [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["path"].endswith(".safetensors") else "regular",
                    "shouldIgnore": False,
                    "oid": None,
                }
                for file in json.loads(body)["files"]
            ]
            self._answer({"files": files})
        elif self.path.endswith(".git/info/lfs/objects/batch"):
            objects = [
                {**entry, "actions": {"upload": {"href": f"{self.server.url}/up/{entry['oid']}"}}}
                for entry in json.loads(body)["objects"]
            ]
            self._answer({"transfer": "basic", "objects": objects})
        elif self.path.endswith("/commit/main"):
            self._commit(body.decode().splitlines())
        else:
            self._answer({"error": f"unknown {self.path}"}, 404)

    def do_PUT(self) -> None:
        self.server.objects[self.path.rpartition("/")[2]] = self._body()
        self._answer({})

    def do_GET(self) -> None:
        self._answer({"error": f"unknown {self.path}"}, 404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def _commit(self, lines: list[str]) -> None:
        name = self.path.removeprefix("/api/models/").removesuffix("/commit/main")
        files = self.server.repositories[name]
        for line in map(json.loads, lines):
            value: dict[str, Any] = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.server.objects[value["oid"]]
        url = f"{self.server.url}/{name}/commit/{COMMIT}"
        self._answer({"commitUrl": url, "commitOid": COMMIT, "hookOutput": "", "success": True})

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, content: Any, status: int = 200) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""
