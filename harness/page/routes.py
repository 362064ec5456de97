"""The page's routes, added to the application of the task API: its files, the corpora and sessions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from pydantic import Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.staticfiles import StaticFiles

from harness.corpora.records import Digits
from harness.errors import HarnessError, UsageError
from harness.page import corpus, procedure
from harness.page.store import KINDS, Kind, Session, StaleError, Store, StoreError
from harness.service.app import MOST_BYTES
from harness.service.guard import Bounds, Guard
from harness.service.keys import ANYONE, Keys, digest
from harness.service.players import AnyPlayer, ranked
from harness.service.schema import BUILDER, Body, faults
from harness.util.hashing import short_hash

STATIC = Path(__file__).parent / "static"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class Begin(Body):
    """A new session of a kind; the fields say which kind needs them."""

    kind: Kind
    name: Name
    image: str | None = Field(None, max_length=40, description="description: the image of the corpus to describe.")
    board: Digits | None = Field(None, description="description: an image that the person drew, instead.")
    about: str = Field("", max_length=64, description="execution: the description to execute.")


class SessionChange(Body):
    """An event in a session."""

    version: int
    """The version of the session that the change was made for."""
    id: str = Field(min_length=8, max_length=64)
    """The change's own."""
    event: procedure.Event = Field(discriminator="type")


class PageToken(Keys):
    """The token of `harness app`, which keeps out other users of the machine: in the printed address, then in a cookie; programs
    send it as a key."""

    refusal = 403, "this page belongs to another user, or its cookie is gone: open the address that harness app printed"

    def __init__(self, token: str) -> None:
        super().__init__({digest(token): ANYONE})

    def principal(self, scope: Mapping[str, Any]) -> str | None:
        asked = HTTPConnection(dict(scope))
        given = asked.cookies.get(self.cookie(scope), ""), asked.query_params.get("token", "")
        return super().principal(scope) or self.owner(given[0]) or self.owner(given[1])

    @staticmethod
    def cookie(scope: Mapping[str, Any]) -> str:
        """The cookie's name: browsers send a cookie to all ports of this machine."""
        return f"harness-{scope['server'][1]}"


def add_page(app: FastAPI, players: Sequence[AnyPlayer], folder: Path, notes: Sequence[str] = ()) -> Store:
    """Add the page to an application, which only the store's token then opens; sessions are kept in `folder`. `notes` tell which
    players are missing.

    Raises StoreError if the folder cannot be used.
    """
    store = Store(folder / "sessions.sqlite")
    _add_corpora(app, players, notes)
    _add_sessions(app, store)
    app.add_exception_handler(HarnessError, _told)
    app.add_exception_handler(ValidationError, _told)

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        response = FileResponse(STATIC / "index.html")
        response.set_cookie(PageToken.cookie(request.scope), store.token, httponly=True, samesite="strict")
        return response

    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(Guard, keys=PageToken(store.token), bounds=Bounds(body=MOST_BYTES))
    return store


async def _told(request: Request, error: Exception) -> JSONResponse:
    """An error as JSON: a message that a user can act on, never a traceback."""
    message = faults(error) if isinstance(error, ValidationError) else str(error)
    more = {"session": asdict(error.session)} if isinstance(error, StaleError) else {}
    status = 409 if more else 507 if isinstance(error, StoreError) else 422
    return JSONResponse({"error": {"message": message, "code": status}, **more}, status)


def _add_corpora(app: FastAPI, players: Sequence[AnyPlayer], notes: Sequence[str]) -> None:
    @app.get("/page/start")
    def start() -> dict[str, Any]:
        """Everything that the page needs when it opens."""
        return {
            "players": [player.card.model_dump() for player in ranked(players)],
            "notes": list(notes),
            "sources": corpus.sources(),
            "pose": BUILDER.model_dump(),
        }

    reads: Mapping[str, Callable[..., Any]] = {
        "images": corpus.images,
        "procedures/{index}": corpus.procedure,
        "games": corpus.games,
        "games/{name}": corpus.game,
        "targets": corpus.targets,
    }
    for path, read in reads.items():
        app.add_api_route(f"/page/{path}", read)

    @app.post("/page/score")
    async def score(request: Request) -> float | None:
        """How well what was built in a game fits its target."""
        return corpus.Built.model_validate_json(await request.body()).score()


def _add_sessions(app: FastAPI, store: Store) -> None:
    @app.get("/page/sessions")
    def sessions() -> dict[str, Any]:
        """The sessions of each kind, without their boards."""
        return {kind: [_line(store, one) for one in store.list(kind)] for kind in KINDS}

    @app.post("/page/sessions")
    async def begin(request: Request) -> dict[str, Any]:
        body = Begin.model_validate_json(await request.body())
        return asdict(await run_in_threadpool(_begun, store, body))

    @app.get("/page/sessions/{session_id}")
    def session(session_id: str) -> dict[str, Any]:
        return _whole(store, store.get(session_id))

    @app.post("/page/sessions/{session_id}")
    async def change(session_id: str, request: Request) -> dict[str, Any]:
        body = SessionChange.model_validate_json(await request.body())
        make = partial(procedure.happened, event=body.event)
        return _whole(store, await run_in_threadpool(store.change, session_id, body.version, body.id, make))


def _line(store: Store, session: Session) -> dict[str, Any]:
    """A session in a list: without its boards."""
    state = session.state
    line = {key: value for key, value in asdict(session).items() if key not in ("state", "change")}
    line["steps"] = len(state["steps"])
    if session.kind == "description":
        line |= {"image": state["image"]["id"], "verifiers": [one.name for one in _verifications(store, session)]}
    return line


def _whole(store: Store, session: Session) -> dict[str, Any]:
    """A session and, if it is finished, how well its boards agree with others."""
    whole = asdict(session)
    if session.kind == "execution" and session.finished:
        gold = store.get(session.about).state
        whole |= {"gold": gold, "scores": procedure.scores(gold, session.state)}
    if session.kind == "description" and session.finished:
        whole["executions"] = [
            {"name": one.name, "scores": procedure.scores(session.state, one.state)} for one in _verifications(store, session)
        ]
    return whole


def _verifications(store: Store, described: Session) -> list[Session]:
    """The finished executions of a description: the first one of each other person."""
    by_person: dict[int, Session] = {}
    for one in store.list("execution", described.id):
        if one.finished and one.person != described.person:
            by_person.setdefault(one.person, one)
    return list(by_person.values())


def _begun(store: Store, body: Begin) -> Session:
    """A new session. Raises UsageError for one that cannot begin."""
    name = body.name.strip()
    if body.kind == "description":
        if body.board is not None:
            if not body.board.strip("0"):
                raise UsageError("draw an image first: the board is blank")
            drawn = {"id": f"own-{short_hash([body.board.encode()])[:6]}", "board": body.board}
            return store.begin("description", name, procedure.description(drawn))
        return store.begin("description", name, procedure.description(corpus.image(body.image or "")))
    described = store.get(body.about)
    if described.kind != "description" or not described.finished:
        raise UsageError("only a finished description can be executed")
    if described.name == name:
        raise UsageError("whoever described an image cannot verify it: a Verifier must not know the image")
    return store.begin("execution", name, procedure.execution(described.state), described.id)
