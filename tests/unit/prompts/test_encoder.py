"""A text encoded in pieces has the same tokens as when the tokenizer encodes it as a whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from prompts.render import Encoder
from tests.helpers.tiny import CORPUS

LLAMA_3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPECIAL = ("<|start|>", "<|end|>", "<|end|>!")


def byte_level(**options: Any) -> Any:
    return pre_tokenizers.ByteLevel(**{"add_prefix_space": False, **options})


SPLITS: dict[str, Callable[[], Any]] = {
    "gpt-2": byte_level,
    "digits": lambda: pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level()]),
    "llama-3": lambda: pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA_3), "isolated"), byte_level(use_regex=False)]),
    "prefix": lambda: byte_level(add_prefix_space=True),
    "metaspace": lambda: pre_tokenizers.Metaspace(prepend_scheme="first"),
}


@cache
def tokenizer(split: str, *, nested: bool = False, lstrip: bool = False, normalized: bool = False) -> Any:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = SPLITS[split]()
    if normalized:
        backend.normalizer = normalizers.Prepend("_")
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    backend.train_from_iterator([*CORPUS, *(text.replace(" ", "\n") for text in CORPUS)], trainer)
    backend.add_special_tokens([AddedToken(text, lstrip=lstrip, special=True) for text in SPECIAL[: 2 + nested]])
    return PreTrainedTokenizerFast(tokenizer_object=backend)


def whole(one: Any, text: str) -> tuple[int, ...]:
    return tuple(one(text, add_special_tokens=False).input_ids)


pieces = st.sampled_from(
    [*SPECIAL, *CORPUS, "\n", "\n\n", " \n", "\n ", " ", "  ", "\r\n", "\t", "'s", "12345", "!", "a", "é", "\u2028", "\x1c"]
)
texts = st.lists(st.one_of(pieces, st.text(max_size=4)), max_size=12).map("".join)


@pytest.mark.parametrize("split", SPLITS)
@given(texts)
@example("<|start|>user\nPaint it red.\n\n  Now\nblue! \n3<|end|>\n<|start|>assistant\n0 4 red\n0 5 blue<|end|>")
def test_pieces_have_the_tokens_of_the_whole(split: str, text: str) -> None:
    one = tokenizer(split)
    assert Encoder(one)(text) == whole(one, text)


@pytest.mark.parametrize("odd", ["nested", "lstrip", "normalized"])
@given(texts)
def test_pieces_of_a_tokenizer_that_looks_beyond_a_piece_do_so_too(odd: str, text: str) -> None:
    one = tokenizer("gpt-2", **{odd: True})
    assert Encoder(one)(text) == whole(one, text)


@pytest.mark.parametrize(("split", "count"), [("gpt-2", 3), ("llama-3", 2), ("prefix", 0), ("metaspace", 0)])
def test_a_piece_is_encoded_once(split: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    one, encoded = tokenizer(split), list[str]()
    encoder = Encoder(one)
    encode = encoder._encode

    def counted(text: str) -> tuple[int, ...]:
        encoded.append(text)
        return encode(text)

    monkeypatch.setattr(encoder, "_encode", counted)
    text = "<|start|>first\nsecond<|end|>third"
    assert encoder(text) == encoder(text) == whole(one, text)
    assert len(encoded) == (count or 2)
