"""The vocabulary of the classic models, and its vectors from a GloVe file (Pennington et al. 2014)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.baselines.world_state import COLORS
from harness.errors import DataError, UsageError

Floats = npt.NDArray[np.float32]

UNKNOWN = "<unk>"
SPECIAL = (
    *("<pad>", "<dialogue>", "</dialogue>", "<architect>", "</architect>", "<builder>", "</builder>"),
    *(f"<builder_{verb}_{color}>" for verb in ("pickup", "putdown") for color in sorted(COLORS)),
)
"""The first entries of a vocabulary, from index 0 on; `UNKNOWN` is the last entry."""
COMMON = 2
"""A word gets a learned vector if it occurs at least this often; rarer words train the vector of `UNKNOWN`."""


class Vocabulary:
    """Words and their indices: padding is 0, the last index stands for every unknown word."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        self._numbers = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, words: Iterable[str]) -> list[int]:
        return [self._numbers.get(word, len(self.words) - 1) for word in words]


def learned(texts: Iterable[Iterable[str]]) -> Vocabulary:
    """The words that occur at least twice in the texts, sorted."""
    counts = Counter(word for text in texts for word in text)
    words = sorted(word for word, count in counts.items() if count >= COMMON and word not in SPECIAL)
    return Vocabulary([*SPECIAL, *words, UNKNOWN])


def read_glove(path: Path, texts: Iterable[Iterable[str]], size: int, seed: int) -> tuple[Vocabulary, Floats]:
    """The vocabulary of the texts' words that have a vector in a GloVe text file, in the file's order, and all its vectors, shape
    (words, size).

    The vectors of the special words and of `UNKNOWN` are drawn uniformly from 0..1; that of padding is 0. Raises UsageError if
    the file cannot be read, and DataError with file and line for one of these words without `size` numbers.
    """
    wanted = {word.encode(): word for text in texts for word in text if word not in SPECIAL}
    by_number: dict[str, Floats] = {}
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                word, _, numbers = line.rstrip().partition(b" ")
                if word in wanted and wanted[word] not in by_number:
                    by_number[wanted[word]] = _vector(numbers, size, f"{path}:{number}")
    except OSError as error:
        raise UsageError(f"glove={path}: {error.strerror}") from None
    if not by_number:
        raise DataError(f"{path}: it has no vector for any word of the corpus; is it a GloVe file of English words?")
    drawn = np.random.default_rng(seed).uniform(size=(len(SPECIAL) + 1, size)).astype(np.float32)
    drawn[0] = 0
    vectors = np.stack([*drawn[:-1], *by_number.values(), drawn[-1]])
    return Vocabulary([*SPECIAL, *by_number, UNKNOWN]), vectors


def _vector(numbers: bytes, size: int, where: str) -> Floats:
    with suppress(ValueError):
        vector = np.array(numbers.split(b" "), np.float32)
        if len(vector) == size and np.isfinite(vector).all():
            return vector
    raise DataError(f"{where}: a line of a GloVe file of {size}-d vectors is a word and {size} finite numbers")
