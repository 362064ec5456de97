"""The tokenization and the H3 history of the Builder Action Prediction baseline (Jayannavar et al. 2020, section 4).

The tokens equal those of the released code on every line of the corpus.
"""

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
# These do not end a sentence: an ellipsis, an initial, an ordinal, "ok.".
_NO_END = re.compile(r"""\.\.["')]?$|(?:^|\s)(?:[^\W\d_]|\d+|ok)\.$""", re.IGNORECASE)


def h3_tokens(item: MinecraftItem) -> list[str]:
    """The history with earlier actions as words ("H3"): the builder's last run of actions and the dialogue around it.

    `<dialogue>` comes first only if the history reaches back to the start of the game. Each action of the run is one word,
    such as `<builder_putdown_red>`; "Mission has started." is left out.
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
    """nltk's tokenizer with the four rules that `word_tokenize` added in version 3.4.5, which the baseline used."""
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
        # Only the last part decides whether the sentence has ended; the parts before it may be long.
        if sentences and _NO_END.search(sentences[-1][-1]):
            sentences[-1].append(part)
        else:
            sentences.append([part])
    return [" ".join(parts) for parts in sentences]
