"""A task: a corpus in one of the worlds, and all that the harness has to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from harness.worlds import World

OUR_LICENSE = "MIT, written for this project"
SAMPLE = Path(__file__).parent / "corpora" / "sample"
"""Holds small samples of the published corpora, a folder each, of our own."""


class Simulator(NamedTuple):
    """A source of items that are made by rules."""

    make: str
    """`module:object`. game: an Architect, made of a Random, for `harness.simulators.minecraft.game.play`. drawing and
    conversation: a function of a Random, a number and a split to items. level: a function of a seed to items."""
    kind: Literal["game", "drawing", "conversation", "level"]
    parameters: Mapping[str, tuple[int, int]] = {}
    """What can be set, with its range: orders of a game, shapes of a target, blocks of its longest row."""
    paper: Mapping[str, int] = {}
    """The items of each split in BAP v2, Table 3."""


class Gallery(NamedTuple):
    """How the page lists the items of a task, request by request."""

    link: str
    heading: str
    about: str
    """What follows the number of requests in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is known of a task. Strings of the form `module:object` are imported when they are used, not before."""

    name: str
    """Small letters, digits and hyphens. Ids of its items begin with it."""
    world: World
    """What depends on actions and states asks for the world, not for the task."""

    title: str
    """The corpus, as a sentence names it."""
    benchmark: str
    """What the corpus measures, as tables name it."""
    hub_name: str = ""
    """The corpus, as a model card's list of data sets names it; empty: `name`."""
    skill: str = ""
    """What a model card says that an adapter is for; empty: `benchmark`."""
    license: str = OUR_LICENSE
    how_to_get: str = "it ships with the project"
    """Where the authors' corpus comes from, and where it is looked for."""
    splits: tuple[str, ...] = ("train", "dev", "test")
    """In the order in which items are listed."""
    split_names: Mapping[str, str] = field(default_factory=dict)
    """Other names of splits, as {"dev": "val"}."""
    corpus: str = "harness.corpora.corpus:Corpus"
    """`module:object`: a `harness.corpora.corpus.Corpus`, or a class that extends it, which finds, reads and counts the items."""
    sample: Path
    """The folder of the items that come with the package."""
    shipped: bool = False
    """Whether that is the whole corpus, which is then looked for nowhere else."""

    context: str = ""
    """The default of `--context`; empty: the world's."""
    format: str = ""
    """The default of `--format`; empty: the world's."""
    compass: bool = False
    """Whether instructions name compass directions, which a prompt then explains. Such items are not turned by augmentation."""
    begun: bool = False
    """Whether items begin among blocks or tiles that no dialogue mentions, as do the fixed items of a prompt's hash."""

    judged: bool = False
    """Whether turns are answered on the player's own earlier answers, and judged: there are many right ones."""
    scores: Mapping[str, str] = field(default_factory=dict)
    """Published metrics in addition to the world's: key in the scores to a function of items, predicted actions and seed."""

    simulators: Mapping[str, Simulator] = field(default_factory=dict)
    """By name, the simulators that make items of the task."""
    simulator: str = ""
    """The simulator that `harness play` takes its targets from; empty: there is none."""
    typed: str = ""
    """As which task the parser reads what people type: in a conversation it does the likeliest thing. Empty: as this one."""
    parser_weights: str = "weights.json"
    """Minecraft's world: the file beside `harness.baselines.parser.minecraft.ranker` that holds what was learned on train."""
    parser_threshold: float = 0.1
    """Minecraft's world: the least probability 0..1 of an action that the parser carries out."""
    gallery: Gallery | None = None
    """How the page shows the items; None: it does not, or in a part of its own."""

    @property
    def scoring(self) -> Literal["judged", "hexagons", "minecraft"]:
        """The kind of its scores: judged turns, or the world's metrics."""
        return "judged" if self.judged else self.world
