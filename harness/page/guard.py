"""What every request to the page must keep to, and the headers that every answer carries.

A browser sends whatever another site tells it to, also to this machine. So a request counts only if it is addressed to the
name under which the page is served, and if it does not come from another origin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders

from harness.service.app import MOST_BYTES
from harness.service.guard import refusal

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: what is not a file of this server is neither loaded nor run."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
LOCAL = ("127.0.0.1", "localhost", "::1")


class Guard:
    """An ASGI middleware: refuses foreign hosts and origins and large bodies, and adds `HEADERS`."""

    def __init__(self, app: Any, hosts: Iterable[str] = LOCAL) -> None:
        self.app, self.hosts = app, frozenset(hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        fault = self.fault(scope["method"], Headers(scope=scope))
        if fault is None:
            await self.app(scope, receive, send_with_headers)
        else:
            await refusal(*fault)(scope, receive, send_with_headers)

    def fault(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """The status and the reason of a refusal; None for a request that may pass."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if _name(f"//{host}") not in self.hosts:
            return 403, "this page is served to this machine only: open it as http://127.0.0.1"
        if origin is not None and urlsplit(origin).netloc != host:
            return 403, "requests from other sites are refused"
        if method not in ("GET", "HEAD"):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "requests from other sites are refused"
            length = headers.get("content-length", "")
            if not length.isdigit():
                return 411, "the request does not say how long it is"
            if int(length) > MOST_BYTES:
                return 413, f"the body has more than {MOST_BYTES:,} bytes"
        return None


def _name(url: str) -> str | None:
    """The host without its port; None for what is no host."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
