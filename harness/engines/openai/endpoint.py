"""HTTP requests to an endpoint: answers of limited size, the pauses that it asks for, failures in one line without secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit, urlunsplit

from harness.engines.engine import without_secrets
from harness.engines.shared import brief
from harness.errors import UsageError

if TYPE_CHECKING:
    import httpx2

KEY_VARIABLES = ("HARNESS_API_KEY", "OPENAI_API_KEY")
MAX_BYTES = 10_000_000
"""The largest answer that is read, in bytes."""

_AGAIN = (408, 409, 425, 429)
"""Statuses after which a request is tried again, in addition to all from 500 on."""
_QUOTA = re.compile(
    r"insufficient_quota|insufficient[ _](?:credit|balance|funds)|quota[ _]exceeded|exceeded your current quota|billing", re.I
)
_TAG = re.compile(r"<[^>]{0,200}>")


def key_in_environment() -> str | None:
    """The first key of `KEY_VARIABLES`. Raises UsageError as `clean_key` does."""
    return next(filter(None, (clean_key(os.environ.get(name, ""), name) for name in KEY_VARIABLES)), None)


def clean_key(text: str, place: str) -> str:
    """A key without the line break after it. Raises UsageError, which names only its `place`, if no header can carry it."""
    key = text.strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{place}: the key holds a line break or a character that no key has: copy it again")
    return key


def split_url(url: str) -> SplitResult:
    """The parts of an endpoint's URL. Raises UsageError for one that no request can go to."""
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    # In a wrong URL with a login, any part may belong to the password.
    shown = "" if "@" in url else f" {without_secrets(url)}"
    raise UsageError(f"--base-url{shown}: it must begin with http:// or https:// and a host, and its port be 1 to 65535")


@dataclass(eq=False)
class Failure(Exception):
    """Why a request has no usable answer, after all tries: one line, without secrets.

    `status` is the HTTP status, None if there was no answer or an unreadable one; `parameter` is the one that the endpoint
    refuses, if it names one. `connected` is False if there was no connection. `patient` is False if no other request can do
    better: the quota is used up, or the endpoint asks for a very long wait. `again` is False if the same request is sure to
    fail again, `late` is True if the answer did not come in time.
    """

    message: str
    status: int | None = None
    parameter: str = ""
    _: KW_ONLY
    connected: bool = True
    patient: bool = True
    again: bool = True
    late: bool = False

    def __str__(self) -> str:
        return self.message


class Endpoint:
    """A server that speaks the OpenAI protocol at `url`, e.g. http://127.0.0.1:8000/v1; a query in it goes with each request.

    A request gets `timeout` seconds, and `retries` further tries after 408, 409, 425, 429, 5xx, timeouts and broken
    connections. Before each, it pauses for as long as the server asks, or for a growing time. An endpoint works inside one
    event loop; `close` ends its connections.

    A server on this machine may listen at a Unix `socket`. Requests then go there, without the environment's proxy or key.
    """

    def __init__(
        self,
        url: str,
        *,
        socket: Path | None = None,
        connections: int = 8,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        parts = split_url(url)
        self._base = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
        self._query = parts.query
        self._socket = socket
        self.shown = without_secrets(url)
        self.timeout, self.retries = timeout, retries
        self._connections = connections
        key = None if socket else key_in_environment()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        user = parts.netloc.rpartition("@")[0]
        if user:
            self._headers = {"Authorization": f"Basic {b64encode(unquote(user).encode()).decode()}"}
        # Some servers quote the request in their errors.
        secrets = [self._headers.get("Authorization", "").partition(" ")[2], user, user.partition(":")[2], parts.query]
        secrets += re.findall("=([^&]*)", parts.query)
        forms = {form(one) for one in secrets for form in (str, unquote, unquote_plus)}
        self._secrets = sorted((one for one in forms if len(one) > 3), key=len, reverse=True)
        self._client: httpx2.AsyncClient | None = None
        self._free_at = 0.0

    @property
    def patience(self) -> float:
        """The seconds that a request gets in total."""
        return self.timeout * (self.retries + 1)

    async def post(self, path: str, body: Mapping[str, Any], late: Callable[[], None] | None = None) -> dict[str, Any]:
        """The decoded answer. Raises Failure if there is none after all tries; see `raw` for `late`."""
        headers = {"Content-Type": "application/json"}
        return await self.request("POST", path, content=json.dumps(body).encode(), headers=headers, late=late)

    async def request(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """As `post`, for any method; `options` go to httpx2."""
        return _decoded(await self.raw(method, path, **options))

    async def raw(
        self, method: str, path: str, *, most: int = MAX_BYTES, late: Callable[[], None] | None = None, **options: Any
    ) -> bytes:
        """An answer of at most `most` bytes; `late` is called after each try that got none in time.

        Raises Failure as `post` does. An error inside an answer with status 200 counts like its own status.
        """
        for attempt in range(self.retries + 1):
            await self._wait()
            pause = min(8.0, 0.5 * 2**attempt) * random.uniform(0.75, 1.0)
            try:
                status, headers, content = await self._send(method, path, most, options)
                status = (status == 200 and _inner_status(content)) or status
            except Failure as failure:
                error = failure
                if late and failure.late:
                    late()
                if attempt == self.retries or not failure.again:
                    break
            else:
                if 200 <= status < 300:
                    return content
                wait = _retry_after(headers)
                error = self._refusal(status, headers, content, wait)
                if attempt == self.retries or not error.patient or not (status in _AGAIN or status >= 500):
                    break
                pause = pause if wait is None else wait
                if status == 429:
                    self._free_at = max(self._free_at, asyncio.get_running_loop().time() + pause)
                    continue
            await asyncio.sleep(pause)
        raise error

    async def _wait(self) -> None:
        """Sleep until the end of the longest wait that the server has asked for."""
        while (pause := self._free_at - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(pause)

    async def _send(self, method: str, path: str, most: int, options: Mapping[str, Any]) -> tuple[int, Mapping[str, str], bytes]:
        import httpx2

        url = f"{self._base}{path}" + (f"?{self._query}" if self._query else "")
        response: httpx2.Response | None = None
        try:
            client = self._client = self._client or self._open()
            async with asyncio.timeout(self.timeout), client.stream(method, url, **options) as response:
                return response.status_code, response.headers, await _bounded(response, most)
        except Failure:
            raise
        except (TimeoutError, httpx2.TimeoutException):
            tries = f" per request, {self.patience:g} in total" if self.retries else ""
            raise Failure(f"no answer within {self.timeout:g} seconds{tries}: raise --timeout", late=True) from None
        except Exception as error:  # noqa: BLE001 - sockets, TLS, proxies and parsers raise errors of many kinds
            cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            if response is None:
                raise Failure(self.tell(cause), connected=False, again=isinstance(cause, httpx2.HTTPError | OSError)) from None
            if isinstance(cause, httpx2.NetworkError | httpx2.RemoteProtocolError):
                raise Failure("the endpoint's answer breaks off") from None
            raise Failure(f"the endpoint's answer cannot be read: {self.tell(cause)}") from None

    def _open(self) -> httpx2.AsyncClient:
        import httpx2

        # httpx2 logs the address of every request, which may contain a key.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        limits = httpx2.Limits(max_connections=self._connections, max_keepalive_connections=self._connections)
        return httpx2.AsyncClient(
            # With a transport of our own, httpx2 takes no proxy from the environment.
            transport=httpx2.AsyncHTTPTransport(uds=str(self._socket), limits=limits) if self._socket else None,
            limits=limits,
            timeout=self.timeout,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"User-Agent": "grid-world-harness", **self._headers},
        )

    def _refusal(self, status: int, headers: Mapping[str, str], content: bytes, wait: float | None) -> Failure:
        if 300 <= status < 400:
            where = without_secrets(headers.get("Location", "nowhere"))
            return Failure(f"it is redirected to {self.tell(where)}", status)
        message, parameter, code = _error(content)
        spent = (status in (402, 403, 429) and bool(_QUOTA.search(f"{code} {message}"))) or status == 402
        if wait is not None and wait > self.patience > 0 and wait > 60:
            return Failure(f"it asks to wait {wait:,.0f} seconds", status, patient=False)
        return Failure(f"{status} {self.tell(message)}".strip(), status, parameter, patient=not spent)

    def tell(self, error: BaseException | str) -> str:
        """A message in one line of at most 300 characters, without secrets."""
        text = str(error) or type(error).__name__
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return brief(text)

    async def close(self) -> None:
        """End the connections; a later request opens new ones."""
        if self._client:
            await self._client.aclose()
            self._client = None


async def _bounded(response: httpx2.Response, most: int) -> bytes:
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and int(length) > most:
        raise Failure(f"the endpoint's answer has {int(length):,} bytes; no more than {most:,} are read", again=False)
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > most:
            raise Failure(f"the endpoint's answer has more than {most:,} bytes; no more are read", again=False)
    return bytes(content)


def _decoded(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        page = content[:100].lstrip().lower().startswith(b"<")
        what = "is a web page: check --base-url (most end in /v1)" if page else "is not JSON"
        raise Failure(f"the endpoint's answer {what}: {_text(content)}") from None
    if not isinstance(answer, dict):
        raise Failure(f"the endpoint's answer is not a JSON object: {_text(content)}")
    return answer


def _text(content: bytes) -> str:
    """The beginning of an answer, without the tags of a web page."""
    text = brief(_TAG.sub(" ", content[:4000].decode(errors="replace")), 100)
    return "".join(char if char.isprintable() else "?" for char in text) if content else "empty"


def _inner_status(content: bytes) -> int:
    """The status of the error that an answer consists of, 500 if it has none; 0 for any other answer, and for a batch's lines."""
    if b'"error"' in content and b'"custom_id"' not in content:
        with suppress(Failure):
            error = _decoded(content).get("error")
            code = error.get("code") if isinstance(error, dict) else None
            return code if isinstance(code, int) and 400 <= code < 600 else 500 if error else 0
    return 0


def _error(content: bytes) -> tuple[str, str, str]:
    """The message, the parameter and the code of an error; empty for what it does not say."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return _text(content), "", ""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(error, dict):
        return brief(str(error)), "", ""
    detail = error.get("detail")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        place = detail[0].get("loc") or [""]
        return brief(str(detail[0].get("msg"))), str(place[-1] if isinstance(place, list) else place), ""
    message = str(error.get("message") or detail or json.dumps(error))
    return message, str(error.get("param") or ""), f"{error.get('code') or ''} {error.get('type') or ''}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, given in milliseconds, in seconds or as a date; None if it does not ask."""
    for name, unit in (("retry-after-ms", 1000.0), ("Retry-After", 1.0)):
        try:
            return max(0.0, float(headers[name]) / unit)
        except (KeyError, ValueError):
            continue
    try:
        until = parsedate_to_datetime(headers["Retry-After"])
    except (KeyError, ValueError):
        return None
    return max(0.0, (until - datetime.now(UTC)).total_seconds()) if until.tzinfo else None
