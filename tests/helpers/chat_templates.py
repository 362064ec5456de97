"""Our own chat templates, each with the peculiarities of a family of models."""

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.helpers.tiny import TEMPLATES, build_tiny_model


class Family(NamedTuple):
    """A template and the harness's use of it."""

    template: str
    opened: str
    """The end of a prompt."""
    end: str
    """The model's text after an answer."""
    special: list[str]
    dated: bool = False
    blank: str = ""
    """The model's text before an answer."""


def _family(template: str, open: str = "", **about: Any) -> Family:
    return Family((TEMPLATES / f"{template}.jinja").read_text().rstrip().replace("%OPEN%", open), **about)


FAMILIES = {name: _family(**about) for name, about in yaml.safe_load((TEMPLATES / "families.yaml").read_text()).items()}


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
