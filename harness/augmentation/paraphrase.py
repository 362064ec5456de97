"""Paraphrases: single words replaced from a lexicon, as in the augmentation of BAP (BAP v2, section 2.5).

The Minecraft Dialogue Corpus comes with such a lexicon, `data/lexicons/synonym_substitutions.json`, which is used if the
corpus is at hand; otherwise a small lexicon of our own, which ships with the package.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random

from pydantic import TypeAdapter, ValidationError

from harness.augmentation.colors import COLORS
from harness.corpora import archive, locate
from harness.errors import DataError
from harness.util.settings import first_problem

Lexicon = Mapping[str, Sequence[str]]
"""From a word in lower case to the words that may replace it."""

_FILE = "lexicons/synonym_substitutions.json"
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_COLORS = frozenset(COLORS["minecraft"])


def paraphrase(text: str, lexicon: Lexicon, rng: Random) -> str:
    """`text` with each word that has an entry drawn uniformly from itself and its entry, regardless of context.

    Capitalization is kept. Color words are neither replaced nor put in place of others.
    """

    def draw(match: re.Match[str]) -> str:
        word = match[0]
        key = word.lower()
        others = [other for other in lexicon.get(key, ()) if other not in _COLORS]
        if key in _COLORS or not others:
            return word
        new = rng.choice([key, *others])
        return new.upper() if word.isupper() and len(word) > 1 else new.capitalize() if word[0].isupper() else new

    return _WORD.sub(draw, text)


def lexicon() -> dict[str, list[str]]:
    """The corpus's lexicon, or ours if there is no corpus or it has no lexicon. Raises DataError for a damaged one."""
    source = locate("minecraft").path
    if source.is_file():
        text = next((data for _, data in archive.members(source, lambda name: name.endswith(_FILE))), None)
    else:
        places = source / "data" / _FILE, source / _FILE
        text = next((place.read_bytes() for place in places if place.is_file()), None)
    if text is None:
        text = files("harness.augmentation").joinpath("lexicon.json").read_bytes()
    try:
        return TypeAdapter(dict[str, list[str]]).validate_json(text)
    except ValidationError as error:
        raise DataError(f"{source}: {_FILE}: {first_problem(error)}") from None
