"""Words as the Builder Action Prediction baseline saw them: its tokenization and its H3 history.

Jayannavar et al. 2020, section 4; the recipe reproduces the tokens of the released code on every line of the corpus.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from harness.corpora.item import Executed, MinecraftItem, Utterance
from harness.worlds.minecraft import Action

START = "<dialogue>"
_VERBS = {"place": "putdown", "remove": "pickup"}
_MISSION = "mission has started ."
_SIZES = re.compile(r"(?<=\d)x(?=\d)")
_SENTENCE_END = re.compile(r"""(?<=[.!?])\s+|(?<=[.!?]["')])\s+""")
# Not the end of a sentence: an ellipsis, an initial, an ordinal, "ok.".
_NO_END = re.compile(r"""\.\.["')]?$|(?:^|\s)(?:[^\W\d_]|\d+|ok)\.$""", re.IGNORECASE)


def h3_tokens(item: MinecraftItem) -> list[str]:
    """The history with earlier actions as words ("H3"): what was said before and after the builder's last run of actions.

    `<dialogue>` leads only where the history reaches the start of the game. A run is one word an action, such as
    `<builder_putdown_red>`; "Mission has started." is left out.
    """
    runs = [place for place, turn in enumerate(item.history) if isinstance(turn, Executed)]
    tokens = [START] if len(runs) < 2 else []
    for turn in item.history[runs[-2] + 1 if len(runs) > 1 else 0 :]:
        if isinstance(turn, Utterance):
            tokens += _utterance_tokens(turn)
        else:
            actions = (action for action in turn.actions if isinstance(action, Action))
            tokens += [f"<builder_{_VERBS[action.kind]}_{action.color}>" for action in actions]
    return tokens


@lru_cache(maxsize=50_000)
def _utterance_tokens(turn: Utterance) -> tuple[str, ...]:
    words = tokenize(turn.text)
    if turn.speaker == "Builder" and _MISSION in " ".join(words):
        return ()
    speaker = turn.speaker.lower()
    return f"<{speaker}>", *words, f"</{speaker}>"


@lru_cache(maxsize=50_000)
def tokenize(text: str) -> tuple[str, ...]:
    """The lower-cased Penn Treebank tokens of a chat line, sentence by sentence."""
    mended = " ".join(_mend(word) for word in text.lower().split())
    treebank = _treebank()
    return tuple(token for sentence in _sentences(mended) for token in treebank.tokenize(sentence))


@lru_cache(maxsize=1)
def _treebank() -> Any:
    """nltk's tokenizer with the four rules that its `word_tokenize` added at the time (3.4.5)."""
    from nltk.tokenize.treebank import TreebankWordTokenizer

    class WordTokenizer(TreebankWordTokenizer):  # type: ignore[misc]
        STARTING_QUOTES = [
            (re.compile("([«“‘„]|[`]+)"), r" \1 "),
            *TreebankWordTokenizer.STARTING_QUOTES,
            (re.compile(r"(?i)(')(?!re|ve|ll|m|t|s|d)(\w)\b"), r"\1 \2"),
        ]
        PUNCTUATION = [
            (re.compile(r"""([^.])(\.)([\])}>"'»”’ ]*)\s*$"""), r"\1 \2 \3 "),
            *TreebankWordTokenizer.PUNCTUATION,
        ]
        ENDING_QUOTES = [(re.compile("([»”’])"), r" \1 "), *TreebankWordTokenizer.ENDING_QUOTES]

    return WordTokenizer()


def _mend(word: str) -> str:
    """Split what chat writers glue together: `*correction`, `trailing..`, `3x3`."""
    if word.startswith("*"):
        word = f"* {word[1:]}"
    elif word.endswith("*") and not word.endswith("**"):
        word = f"{word[:-1]} *"
    if word.endswith("..") and word[-3:-2] != ".":
        word = f"{word[:-2]} .."
    return _SIZES.sub(" x ", word)


def _sentences(text: str) -> list[str]:
    sentences: list[list[str]] = []
    for part in _SENTENCE_END.split(text):
        # What comes before the last part decides nothing, and may be long.
        if sentences and _NO_END.search(sentences[-1][-1]):
            sentences[-1].append(part)
        else:
            sentences.append([part])
    return [" ".join(parts) for parts in sentences]
