"""A task: a corpus in one of the worlds, and everything that the harness needs to know about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from harness.worlds import World

OUR_LICENSE = "MIT, written for this project"
SAMPLE = Path(__file__).parents[1] / "corpora" / "sample"
"""Small samples in the formats of the published corpora, written for this project; a folder for each corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A corpus in its authors' repository, which `harness data get` downloads."""

    repository: str
    """OWNER/NAME on GitHub."""
    revision: str
    """The commit, 40 hexadecimal digits."""
    folder: str
    """The folder of the repository that becomes the task's folder."""
    files: tuple[str, ...]
    """Globs of the files that the loader reads, relative to `folder`."""
    items_sha256: str
    """The sha256 of all items of the corpus, as `harness data items` prints them split by split, in hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything that distinguishes a task. Strings of the form `module:object` are imported at their first use."""

    name: str
    """Lowercase letters, digits and hyphens. The ids of the task's items begin with it."""
    world: World
    """Code that depends on actions and states asks for the world, not for the task."""

    title: str
    """The corpus, as a sentence names it."""
    benchmark: str
    """What the corpus measures, as tables name it."""
    hub_name: str = ""
    """The corpus, as a model card's list of data sets names it; empty: `name`."""
    skill: str = ""
    """The purpose of an adapter, as its model card states it; empty: `benchmark`."""
    license: str = "not stated"
    published: Published | None = None
    """Where the corpus is published; None if it ships with its package."""
    splits: tuple[str, ...] = ("train", "dev", "test")
    """The splits, in the order in which items are listed."""
    split_names: Mapping[str, str] = field(default_factory=dict)
    """Aliases of splits, such as {"dev": "val"}."""
    corpus: str = "harness.corpora.corpus:Corpus"
    """`module:object`: a `harness.corpora.corpus.Corpus`, or a class that extends it, which finds, reads and counts the items."""
    sample: Path
    """The folder of the items that come with the package."""
    shipped: bool = False
    """Whether `sample` is the whole corpus; if so, no other folder is searched for it."""

    context: str = ""
    """The default of `--context`; empty: the world's default."""
    format: str = ""
    """The default of `--format`; empty: the world's default."""
    compass: bool = False
    """Whether instructions name compass directions. If so, prompts explain them, and augmentation does not rotate the items."""
    begun: bool = False
    """Whether items start from blocks or tiles that no dialogue mentions; the fixed items behind a prompt's hash then do too."""

    judged: bool = False
    """Whether each turn starts from the player's own earlier answers and is judged by conditions: many answers are right."""
    scores: Mapping[str, str] = field(default_factory=dict)
    """Published metrics in addition to the world's: from their keys in the scores to `module:object`, a function of items and
    predicted actions."""

    targets: str = ""
    """Where `harness play` takes its targets from: a simulator, or "corpus"; empty: the task is not played."""

    @property
    def scoring(self) -> Literal["judged", "hexagons", "minecraft"]:
        """How answers are scored: as judged turns, or by the world's metrics."""
        return "judged" if self.judged else self.world
