"""The task API as a FastAPI application: one instruction and a state in, actions and the state after them out."""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from harness.errors import EngineError, HarnessError, UsageError
from harness.runs.answering import Answer
from harness.service.players import AnyPlayer
from harness.service.schema import REQUEST, BuildRequest, DrawRequest, ExecuteResponse, Piece, Player, carried_out

MOST_BYTES = 1_000_000
"""The largest body of a request."""


def create_app(players: Iterable[AnyPlayer], keys: Sequence[str] = ()) -> FastAPI:
    """The application. With `keys`, requests must carry one of them as a bearer token."""
    by_name = {player.name: player for player in players}
    app = FastAPI(title="Grid-world instruction following", version="1", docs_url=None, redoc_url=None)

    @app.middleware("http")
    async def guard(request: Request, call_next: Any) -> Any:
        if request.url.path != "/health" and keys and not _allowed(request.headers.get("authorization", ""), keys):
            return _refusal(401, "this server needs a key: Authorization: Bearer KEY")
        return await call_next(request)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the server is up."""
        return {"status": "ok"}

    @app.get("/v1/harness/players")
    async def list_players() -> list[Player]:
        """Who can answer."""
        return [player.card for player in by_name.values()]

    @app.post("/v1/harness/execute", openapi_extra=_described(), responses={code: {} for code in (404, 413, 422, 502)})
    async def execute(request: Request) -> ExecuteResponse:
        """Carry out an instruction: who is asked reads it and says what to do; the answer tells the state after that."""
        asked = _read(await _body(request))
        player = by_name.get(asked.model)
        if player is None:
            raise HTTPException(404, f"no player {asked.model[:80]!r}: choose one of {', '.join(by_name)}")
        if asked.task not in player.card.tasks:
            raise HTTPException(422, f"{player.name} does not know the task {asked.task}")
        return await run_in_threadpool(executed, player, asked)

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return _refusal(error.status_code, error.detail)

    return app


def executed(player: AnyPlayer, asked: DrawRequest | BuildRequest) -> ExecuteResponse:
    """Raises HTTPException for what cannot be asked and for a model that does not answer."""
    try:
        item = asked.item
        answer = player.answer(item, asked.samples, asked.constrain)
    except (UsageError, ValueError) as error:
        raise HTTPException(422, str(error)) from None
    except HarnessError as error:
        raise HTTPException(502, str(error)) from None
    return _response(asked, answer, carried_out(item, answer.actions))


def _response(asked: DrawRequest | BuildRequest, answer: Answer, state: Mapping[str, Any]) -> ExecuteResponse:
    notes = answer.notes
    return ExecuteResponse(
        task=asked.task,
        model=asked.model,
        actions=[tuple(action) for action in answer.actions],
        text=notes.get("text"),
        program=notes.get("program"),
        confidence=notes.get("confidence"),
        discarded=[Piece(text=text, reason=reason) for text, reason in notes.get("discarded", ())],
        **state,
    )


async def _body(request: Request) -> bytes:
    """Raises HTTPException for one that is too large, whatever its header says."""
    pieces, size = [], 0
    async for piece in request.stream():
        size += len(piece)
        if size > MOST_BYTES:
            raise HTTPException(413, f"the body has more than {MOST_BYTES:,} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _read(body: bytes) -> DrawRequest | BuildRequest:
    """Raises HTTPException that says where the body is not as it should be."""
    try:
        return REQUEST.validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)[:5]
        told = "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}" for fault in faults)
        raise HTTPException(422, told) from None


def _described() -> dict[str, Any]:
    """The request for the OpenAPI page: pydantic reads the body itself, since it takes JSON's arrays as tuples only then."""
    schema = REQUEST.json_schema()
    # OpenAPI looks references up from the root of its page; a schema in the middle of it must not have any.
    schema.pop("discriminator", None)
    kinds = schema.pop("$defs")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": _resolved(schema, kinds)}}}}


def _resolved(schema: Any, kinds: Mapping[str, Any]) -> Any:
    """The schema with what its references mean in their place; none refers to itself."""
    if isinstance(schema, Mapping):
        if reference := schema.get("$ref"):
            return _resolved(kinds[reference.rpartition("/")[2]], kinds)
        return {key: _resolved(value, kinds) for key, value in schema.items()}
    return [_resolved(value, kinds) for value in schema] if isinstance(schema, list) else schema


def _allowed(header: str, keys: Sequence[str]) -> bool:
    """Compares with every key, in constant time."""
    scheme, _, key = header.partition(" ")
    matches = [hmac.compare_digest(key.encode(), one.encode()) for one in keys]
    return scheme.lower() == "bearer" and any(matches)


def _refusal(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "code": status}}, status)


@contextmanager
def listening(app: FastAPI, host: str, port: int) -> Iterator[Callable[[], bool]]:
    """Serve the application in a thread of its own while the block runs; yields a function that tells whether it still does.

    Raises EngineError if it cannot start.
    """
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(app, host, port, log_level="warning", timeout_graceful_shutdown=10, server_header=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)
    if not server.started:
        raise EngineError(f"the task API cannot listen at {host}:{port}")
    try:
        yield thread.is_alive
    finally:
        server.should_exit = True
        thread.join(15)
