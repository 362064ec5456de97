"""The base model that is part of the package: small, whole, and with a card that says how it was made."""

from __future__ import annotations

from pathlib import Path

from adapters.pretrain import MAX_BYTES
from harness.models import load_tokenizer, resolve_base

FOLDER = Path(resolve_base(None))


def test_its_weights_are_small() -> None:
    assert 0 < sum(path.stat().st_size for path in FOLDER.glob("*.safetensors")) <= MAX_BYTES <= 12_000_000


def test_its_tokenizer_is_our_own() -> None:
    tokenizer = load_tokenizer(str(FOLDER))
    assert (tokenizer.bos_token, tokenizer.eos_token, len(tokenizer)) == ("<s>", "<|end|>", 2048)
    ids = tokenizer("place red 10 -2 3", add_special_tokens=False).input_ids
    assert [tokenizer.decode([token]) for token in ids] == ["place", " red", " 1", "0", " -2", " 3"]


def test_its_card_says_how_it_was_made_and_from_what() -> None:
    card = (FOLDER / "README.md").read_text()
    for words in (
        "harness pretrain tiny-llama",
        "steps of about",
        "tokens in all",
        "CPU cores",
        "## Limits",
        "CC BY 4.0",
        "NCSA",
    ):
        assert words in card
