"""The models of a server, and its chat template: its adapters' own, or none if the model's suffices."""

import json
import shlex
from pathlib import Path

import pytest

from adapters.registry import Adapter
from harness.commands.serve import Serve, _show_tasks
from harness.engines.vllm.server import server_options
from harness.errors import UsageError
from harness.service.keys import Keys
from harness.service.serving import served_ends, served_template
from prompts.spec import PromptSpec
from prompts.template import SHIPPED
from tests.helpers.chat_templates import FAMILIES, family_tokenizer
from tests.helpers.tiny import build_tiny_model

FILE = Path("runs") / "serve-8000.jinja"


def adapter(template: str | None = None) -> Adapter:
    return Adapter(Path("adapter"), 4, PromptSpec.make("minecraft", template=template), "base")


def test_the_printed_request_is_of_the_adapters_task(capsys: pytest.CaptureFixture[str]) -> None:
    for task, asked in (("iglu", "Place a red block on the ground."), ("hexagons", "Paint the first column red.")):
        _show_tasks(Serve(), Keys(), task)
        printed = json.loads(shlex.split(capsys.readouterr().out.splitlines()[-1])[-1])
        assert printed == {"task": task, "instruction": asked}


def test_plain_text_gets_its_template_and_is_not_served_with_others(tmp_path: Path) -> None:
    chats, base = (str(build_tiny_model(tmp_path / str(chat), chat=chat)) for chat in (True, False))
    plain, nebula = SHIPPED / "plain.jinja", SHIPPED / "nebula" / "plain.jinja"
    assert served_template(base, {}, FILE) == served_template(base, {"ours": adapter()}, FILE) == (plain, True)
    assert served_template(chats, {"ours": adapter()}, FILE) == (None, False)
    assert served_template(chats, {"theirs": adapter("nebula")}, FILE) == (nebula, True)
    with pytest.raises(UsageError, match="ours, theirs need different chat templates"):
        served_template(chats, {"ours": adapter(), "theirs": adapter("nebula")}, FILE)


def test_a_plain_template_from_elsewhere_is_not_served(tmp_path: Path) -> None:
    base, mine = str(build_tiny_model(tmp_path / "base")), tmp_path / "mine"
    mine.mkdir()
    (mine / "plain.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}{{ 9 ** 99999999 }}")
    with pytest.raises(UsageError, match=r"its plain\.jinja is not one of ours, and vLLM would render it without limits"):
        served_template(base, {"theirs": adapter(str(mine))}, FILE)
    nebula = SHIPPED / "nebula" / "plain.jinja"
    (mine / "plain.jinja").write_bytes(nebula.read_bytes())
    assert served_template(base, {"theirs": adapter(str(mine))}, FILE) == (nebula, True)


def test_a_model_that_thinks_gets_a_template_that_keeps_it_from_thinking(tmp_path: Path) -> None:
    family_tokenizer(tmp_path / "base", "r1 distill").save_pretrained(tmp_path / "base")
    assert served_template(str(tmp_path / "base"), {}, tmp_path / FILE) == (tmp_path / FILE, False)
    served = (tmp_path / FILE).read_text()
    assert served.startswith(FAMILIES["r1 distill"].template)
    assert "</think>" in served.removeprefix(FAMILIES["r1 distill"].template)


def test_a_server_ends_answers_where_the_chat_template_ends_turns(tmp_path: Path) -> None:
    base = build_tiny_model(tmp_path / "base")
    assert served_ends(str(base)) is None
    tokenizer = family_tokenizer(base, "smollm2, qwen 2.5")
    tokenizer.save_pretrained(base)
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert tokenizer.eos_token_id != end
    assert served_ends(str(base)) == sorted([tokenizer.eos_token_id, end])
    line = server_options(str(base), "tiny", [], Path("s"), None, generation_config=tmp_path)
    assert f"--generation-config={tmp_path}" in line
