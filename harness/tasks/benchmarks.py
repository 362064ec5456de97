"""The tasks that come with the project."""

from pathlib import Path

from harness.tasks import OUR_LICENSE, SAMPLE, Task
from harness.worlds import World

HEXAGONS = Task(
    name="hexagons",
    world="hexagons",
    title="HEXAGONS",
    benchmark="HEXAGONS",
    skill="drawing on HEXAGONS boards",
    license="CC BY 4.0, Lachmy et al. 2022",
    how_to_get="github.com/OnlpLab/Hexagons; put its train.jsonl, dev.jsonl and test.jsonl into $HARNESS_DATA/hexagons/",
    corpus="harness.corpora.hexagons:HexagonsCorpus",
    sample=SAMPLE / "hexagons",
    targets="corpus",
)
"""HEXAGONS, "Draw Me a Flower": drawing procedures, step by step."""

MINECRAFT = Task(
    name="minecraft",
    world="minecraft",
    title="the Minecraft Dialogue Corpus",
    benchmark="Minecraft Builder Action Prediction",
    hub_name="minecraft-dialogue-corpus",
    license="NCSA, University of Illinois 2020",
    how_to_get="github.com/prashant-jayan21/minecraft-bap-models; put its data folder at $HARNESS_DATA/minecraft/",
    splits=("train", "val", "test"),
    split_names={"dev": "val"},
    corpus="harness.corpora.minecraft:MinecraftCorpus",
    sample=SAMPLE / "minecraft",
    targets="blocks",
)
"""Minecraft Builder Action Prediction: dialogues of an Architect and a Builder."""

IGLU = Task(
    name="iglu",
    world="minecraft",
    title="IGLU",
    benchmark="IGLU single-turn",
    hub_name="iglu-datasets",
    license="MIT, Microsoft 2022",
    how_to_get="github.com/microsoft/iglu-datasets; put its folder datasets/singleturn at $HARNESS_DATA/iglu/",
    corpus="harness.corpora.iglu:IgluCorpus",
    sample=SAMPLE / "iglu",
    compass=True,
    begun=True,
    scores={"overlap": "eval.metrics.minecraft:overlap_scores"},
)
"""IGLU, single-turn: one instruction in a world that already holds blocks, with compass directions."""


def _everyday(world: World) -> Task:
    return Task(
        name=f"everyday-{world}",
        world=world,
        title="everyday requests",
        benchmark=f"everyday requests, {world}",
        license=OUR_LICENSE,
        corpus="harness.everyday.requests:Everyday",
        sample=Path(__file__).parents[1] / "everyday" / "requests",
        shipped=True,
        begun=True,
        judged=True,
    )


DRAWING = _everyday("hexagons")
BUILDING = _everyday("minecraft")
"""Our benchmark of ordinary requests, in both worlds: what people ask, turn by turn, and what makes an answer right."""
