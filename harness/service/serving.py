"""What `harness serve` tells vLLM: a base, its adapters, the chat template, and the tokens that end an answer."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from adapters.registry import Adapter
from harness.engines.models.bases import display_name, load_tokenizer
from harness.engines.vllm.options import serve_options
from harness.engines.vllm.server import ServedAdapter, Server, server_options
from harness.errors import UsageError
from harness.util.files import write_atomically
from prompts.template import DEFAULT, Template, get_template


class ServedModel:
    """A base and its adapters by name, as vLLM serves them with `words`, further options of `vllm serve`. vLLM's socket is in
    `folder`, which no other user may enter, because vLLM guards only some of its paths with a key."""

    def __init__(self, base: str, adapters: Mapping[str, Adapter], words: Sequence[str], folder: Path, log: Path) -> None:
        self.socket, self.log = folder / "vllm.sock", log
        given = serve_options(words)
        template, plain = served_template(base, adapters, log.with_suffix(".jinja"))
        ends = None if plain else served_ends(base)
        if ends:
            write_atomically(folder / "generation_config.json", json.dumps({"eos_token_id": ends}) + "\n")
        served = [ServedAdapter(name, one.path, one.rank) for name, one in adapters.items()]
        config = folder if ends else None
        self._options = [*server_options(base, display_name(base), served, self.socket, template, given, config), *words]

    def server(self, again: bool) -> Server:
        """vLLM, to be entered; `again` says that one was running before."""
        return Server(self._options, self.socket, self.log, again)


def served_template(model: str, adapters: Mapping[str, Adapter], file: Path) -> tuple[Path | None, bool]:
    """The chat template to serve with, and whether it is one of plain text.

    Models without a template and adapters that were trained on plain text get one of plain text; None stands for the model's
    own. If the harness changes the model's own, the result is written to `file`. Raises UsageError if adapters need different
    templates, or one of plain text that is not ours, EngineError for a template of the model's own that leaves out a message.
    """
    from prompts.render import answering_template, check_chat_template, own_template

    if thinkers := [name for name, one in adapters.items() if one.spec.thinks]:
        raise UsageError(f"--adapter {thinkers[0]}: it was trained with thoughts, and is asked with harness prompt, not served")
    tokenizer = load_tokenizer(model)
    own, chats = own_template(tokenizer), bool(tokenizer.chat_template)

    def wanted(wording: Template) -> Path | None:
        return None if chats and not wording.is_plain else wording.served

    plain = {name: wanted(one.spec.template) for name, one in adapters.items()} or {model: wanted(get_template(DEFAULT))}
    if len({path and path.read_text() for path in plain.values()}) > 1:
        raise UsageError(f"the adapters {', '.join(plain)} need different chat templates: serve them one by one")
    if (path := next(iter(plain.values()))) or not own:
        return path, path is not None
    check_chat_template(tokenizer)
    changed = answering_template(tokenizer)
    if changed is None or changed == own:
        return None, False
    write_atomically(file, changed)
    return file, False


def served_ends(model: str) -> list[int] | None:
    """All tokens that end an answer, if the chat template ends turns with one that neither the tokenizer nor the model's
    generation_config.json names; None otherwise."""
    from transformers import GenerationConfig

    from prompts.render import stop_token_ids

    tokenizer = load_tokenizer(model)
    try:
        named = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:
        named = None
    known = {*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id} - {None}
    ends = {*stop_token_ids(tokenizer)} - known
    return sorted(known | ends) if ends else None
