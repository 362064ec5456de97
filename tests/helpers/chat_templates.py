"""Our own chat templates, each with the peculiarities of a family of models."""

from pathlib import Path
from typing import Any, NamedTuple

from tests.helpers.tiny import build_tiny_model

_TURNS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_QWEN = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nYou help.<|im_end|>\n{% endif %}"
    "{% set last = namespace(user=0) %}"
    "{% for m in messages %}{% if m.role == 'user' %}{% set last.user = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}"
    "{% set said = m.content.split('</think>')[-1].lstrip('\n') %}"
    "{% if loop.index0 > last.user %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ said }}"
    "{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n%OPEN%{% endif %}"
)
_R1 = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ m.content }}"
    "{% elif m.role == 'user' %}<|User|>{{ m.content }}"
    "{% else %}<|Assistant|>{{ m.content.split('</think>')[-1] }}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}"
)
_HARMONY = (
    "{% macro opening() %}Today is {{ strftime_now('%Y-%m-%d') }}.{% endmacro %}"
    "{% set effort = reasoning_effort if reasoning_effort is defined else 'medium' %}"
    "<|start|>system<|message|>{{ opening() }} Reasoning: {{ effort }}. Channels: analysis, final.<|end|>"
    "{% for m in messages %}"
    "{% if m.role == 'system' %}<|start|>developer<|message|># Instructions\n\n{{ m.content }}<|end|>"
    "{% elif m.role == 'user' %}<|start|>user<|message|>{{ m.content }}<|end|>"
    "{% else %}"
    "{% if m.thinking and loop.last %}<|start|>assistant<|channel|>analysis<|message|>{{ m.thinking }}<|end|>{% endif %}"
    "<|start|>assistant<|channel|>final<|message|>{{ m.content }}"
    "{% if loop.last and not add_generation_prompt %}<|return|>{% else %}<|end|>{% endif %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
_GEMMA = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no such role: system') }}{% endif %}"
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('take turns') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}\n"
)
_LLAMA = (
    "{{ bos_token }}{% if not date_string is defined %}"
    '{% set date_string = strftime_now("%d %b %Y") if strftime_now is defined else "1 Jan 2020" %}{% endif %}'
    "<|header|>system<|/header|>\n\nToday: {{ date_string }}\n\n"
    "{% if messages[0].role == 'system' %}{{ messages[0].content | trim }}{% set messages = messages[1:] %}{% endif %}<|eot|>"
    "{% for m in messages %}<|header|>{{ m.role }}<|/header|>\n\n{{ m.content | trim }}<|eot|>{% endfor %}"
    "{% if add_generation_prompt %}<|header|>assistant<|/header|>\n\n{% endif %}"
)
_SMOLLM3 = (
    "{% if enable_thinking is not defined %}{% set enable_thinking = true %}{% endif %}"
    "<|im_start|>system\nDate: {{ strftime_now('%d %B %Y') }}\nMode: {{ '/think' if enable_thinking else '/no_think' }}\n"
    "{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}<|im_end|>\n"
    "{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and not enable_thinking %}<think>\n\n</think>\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% if not enable_thinking %}<think>\n\n</think>\n{% endif %}{% endif %}"
)
_MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
    "{% elif m.role == 'assistant' %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)
_SWITCH = "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"


class Family(NamedTuple):
    """A template and the harness's use of it."""

    template: str
    opened: str
    """The end of a prompt."""
    end: str
    """The model's text after an answer."""
    dated: bool = False
    blank: str = ""
    """The model's text before an answer."""
    special: tuple[str, ...] = ("<|im_start|>", "<|im_end|>")


FAMILIES = {
    "smollm2, qwen 2.5": Family(_TURNS, "<|im_start|>assistant\n", "<|im_end|>"),
    "qwen 3": Family(_QWEN.replace("%OPEN%", _SWITCH), "<|im_start|>assistant\n<think>\n\n</think>\n\n", "<|im_end|>"),
    "qwen 3 without a switch": Family(_QWEN.replace("%OPEN%", ""), "assistant\n<think>\n\n</think>\n\n", "<|im_end|>"),
    "qwen 3 thinking": Family(_QWEN.replace("%OPEN%", "<think>\n"), "assistant\n<think>\n\n</think>\n\n", "<|im_end|>"),
    "r1 distill": Family(_R1, "<|Assistant|><think>\n\n</think>\n\n", "</s>", special=("<|User|>", "<|Assistant|>")),
    "gpt-oss": Family(
        _HARMONY,
        "<|start|>assistant<|channel|>final<|message|>",
        "<|return|>",
        dated=True,
        special=("<|start|>", "<|message|>", "<|channel|>", "<|end|>", "<|return|>"),
    ),
    "gemma": Family(_GEMMA, "<start_of_turn>model\n", "<end_of_turn>", special=("<start_of_turn>", "<end_of_turn>")),
    "llama 3": Family(
        _LLAMA, "<|header|>assistant<|/header|>\n\n", "<|eot|>", dated=True, special=("<|header|>", "<|/header|>", "<|eot|>")
    ),
    "smollm 3": Family(_SMOLLM3, "<|im_start|>assistant\n<think>\n\n</think>\n", "<|im_end|>", dated=True),
    "mistral": Family(_MISTRAL, " [/INST]", "</s>", blank=" ", special=("[INST]", "[/INST]")),
}


def family_tokenizer(folder: Path, name: str) -> Any:
    """A small tokenizer with the special tokens and the template of a family."""
    from tokenizers import AddedToken
    from transformers import AutoTokenizer

    if not folder.is_dir():
        build_tiny_model(folder, chat=False)
    family, tokenizer = FAMILIES[name], AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([AddedToken(token, special=True, normalized=False) for token in family.special])
    tokenizer.chat_template = family.template
    return tokenizer


def build_thinking_model(folder: Path, name: str = "qwen 3", **more: Any) -> Path:
    """`build_tiny_model` with the template of a family, whose marks are plain text to it."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(build_tiny_model(folder, **more))
    tokenizer.chat_template = "{{ bos_token }}" + FAMILIES[name].template
    tokenizer.save_pretrained(folder)
    return folder
