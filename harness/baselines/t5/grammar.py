"""Constrained decoding of the T5 baseline: only tokens that continue a valid answer of its format."""

from __future__ import annotations

import re
from functools import lru_cache

import regex  # type: ignore[import-untyped]
import torch
from torch import Tensor
from transformers import LogitsProcessor

from harness.baselines.t5.text import TextTokens
from harness.errors import UsageError
from serialization.formats import Format

# The tokens that may follow depend only on the piece after the last separator, on whether there is a piece before it and, in a
# list of numbers, on the last number.
_PIECES = {"triplets": (", ", "0 0 red, "), "grouped": ("; ", "red: 0 0; ")}
_LISTED = re.compile(r"(?:\d+(?:-\d+)?,)+")


class Held(LogitsProcessor):  # type: ignore[misc]
    """Masks the tokens that cannot continue an answer of a format. Raises UsageError for a format without a regex."""

    def __init__(self, tokens: TextTokens, written: Format) -> None:
        constraint = written.constraint()
        if constraint.kind != "regex":
            raise UsageError(f"--constrained: the format {written.name} has no grammar; leave the flag out")
        self.tokens, self.pattern = tokens, regex.compile(constraint.value)
        self.separator, self.before = _PIECES.get(written.name, ("\0", ""))
        self.pieces = _pieces(tokens, constraint.value)
        self._following = lru_cache(4096)(self._allowed)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        barred = torch.ones_like(scores, dtype=torch.bool)
        # The first token only starts the decoder.
        for row, ids in zip(barred, input_ids[:, 1:].tolist(), strict=True):
            text, ended = self.tokens.read(ids)
            row[[self.tokens.pad] if ended else self.following(text)] = False
        return scores.masked_fill(barred, -torch.inf)

    def following(self, text: str) -> list[int]:
        """The tokens that may follow the beginning of an answer."""
        _, separator, last = text.rpartition(self.separator)
        return self._following(_LISTED.sub("0,", self.before + last if separator else last))

    def _allowed(self, text: str) -> list[int]:
        # A tokenizer that marks the beginnings of words may begin an answer with a space.
        texts = ((token, (text + piece).removeprefix(" ")) for token, piece in self.pieces.items())
        allowed = [token for token, longer in texts if self.pattern.fullmatch(longer, partial=True)]
        return [*allowed, self.tokens.end] if self.pattern.fullmatch(text.removeprefix(" ")) else allowed


def _pieces(tokens: TextTokens, pattern: str) -> dict[int, str]:
    """The tokens that may occur in an answer, each with the text that it adds there."""
    words = re.findall("[a-z]{2,}", pattern)
    anchor = tokens.encode(",")
    before = len(tokens.tokenizer.decode(anchor))
    every = range(tokens.tokenizer.get_vocab_size())
    added = {token: tokens.tokenizer.decode([*anchor, token])[before:] for token in every}
    return {
        token: piece
        for token, piece in added.items()
        if re.fullmatch("[a-z0-9 ,:;-]+", piece)
        and all(any(run in word for word in words) for run in re.findall("[a-z]+", piece))
    }
