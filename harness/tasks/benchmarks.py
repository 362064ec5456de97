"""The tasks that come with the project."""

from pathlib import Path

from harness.tasks import OUR_LICENSE, SAMPLE, Published, Task
from harness.worlds import World

HEXAGONS = Task(
    name="hexagons",
    world="hexagons",
    title="HEXAGONS",
    benchmark="HEXAGONS",
    skill="drawing on HEXAGONS boards",
    license="CC BY 4.0, Lachmy et al. 2022",
    published=Published(
        repository="OnlpLab/Hexagons",
        revision="5c11b7380ec35d38683c81084c75602f9e1055df",
        folder="data",
        files=("train.jsonl", "dev.jsonl", "test.jsonl"),
        items_sha256="90f70b3dc9c741e3f882bb8f3b8808269d88a4d0620a4e780b88bbe0f73c5191",
    ),
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
    published=Published(
        repository="prashant-jayan21/minecraft-bap-models",
        revision="48044a2f1fe76c8cad7384b71f216bbbbf55deb3",
        folder="data",
        files=(
            "logs/splits.json",
            "logs/data-*/logs/*/postprocessed-observations.json",
            "gold-configurations/*.xml",
            "lexicons/synonym_substitutions.json",
        ),
        items_sha256="6dfb5ee5e1b50348827e1d444e16b6f7de1ed933f2e2cf109a58a138d0d590a2",
    ),
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
    published=Published(
        repository="microsoft/iglu-datasets",
        revision="7342931ad6ee598c5a20b0563ff0c94594f2addc",
        folder="datasets/singleturn",
        files=(
            "clarifying_questions_train.csv",
            "initial_world_states/builder-data/*/*",
            "target_world_states/builder-data/actionHit/*/*",
        ),
        items_sha256="42bd17439dbd26f0c67a7de16eec7364f485292595cbba2bbfa5ac4803155b06",
    ),
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
