"""HTTP requests to an endpoint: answers of limited size, the pauses that it asks for, failures in one line without secrets."""

import asyncio
import json
import logging
import os
import random
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
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
    """The parts of an endpoint's URL. Raises UsageError for one that no request can go to, and for one with a login."""
    if "@" in url:
        # In a wrong URL with a login, any part may belong to the password.
        raise UsageError(f"--base-url: it must hold no login: a key belongs in {' or '.join(KEY_VARIABLES)}")
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    shown = without_secrets(url)
    raise UsageError(f"--base-url {shown}: it must begin with http:// or https:// and a host, and its port be 1 to 65535")


@dataclass(eq=False)
class Failure(Exception):
    """Why a request has no usable answer: one line, without secrets.

    `status` is the HTTP status, None if there was no answer or an unreadable one; `parameter` is the one that the endpoint
    refuses, if it names one. `again` says that another try may do better, after `wait` seconds if the endpoint asks for a pause.
    `connected` is False if there was no connection. `patient` is False if no other request can do better: the quota is used up,
    or the endpoint asks for a very long wait.
    """

    message: str
    status: int | None = None
    parameter: str = ""
    _: KW_ONLY
    again: bool = False
    wait: float | None = None
    connected: bool = True
    patient: bool = True

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
        self._base, self._query = urlunsplit(parts._replace(path=parts.path.rstrip("/"), query="", fragment="")), parts.query
        self._socket, self._connections = socket, connections
        self.shown = without_secrets(url)
        self.timeout, self.retries = timeout, retries
        key = None if socket else key_in_environment()
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        # Some servers quote the request in their errors.
        secrets = [key or "", parts.query, *re.findall("=([^&]*)", parts.query)]
        forms = {form(one) for one in secrets for form in (str, unquote, unquote_plus)}
        self._secrets = sorted((one for one in forms if len(one) > 3), key=len, reverse=True)
        self._client: httpx2.AsyncClient | None = None
        self._free_at = 0.0

    @property
    def patience(self) -> float:
        """The seconds that a request gets in total."""
        return self.timeout * (self.retries + 1)

    async def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The decoded answer. Raises Failure if there is none after all tries."""
        for attempt in range(self.retries + 1):
            await self._wait()
            try:
                return await self._send(method, path, body)
            except Failure as failure:
                error = failure
            if attempt == self.retries or not error.again:
                break
            pause = min(8.0, 0.5 * 2**attempt) * random.uniform(0.75, 1.0) if error.wait is None else error.wait
            if error.status == 429:
                self._free_at = max(self._free_at, asyncio.get_running_loop().time() + pause)
            else:
                await asyncio.sleep(pause)
        raise error

    async def _wait(self) -> None:
        """Sleep until the end of the longest wait that the server has asked for."""
        while (pause := self._free_at - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(pause)

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        import httpx2

        url = f"{self._base}{path}" + (f"?{self._query}" if self._query else "")
        # In ASCII: a model may have answered with half a surrogate pair, which UTF-8 cannot encode.
        content = None if body is None else json.dumps(body).encode()
        response: httpx2.Response | None = None
        try:
            client = self._client = self._client or self._open()
            async with asyncio.timeout(self.timeout), client.stream(method, url, content=content) as response:
                return self._answer(response.status_code, response.headers, await _bounded(response))
        except Failure:
            raise
        except (TimeoutError, httpx2.TimeoutException):
            tries = f" per request, {self.patience:g} in total" if self.retries else ""
            raise Failure(f"no answer within {self.timeout:g} seconds{tries}: raise --timeout", again=True) from None
        except Exception as error:  # noqa: BLE001 - sockets, TLS, proxies and parsers raise errors of many kinds
            cause = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
            if response is None:
                raise Failure(self.tell(cause), connected=False, again=isinstance(cause, httpx2.HTTPError | OSError)) from None
            if isinstance(cause, httpx2.NetworkError | httpx2.RemoteProtocolError):
                raise Failure("the endpoint's answer breaks off", again=True) from None
            raise Failure(f"the endpoint's answer cannot be read: {self.tell(cause)}", again=True) from None

    def _open(self) -> "httpx2.AsyncClient":
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
            headers={"User-Agent": "grid-world-harness", "Content-Type": "application/json", **self._headers},
        )

    def _answer(self, status: int, headers: Mapping[str, str], content: bytes) -> dict[str, Any]:
        """The decoded answer. Raises Failure for a refusal; an error inside an answer counts like its own status."""
        if 200 <= status < 300:
            answer = _decoded(content)
            if not (fault := answer.get("error")):
                return answer
            code = fault.get("code") if isinstance(fault, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
        if 300 <= status < 400:
            where = without_secrets(headers.get("Location", "nowhere"))
            raise Failure(f"it is redirected to {self.tell(where)}", status)
        wait = _retry_after(headers)
        if wait is not None and wait > self.patience > 0 and wait > 60:
            raise Failure(f"it asks to wait {wait:,.0f} seconds", status, patient=False)
        message, parameter, code = _error(content)
        spent = (status in (402, 403, 429) and bool(_QUOTA.search(f"{code} {message}"))) or status == 402
        again = not spent and (status in _AGAIN or status >= 500)
        raise Failure(f"{status} {self.tell(message)}".strip(), status, parameter, again=again, wait=wait, patient=not spent)

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


async def _bounded(response: "httpx2.Response") -> bytes:
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and int(length) > MAX_BYTES:
        raise Failure(f"the endpoint's answer has {int(length):,} bytes; no more than {MAX_BYTES:,} are read")
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > MAX_BYTES:
            raise Failure(f"the endpoint's answer has more than {MAX_BYTES:,} bytes; no more are read")
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


def _error(content: bytes) -> tuple[str, str, str]:
    """The message, the parameter and the code of an error; empty for what it does not say."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return _text(content), "", ""
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    if not isinstance(error, dict):
        return brief(str(error)), "", ""
    message = str(error.get("message") or json.dumps(error))
    return message, str(error.get("param") or ""), f"{error.get('code') or ''} {error.get('type') or ''}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait; None if it does not ask, or in another form than a number."""
    with suppress(KeyError, ValueError):
        return max(0.0, float(headers["Retry-After"]))
    return None
