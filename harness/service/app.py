"""The task API as a FastAPI application."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.types import ASGIApp

from harness.corpora.item import Item
from harness.errors import EngineError, HarnessError, UsageError
from harness.runs.answering import Answer
from harness.runs.reasons import why
from harness.service.guard import RETRY, refusal, while_there
from harness.service.keys import ANYONE
from harness.service.players import AnyPlayer, ranked
from harness.service.protocol import Connection, connection_limit, tracked
from harness.service.schema import REQUEST, BuildRequest, DrawRequest, ExecuteResponse, Piece, Player, faults
from harness.service.workers import Unavailable
from harness.worlds.hexagons import Board

MOST_BYTES = 1_000_000
"""The largest body of a request that is read, in bytes."""
DEADLINE = 600.0
"""Seconds from a request to its answer, whoever answers; workers have shorter limits."""
MOST_HEAD = 65_536
"""The most bytes of a request's line and headers, or of a body's trailers."""
FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"description": HTTPStatus(status).phrase} for status in (401, 404, 408, 413, 422, 429, 502, 503, 504)
}
"""The answers of the OpenAPI page to requests that are refused."""
T = TypeVar("T")


def create_app(players: Iterable[AnyPlayer]) -> FastAPI:
    """The application. It checks no keys itself: put a `Guard` in front of it."""
    by_name = {player.name: player for player in players}
    app = FastAPI(title="Grid-world instruction following", version="1", docs_url=None, redoc_url=None)
    schema = REQUEST.json_schema(ref_template="#/components/schemas/{model}")
    definitions = schema.pop("$defs")
    described = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the server is alive."""
        return {"status": "ok"}

    @app.get("/ready", responses={503: FAULTS[503]})
    async def ready() -> dict[str, str]:
        """Whether the server takes requests: not while its model is unavailable."""
        return {"status": "ok"}

    @app.get("/v1/harness/players", responses={401: FAULTS[401]})
    async def list_players() -> list[Player]:
        """The players that can answer; the first that knows a task is its default."""
        return [player.card for player in ranked(by_name.values())]

    @app.post("/v1/harness/execute", openapi_extra=described, responses=FAULTS)
    async def execute(request: Request) -> ExecuteResponse:
        """Carry out an instruction: the player says what to do, and the answer holds the actions and the state after them."""
        body = await read(request, REQUEST)
        if body.model is None:
            player = next((one for one in ranked(by_name.values()) if body.task in one.card.tasks), None)
        else:
            player = by_name.get(body.model)
        if player is None:
            wanted = f"for {body.task}" if body.model is None else repr(body.model[:80])
            raise HTTPException(404, f"no player {wanted}: choose one of {', '.join(by_name)}")
        if body.task not in player.card.tasks:
            raise HTTPException(422, f"{player.name} does not know the task {body.task}")
        # Raises Gone if the client disconnects first.
        return await while_there(request.receive, executed(player, body, request.scope.get("principal", ANYONE)))

    @app.exception_handler(StarletteHTTPException)
    async def refused(request: Request, error: StarletteHTTPException) -> JSONResponse:
        response = refusal(error.status_code, error.detail, RETRY if error.status_code == 503 else None)
        response.headers.update(error.headers or {})
        return response

    # FastAPI defines the schemas of its own bodies only.
    app.openapi()["components"]["schemas"] |= definitions
    return app


async def executed(player: AnyPlayer, body: DrawRequest | BuildRequest, principal: str) -> ExecuteResponse:
    """What the player does. Raises HTTPException for an invalid request and for a model that does not answer."""
    try:
        item = body.item
        async with asyncio.timeout(DEADLINE):
            answer = await player.answer(item, principal)
    except TimeoutError:
        raise HTTPException(504, f"no answer within {DEADLINE:g} s") from None
    except (UsageError, ValueError) as error:
        raise HTTPException(422, str(error)) from None
    except Unavailable as error:
        raise HTTPException(503, str(error)) from None
    except HarnessError as error:
        raise HTTPException(502, str(error)) from None
    return _response(player.name, body, item, answer)


def _response(name: str, body: DrawRequest | BuildRequest, item: Item, answer: Answer) -> ExecuteResponse:
    notes = answer.notes
    applied: Any = item.before.apply(answer.actions)
    after, ignored = applied
    return ExecuteResponse(
        task=body.task,
        model=name,
        actions=[tuple(action) for action in answer.actions],
        ignored=[tuple(action) for action in ignored],
        board=after.digits() if isinstance(after, Board) else None,
        blocks=None if isinstance(after, Board) else [tuple(block) for block in after.blocks()],
        text=notes.get("text"),
        program=notes.get("program"),
        confidence=notes.get("confidence"),
        left_out=body.left_out + notes.get("left_out", 0),
        discarded=[Piece(text=text, reason=reason) for text, reason in notes.get("discarded", ())],
        why=why(item, answer),
    )


async def read(request: Request, kind: TypeAdapter[T]) -> T:
    """The parsed body. Raises HTTPException if it is invalid or too large.

    Pydantic gets the JSON text, and not FastAPI's objects: only from text does it take arrays as tuples, and it copes with arrays
    of any depth.
    """
    body = await request.body()
    if len(body) > MOST_BYTES:
        raise HTTPException(413, f"the body has more than {MOST_BYTES:,} bytes")
    try:
        return kind.validate_json(body)
    except ValidationError as error:
        raise HTTPException(422, faults(error)) from None


@contextmanager
def listening(
    app: ASGIApp, host: str, port: int, *, drain: float = 1.0, head: float = 30.0, read: float = 30.0, idle: int = 75
) -> Iterator[Callable[[], bool]]:
    """Serve the application in a thread of its own while the block runs; yields a function that tells whether the thread runs.

    A connection ends if the head of a request takes more than `head` seconds to arrive, if the client takes nothing of a waiting
    answer for `read` seconds (Linux only), or if it is idle for `idle` seconds, by default longer than a proxy keeps one.
    If SystemExit (SIGTERM) ends the block, requests in flight have `drain` seconds to be answered.

    Raises EngineError if the server cannot start.
    """
    server = uvicorn.Server(
        uvicorn.Config(
            tracked(app),
            host,
            port,
            http=partial(Connection, set(), connection_limit(), head, read),  # type: ignore[arg-type]
            loop="asyncio",
            ws="none",
            proxy_headers=False,
            h11_max_incomplete_event_size=MOST_HEAD,
            # A line for every request that is not HTTP would let anyone fill the log.
            log_level="error",
            access_log=False,
            timeout_keep_alive=idle,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)
    if not server.started:
        raise EngineError(f"the server cannot listen at {host}:{port}")
    try:
        yield thread.is_alive
    except SystemExit:
        server.config.timeout_graceful_shutdown = drain  # type: ignore[assignment]
        raise
    finally:
        server.should_exit = True
        thread.join(15 + drain)
