"""Chat templates of every family: a prompt ends where the answer begins, and training uses the same text as prompting."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.corpora.item import Item
from harness.errors import EngineError, UsageError
from prompts.messages import conversation, gold_answer
from prompts.probe import PROBES
from prompts.render import CHAT_TEMPLATE, DATE, Renderer, answering, answering_template, save_chat_template, thinking
from prompts.spec import PromptSpec
from serialization.formats.thoughts import MARKS
from tests.helpers import cases
from tests.helpers.chat_templates import FAMILIES, family_tokenizer

CASES = cases(__file__)

ITEM = PROBES["hexagons"][0]
SHOTS = [PROBES["hexagons"][1]]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("models") / "tiny"
    return {name: family_tokenizer(folder, name) for name in FAMILIES}


@pytest.mark.parametrize("shots", [[], SHOTS])
@pytest.mark.parametrize("context", ["full-history", "conversation"])
@pytest.mark.parametrize("name", FAMILIES)
def test_training_has_the_text_of_prompting_and_the_answer_after_it(
    tokenizers: dict[str, Any], name: str, context: str, shots: list[Item]
) -> None:
    family, spec = FAMILIES[name], PromptSpec.make("hexagons", context)
    renderer = Renderer(spec, tokenizers[name], 100_000, 1)
    prompt, answer = renderer.training_text(ITEM, shots)
    assert prompt == renderer.render(ITEM, shots).text
    assert prompt.endswith(family.opened)
    if name != "smollm 3":  # SmolLM 3 writes an empty thought into every turn.
        assert prompt.count("<think>") == family.opened.count("<think>")
    assert answer == family.blank + gold_answer(ITEM, spec) + family.end
    row = renderer.training_row(ITEM, shots)
    assert row.prompt_ids == renderer.render(ITEM, shots).token_ids
    eos = tokenizers[name].eos_token_id
    other = () if family.end == "</s>" else (row.completion_ids[-1],)
    assert renderer.stop_token_ids == other, "what ends a row ends an answer, whatever EOS is"
    assert {eos, *other}.isdisjoint(row.completion_ids[:-1])


@pytest.mark.parametrize("mark", MARKS)
def test_a_thought_that_a_prompt_opens_is_closed(tokenizers: dict[str, Any], mark: str) -> None:
    tokenizer = copy.deepcopy(tokenizers["qwen 3"])
    turns = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    tokenizer.chat_template = turns + "{% if add_generation_prompt %}<|im_start|>assistant\n" + mark + "{% endif %}"
    text = Renderer(PromptSpec.make("hexagons"), tokenizer, 100_000, 1).render(ITEM).text
    assert text.endswith(f"<|im_start|>assistant\n{mark}\n\n{MARKS[mark]}\n\n")


@pytest.mark.parametrize(("name", "think"), [("qwen 3", "on"), ("qwen 3 thinking", "on"), ("gpt-oss", "low")])
def test_a_thought_is_trained_where_the_template_itself_writes_it(tokenizers: dict[str, Any], name: str, think: str) -> None:
    spec = PromptSpec.make("hexagons", "conversation", think=think)
    renderer, tokenizer = Renderer(spec, tokenizers[name], 100_000, 1), tokenizers[name]
    item = replace(ITEM, meta={"thought": "\n Red first.\n"})
    row = renderer.training_row(item, SHOTS)
    assert row.prompt_ids == renderer.render(item, SHOTS).token_ids, "prompting and training agree"
    last: Any = {"role": "assistant", "content": gold_answer(item, spec)}
    last |= {"reasoning_content": "Red first.", "thinking": "Red first."}
    asked = conversation(item, spec, SHOTS)
    switches = {"enable_thinking": True, "reasoning_effort": think, "strftime_now": DATE.strftime}
    whole = tokenizer.apply_chat_template([*asked, last], tokenize=False, **switches)
    if name != "qwen 3 thinking":  # This one's template writes the mark for the prompt alone.
        assert whole.startswith(tokenizer.decode(row.token_ids, skip_special_tokens=False))
    assert tokenizer.decode(row.completion_ids).startswith("Red first.")


def test_a_template_that_knows_no_thinking_or_no_effort_is_refused(tokenizers: dict[str, Any]) -> None:
    for name, think, flag in (("gemma", "on", "--think on"), ("qwen 3", "low", "--reasoning-effort low")):
        with pytest.raises(UsageError, match=f"{flag}: the model's chat template .*: leave the flag out"):
            Renderer(PromptSpec.make("hexagons", think=think), tokenizers[name], 100_000, 1).render(ITEM)


def test_a_template_that_was_saved_to_think_is_not_changed_again(tokenizers: dict[str, Any]) -> None:
    for name, think in (("qwen 3", "on"), ("smollm 3", "on"), ("gpt-oss", "high")):
        saved = answering(tokenizers[name], think)
        assert thinking(saved, think) == thinking(tokenizers[name], think)
        assert answering_template(tokenizers[name]) != saved.chat_template


def with_template(tokenizers: dict[str, Any], template: str) -> Any:
    tokenizer = copy.deepcopy(tokenizers["smollm2, qwen 2.5"])
    tokenizer.chat_template = template
    return tokenizer


def written(turn: str) -> str:
    """A chat template that writes a turn `m` so."""
    start, opening = "<|im_start|>{{ m.role }}\n", "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    return "{% for m in messages %}" + f"{start}{turn}<|im_end|>\n" + "{% endfor %}" + opening


PARTS = "{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}"


def test_a_template_that_reads_content_as_parts_gets_parts(tokenizers: dict[str, Any]) -> None:
    spec = PromptSpec.make("hexagons", "conversation")
    texts, parts = (Renderer(spec, with_template(tokenizers, written(turn)), 100_000, 1) for turn in ("{{ m.content }}", PARTS))
    assert parts.render(ITEM, SHOTS).text == texts.render(ITEM, SHOTS).text
    assert parts.training_text(ITEM, SHOTS) == texts.training_text(ITEM, SHOTS)
    assert parts.stop_token_ids == texts.stop_token_ids


@pytest.mark.parametrize(("turn", "whose"), CASES["changed"])
def test_a_template_that_leaves_out_or_changes_a_text_is_refused(tokenizers: dict[str, Any], turn: str, whose: str) -> None:
    renderer = Renderer(PromptSpec.make("hexagons", "conversation"), with_template(tokenizers, written(turn)), 100_000, 1)
    for make in (renderer.render, renderer.training_row):
        with pytest.raises(EngineError, match=f"leaves out or changes the text of {whose}"):
            make(ITEM, SHOTS)


@pytest.mark.parametrize("open_thought", ["", "<think>\n"])
def test_a_template_that_refuses_a_chat_without_system(tokenizers: dict[str, Any], open_thought: str) -> None:
    refusing = "{% if messages[0].role != 'system' %}{{ raise_exception('no system') }}{% endif %}"
    template = refusing + written("{{ m.content }}").replace("assistant\n", f"assistant\n{open_thought}")
    renderer = Renderer(PromptSpec.make("hexagons"), with_template(tokenizers, template), 100_000, 1)
    closed = "<think>\n\n</think>\n\n" if open_thought else ""
    assert renderer.render(ITEM).text.endswith(f"<|im_start|>assistant\n{closed}")
    assert len(renderer.stop_token_ids) == 1


@pytest.mark.parametrize("name", FAMILIES)
def test_a_saved_template_writes_the_same_prompt_and_is_not_changed_again(
    tokenizers: dict[str, Any], name: str, tmp_path: Path
) -> None:
    tokenizer, spec = tokenizers[name], PromptSpec.make("hexagons", "conversation")
    saved = answering(tokenizer)
    assert tokenizer.chat_template == FAMILIES[name].template
    assert answering_template(saved) == saved.chat_template
    asked, again = (Renderer(spec, one, 100_000, 1).training_text(ITEM) for one in (tokenizer, saved))
    assert asked == again
    save_chat_template(tokenizer, tmp_path)
    file = tmp_path / CHAT_TEMPLATE
    assert file.is_file() == (saved.chat_template != tokenizer.chat_template)
    assert not file.is_file() or file.read_text() == saved.chat_template
