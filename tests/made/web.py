"""The web on 127.0.0.1: a proxy through which every https address reaches this process.

The product runs unchanged. It takes the proxy from `https_proxy` and trusts the authority in
`REQUESTS_CA_BUNDLE`, as it would in a company's network.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import trustme

Answer = bytes | Callable[["Page"], None]


class Page(BaseHTTPRequestHandler):
    """Answers requests that came through the tunnel to one host."""

    protocol_version = "HTTP/1.1"
    host = ""

    def do_GET(self) -> None:
        """Send what the web has at this address."""
        url = f"https://{self.host}{self.path}"
        self.web.requests.append(url)
        answer = self.web.pages.get(url)
        if answer is None:
            self.send_error(404)
        elif callable(answer):
            answer(self)
        else:
            self.start(len(answer))
            self.wfile.write(answer)

    def start(self, length: int | None = None) -> None:
        """Send the head of an answer."""
        self.close_connection = True
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()

    def redirect(self, url: str) -> None:
        """Send a redirect."""
        self.send_response(302)
        self.send_header("Location", url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    @property
    def web(self) -> Web:
        return self.server.web


class Tunnel(BaseHTTPRequestHandler):
    """Opens a tunnel to any host: this process, with a certificate for that host."""

    def do_CONNECT(self) -> None:
        """Connect."""
        self.close_connection = True
        host = self.path.rpartition(":")[0]
        web = self.server.web
        web.tunnels.append(host)
        if host in web.down:
            self.send_error(502)
            return
        self.send_response(200)
        self.end_headers()
        try:
            with web.tls(host).wrap_socket(self.connection, server_side=True) as secure:
                type("HostPage", (Page,), {"host": host})(secure, self.client_address, self.server)
        except OSError:  # the client went away
            pass

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Web:
    """All https addresses.

    Attributes
    ----------
    pages
        What an address answers: bytes, or a function of the request.
    requests
        The addresses that were asked for.
    tunnels
        The hosts that were connected to.
    down
        Hosts that cannot be reached.
    """

    def __init__(self, folder: Path) -> None:
        self.pages: dict[str, Answer] = {}
        self.requests: list[str] = []
        self.tunnels: list[str] = []
        self.down: set[str] = set()
        self.authority = trustme.CA()
        self.certificate = folder / "authority.pem"
        self.authority.cert_pem.write_to_path(str(self.certificate))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Tunnel)
        self.server.web = self

    def __enter__(self) -> Web:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a process that sees this web."""
        proxy = f"http://127.0.0.1:{self.server.server_port}"
        certificate = str(self.certificate)
        return {
            "https_proxy": proxy,
            "HTTPS_PROXY": proxy,
            "no_proxy": "",
            "NO_PROXY": "",
            "REQUESTS_CA_BUNDLE": certificate,
            "SSL_CERT_FILE": certificate,
        }

    def tls(self, host: str) -> ssl.SSLContext:
        """Return a context with a certificate for a host."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(host).configure_cert(context)
        return context
