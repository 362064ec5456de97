"""The marks of models around their thoughts, and a text without its thoughts."""

import re
from typing import NamedTuple

MARKS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning")},
    "<seed:think>": "</seed:think>",  # Seed-OSS
    "<mm:think>": "</mm:think>",  # MiniMax M3
    "[THINK]": "[/THINK]",  # Magistral
    "◁think▷": "◁/think▷",  # Kimi-VL
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",  # Kimi K3
    "<|START_THINKING|>": "<|END_THINKING|>",  # Command A
    "<|channel>": "<channel|>",  # Gemma 4
}
"""The start of a thought and its end, by families of models. gpt-oss has channels instead, see `_CHANNELS`."""

# Every channel but the final one holds thoughts. Without its special tokens, a text only has the names of roles and channels.
_CHANNEL = r"<\|channel\|>(?!final)\w+", r"analysis(?<!\Sanalysis)(?=\w)", r"commentary(?<!\Scommentary)(?=\w)"
_FINAL = r"<\|channel\|>final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>", "assistantfinal"


def _pattern(mark: str) -> str:
    """The mark in any case but that of its first character, by which alone a search is fast."""
    return f"{re.escape(mark[0])}(?i:{re.escape(mark[1:])})"


MARK = re.compile("|".join((*map(_pattern, MARKS), *_CHANNEL, *(f"{m}()" for m in (*map(_pattern, MARKS.values()), *_FINAL)))))
"""Begins a thought, or ends it if the match has a group."""
_RARE = ("<", "[T", "[t", "[/", "◁", "analysis", "commentary", "assistantfinal")
"""Every mark contains one of them, and most answers contain none, which is found in a hundredth of the time."""
OPEN = re.compile(rf"({'|'.join(map(re.escape, MARKS))})(\s*)$")
"""The end of a prompt in which a thought begins."""
EMPTY = re.compile(rf"({'|'.join(map(re.escape, MARKS))})\s*(?:{'|'.join(map(re.escape, MARKS.values()))})(\s*)$")
"""An empty thought at the end of a prompt."""
SPECIAL = re.compile("think|thought|channel", re.IGNORECASE)
"""Is in the special tokens of models that mark thoughts with special tokens."""


class WithoutThoughts(NamedTuple):
    """A text divided into answer and thought; `ended` is False if the text ends in a thought."""

    answer: str
    thought: str
    ended: bool


def without_thoughts(text: str) -> WithoutThoughts:
    """A thought that does not end reaches to the end of the text. One that does not begin starts with the text, because some
    prompts already contain its start. Total, and linear in the length of the text."""
    if not any(part in text for part in _RARE):
        return WithoutThoughts(text, "", True)
    kept: list[str] = []
    thoughts: list[str] = []
    start, thinking = 0, False
    for mark in MARK.finditer(text):
        ends = mark.lastindex is not None
        if ends or not thinking:
            (thoughts if ends else kept).append(text[start : mark.start()])
            start, thinking = mark.end(), not ends
    (thoughts if thinking else kept).append(text[start:])
    return WithoutThoughts("".join(kept), "\n".join(filter(None, map(str.strip, thoughts))), not thinking)
