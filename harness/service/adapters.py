"""The adapters of a running server, loaded and unloaded by name; vLLM gets a new name at each load.

vLLM caches prefixes by an adapter's name: an adapter that is loaded again under the same name would answer from the old cache.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field, TypeAdapter
from starlette.concurrency import run_in_threadpool

from adapters.registry import CONFIG_FILE, SHIPPED, WEIGHTS_FILE, Adapter, load_adapter
from harness.engines.vllm.engine import check_served
from harness.engines.vllm.server import VLLM_URL, ServedAdapter, socket_client
from harness.errors import HarnessError, UsageError
from harness.runs.folder import RUNS
from harness.service.app import FAULTS, described, read
from harness.service.players import AnyPlayer, EndpointPlayer
from harness.service.schema import Body
from harness.util.files import write_atomically
from prompts.spec import DEFAULTS, PromptSpec
from prompts.template import Template

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""The names that a request may give an adapter; none of them is a path."""
PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".npy", ".npz", ".joblib")
"""Endings of files that are or may hold pickles, which can run code when they are read."""
LOADING = 300.0


@dataclass(frozen=True, slots=True)
class LoadedAdapter:
    """An adapter as it is served."""

    name: str
    version: int
    served: str
    """vLLM's name for it."""
    adapter: Adapter


@dataclass(frozen=True, slots=True)
class Backend:
    """The model that adapters must fit, and the vLLM that loads them."""

    base: str
    """The base model: a local folder or a hub name."""
    name: str
    """The name under which it is served."""
    socket: Path
    """Where vLLM listens."""
    rank: int
    """The highest LoRA rank that the server takes."""
    plain: Path | None
    """The server's chat template of plain text; None if it uses the model's own."""
    chats: bool
    """Whether the model has a chat template."""
    up: Callable[[], bool]


class Adapters:
    """The loaded adapters. `players` is updated with them; `folder` holds adapters in addition to the shipped and the runs' ones.

    `fixed` says why nothing more is loaded or unloaded; None if adapters may be.
    """

    def __init__(
        self,
        backend: Backend,
        adapters: Mapping[str, Adapter],
        players: MutableMapping[str, AnyPlayer],
        folder: Path | None = None,
        fixed: str | None = None,
    ) -> None:
        self._backend, self._players, self._folder, self._fixed = backend, players, folder, fixed
        self._given = {name: adapter.path for name, adapter in adapters.items()}
        self._versions = dict.fromkeys(adapters, 1)
        self._lock = threading.Lock()
        self.loaded = {name: LoadedAdapter(name, 1, name, adapter) for name, adapter in adapters.items()}
        for one in self.loaded.values():
            self._play(one)
        # The base itself is asked in the default prompt format of each task.
        specs = {task: PromptSpec.make(task) for task in DEFAULTS}
        players[backend.name] = _behind(backend, backend.name, backend.name, specs)

    def served(self, model: str) -> str:
        """vLLM's name for a model: NAME stands for the adapter's newest version, NAME@VERSION for that version if it is loaded.
        Other names stay as they are."""
        name, at, version = model.partition("@")
        one = self.loaded.get(name)
        if one is None or (at and version != str(one.version)):
            return model
        return one.served

    def listed(self, models: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """vLLM's list of models with our names, and with versions in place of folders."""
        base = self._backend.name
        names = {base: (base, base)} | {one.served: (one.name, f"{one.name}@{one.version}") for one in self.loaded.values()}
        known = [(model, *names[model["id"]]) for model in models if model["id"] in names]
        return [{**model, "id": name, "root": version} for model, name, version in known]

    def modules(self) -> list[ServedAdapter]:
        """The adapters that a restarted server begins with."""
        return [ServedAdapter(one.served, one.adapter.path, one.adapter.rank) for one in self.loaded.values()]

    def available(self) -> list[str]:
        """The names of all adapters that are found; whether one fits is checked when it is loaded."""
        found = dict.fromkeys(self._given)
        for root, below in self._roots():
            for path in sorted(root.glob(f"*/{below}{CONFIG_FILE}")):
                found.setdefault(path.relative_to(root).parts[0])
        return [name for name in found if NAME.fullmatch(name)]

    def load(self, name: str) -> LoadedAdapter:
        """Load an adapter, as a new version if it is already loaded. Raises HTTPException if it cannot be loaded."""
        with self._lock:
            self._check(name)
            adapter = self._read(name)
            version = self._versions.get(name, 0) + 1
            one = LoadedAdapter(name, version, f"{name}@{version}", adapter)
            self._tell("load_lora_adapter", {"lora_name": one.served, "lora_path": str(adapter.path.resolve())}, name)
            self._versions[name] = version
            old = self.loaded.get(name)
            self.loaded[name] = one
            self._play(one)
            if old:
                # vLLM still finishes the requests that the old version is answering.
                self._tell("unload_lora_adapter", {"lora_name": old.served}, name)
            return one

    def unload(self, name: str) -> None:
        """Unload an adapter. Raises HTTPException if it is not loaded or cannot be unloaded."""
        with self._lock:
            self._check(name)
            one = self.loaded.get(name)
            if one is None:
                raise HTTPException(404, f"no adapter {name!r} is loaded")
            self._tell("unload_lora_adapter", {"lora_name": one.served}, name)
            del self.loaded[name]
            self._players.pop(name, None)

    def _play(self, one: LoadedAdapter) -> None:
        spec, examples = one.adapter.spec, one.adapter.trained_with.examples
        self._players[one.name] = _behind(self._backend, one.name, one.served, {spec.task: spec}, examples=examples)

    def _check(self, name: str) -> None:
        if self._fixed:
            raise HTTPException(409, self._fixed)
        if not NAME.fullmatch(name) or ".." in name:
            raise HTTPException(422, "an adapter's name has letters, digits, periods, hyphens and underscores, and is not a path")
        if name == self._backend.name:
            raise HTTPException(409, f"{name} is the base")
        if not self._backend.up():
            raise HTTPException(503, "vLLM is not running")

    def _roots(self) -> list[tuple[Path, str]]:
        """The folders where adapters are looked for, in order, each with the path from an adapter's name to its files."""
        own = [(self._folder, ""), (self._folder, "adapter/")] if self._folder else []
        return [*own, (SHIPPED, ""), (RUNS, "adapter/")]

    def _read(self, name: str) -> Adapter:
        """The adapter of this name. Raises HTTPException if there is none, or if it may not be loaded or does not fit."""
        places = [(self._given[name], self._given[name].parent)] if name in self._given else []
        places += [(root / name / below, root) for root, below in self._roots()]
        folder, root = next(((folder, root) for folder, root in places if (folder / CONFIG_FILE).is_file()), (None, None))
        if folder is None or root is None:
            raise HTTPException(404, f"no adapter {name!r}: GET /v1/harness/adapters lists them")
        check_files(folder, root)
        try:
            check_served(folder)
            adapter = load_adapter(folder.resolve(), self._backend.base)
            plain = plain_template(self._backend.chats, adapter.spec.wording)
        except HarnessError as error:
            raise HTTPException(422, str(error).replace(str(folder.resolve()), name).replace(str(folder), name)) from None
        if adapter.rank > self._backend.rank:
            raise HTTPException(
                422, f"{name} has rank {adapter.rank}, and the server takes at most {self._backend.rank} (-- --max-lora-rank)"
            )
        if plain != self._backend.plain:
            raise HTTPException(422, f"{name} needs a chat template that this server does not have: serve it on its own")
        return adapter

    def _tell(self, what: str, body: Mapping[str, str], name: str) -> None:
        """Send vLLM a command. Raises HTTPException if vLLM does not carry it out."""
        import httpx2

        try:
            with socket_client(self._backend.socket, LOADING) as client:
                response = client.post(f"/v1/{what}", json=dict(body))
        except httpx2.HTTPError as error:
            raise HTTPException(503, f"vLLM does not answer: {error or type(error).__name__}") from None
        if response.status_code != 200:
            verb = what.partition("_")[0]
            raise HTTPException(502, f"vLLM cannot {verb} {name} (status {response.status_code}): its log says why")


def _behind(backend: Backend, name: str, served: str, specs: Mapping[str, PromptSpec], **known: Any) -> EndpointPlayer:
    """A player for a model of our vLLM."""
    return EndpointPlayer(name, f"{VLLM_URL}/v1", served, specs, socket=backend.socket, up=backend.up, **known)


def check_files(folder: Path, root: Path) -> None:
    """Raises HTTPException for a folder outside `root`, and for one that holds a link out of `root` or a pickle."""
    inside = root.resolve()
    if not folder.resolve().is_relative_to(inside):
        raise HTTPException(422, "the adapter's folder is a link to another place")
    for path in folder.rglob("*"):
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            raise HTTPException(422, f"{path.name} of the adapter is a link to another place")
        if path.suffix.lower() in PICKLES:
            raise HTTPException(422, f"{path.name} of the adapter may hold code: adapters are {WEIGHTS_FILE} files")


def plain_template(chats: bool, wording: Template) -> Path | None:
    """The chat template of plain text that prompts in this wording need; None if they need the model's own. Raises UsageError for
    one that is not ours."""
    return None if chats and not wording.is_plain else wording.served


def served_template(model: str, adapters: Mapping[str, Adapter], file: Path) -> tuple[Path | None, Path | None, bool]:
    """The chat template to serve with, the same again if it is one of plain text, and whether the model has its own.

    Models without a template and adapters that were trained on plain text get one of plain text; None stands for the model's
    own. If the harness changes the model's own, the result is written to `file`. Raises UsageError if adapters need different
    templates, EngineError for a template of the model's own that leaves out a message.
    """
    from harness.engines.models.bases import load_tokenizer
    from prompts.chat_template import answering_template, check_chat_template, own_template
    from prompts.template import DEFAULT, get_template

    tokenizer = load_tokenizer(model)
    own, chats = own_template(tokenizer), bool(tokenizer.chat_template)
    wordings = {name: adapter.spec.wording for name, adapter in adapters.items()} or {model: get_template(DEFAULT)}
    wanted = {name: plain_template(chats, wording) for name, wording in wordings.items()}
    texts = {path and path.read_text() for path in wanted.values()}
    if len(texts) > 1:
        raise UsageError(f"the adapters {', '.join(wanted)} need different chat templates: serve them one by one")
    if (path := next(iter(wanted.values()))) or not own:
        return path, path, chats
    check_chat_template(tokenizer)
    changed = answering_template(tokenizer)
    if changed is None or changed == own:
        return None, None, chats
    write_atomically(file, changed)
    return file, None, chats


def served_ends(model: str) -> list[int] | None:
    """All tokens that end an answer, if the chat template ends turns with one that neither the tokenizer nor the model's
    generation_config.json names; None otherwise."""
    from transformers import GenerationConfig

    from harness.engines.models.bases import load_tokenizer
    from prompts.chat_template import stop_token_ids

    tokenizer = load_tokenizer(model)
    try:
        named = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:
        named = None
    known = {*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id} - {None}
    ends = {*stop_token_ids(tokenizer)} - known
    return sorted(known | ends) if ends else None


class AdapterCard(BaseModel):
    """An adapter that is loaded."""

    name: str
    version: int = Field(ge=1)
    task: str
    rank: int


class AdapterList(BaseModel):
    """The adapters that are loaded, and the names of those that can be."""

    loaded: list[AdapterCard]
    available: list[str]


class AdapterRequest(Body):
    """Which adapter to load."""

    name: str = Field(max_length=100, description="The name of an available adapter; one that is loaded is loaded again.")


def adapter_routes(adapters: Adapters) -> APIRouter:
    """Routes that list adapters for everyone, and load and unload them with an admin's key."""
    router = APIRouter(prefix="/v1/harness/adapters")
    faults: dict[int | str, dict[str, Any]] = {
        **FAULTS,
        403: {"description": "Not an admin's key"},
        409: {"description": "This server cannot load or unload it"},
    }

    @router.get("", responses={401: FAULTS[401]})
    def list_adapters() -> AdapterList:
        """The adapters that are loaded, and the names of those that can be."""
        return AdapterList(loaded=[_card(one) for one in adapters.loaded.values()], available=adapters.available())

    @router.post("", responses=faults, openapi_extra=described(AdapterRequest.model_json_schema()))
    async def load(request: Request) -> AdapterCard:
        """Load an adapter by its name. Needs an admin's key."""
        _need_admin(request)
        asked = await read(request, TypeAdapter(AdapterRequest))
        return _card(await run_in_threadpool(adapters.load, asked.name))

    @router.delete("/{name}", responses=faults, status_code=204)
    async def unload(name: str, request: Request) -> None:
        """Unload an adapter by its name. Needs an admin's key."""
        _need_admin(request)
        await run_in_threadpool(adapters.unload, name)

    return router


def _card(one: LoadedAdapter) -> AdapterCard:
    return AdapterCard(name=one.name, version=one.version, task=one.adapter.spec.task, rank=one.adapter.rank)


def _need_admin(request: Request) -> None:
    if not request.scope["principal"].admin:
        raise HTTPException(403, "this needs an admin's key; a server without keys allows it to programs on its own machine")


def ranks(adapters: Mapping[str, Adapter], folders: Sequence[Path]) -> int:
    """The highest LoRA rank among `adapters` and the readable ones in `folders`; at least 16, which our recipes train."""
    from harness.engines.shared import adapter_rank

    found = [16, *(adapter.rank for adapter in adapters.values())]
    for folder in folders:
        try:
            found.append(adapter_rank(folder))
        except HarnessError:
            continue
    return max(found)
