"""Which chat template a server gets: the text that its adapters were trained on, or none where the model's own will do."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.registry import Adapter
from harness.commands.serve import _template_for
from harness.errors import UsageError
from prompts.spec import PromptSpec
from prompts.template import SHIPPED
from tests.helpers.chat_templates import FAMILIES, family_tokenizer
from tests.helpers.tiny import build_tiny_model

FILE = Path("runs") / "serve-8000.jinja"


def adapter(template: str | None = None) -> Adapter:
    return Adapter(Path("adapter"), 4, PromptSpec.make("minecraft", template=template), "base")


def test_a_model_without_a_template_gets_the_plain_one(tmp_path: Path) -> None:
    base = str(build_tiny_model(tmp_path / "base", chat=False))
    assert _template_for(base, {}, FILE) == _template_for(base, {"ours": adapter()}, FILE) == SHIPPED / "plain.jinja"


def test_adapters_of_plain_text_get_theirs_and_are_not_served_with_others(tmp_path: Path) -> None:
    base = str(build_tiny_model(tmp_path / "base"))
    assert _template_for(base, {"ours": adapter()}, FILE) is None
    assert _template_for(base, {"theirs": adapter("nebula")}, FILE) == SHIPPED / "nebula" / "plain.jinja"
    with pytest.raises(UsageError, match="ours, theirs need different chat templates"):
        _template_for(base, {"ours": adapter(), "theirs": adapter("nebula")}, FILE)


def test_a_model_that_thinks_gets_a_template_that_keeps_it_from_thinking(tmp_path: Path) -> None:
    family_tokenizer(tmp_path / "base", "r1 distill").save_pretrained(tmp_path / "base")
    assert _template_for(str(tmp_path / "base"), {}, tmp_path / FILE) == tmp_path / FILE
    served = (tmp_path / FILE).read_text()
    assert served.startswith(FAMILIES["r1 distill"].template)
    assert "</think>" in served.removeprefix(FAMILIES["r1 distill"].template)
