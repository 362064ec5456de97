"""Minecraft Builder Action Prediction: dialogues of an Architect and a Builder."""

from harness.task import SAMPLE, Simulator, Task

_FIGURES = {"figures": (1, 6), "longest": (3, 11)}

TASK = Task(
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
    simulators={
        "random": Simulator(
            "harness.simulators.minecraft.architects:RandomBlocks",
            "game",
            {"turns": (1, 200)},
            {"train": 15_825, "val": 1_161, "test": 1_089},
        ),
        "blocks": Simulator(
            "harness.simulators.minecraft.architects:BlockStructures",
            "game",
            _FIGURES,
            {"train": 9_890, "val": 1_186, "test": 1_181},
        ),
        "shapes": Simulator(
            "harness.simulators.minecraft.architects:ShapeStructures",
            "game",
            _FIGURES,
            {"train": 11_868, "val": 1_000, "test": 1_000},
        ),
        "level-1": Simulator("harness.simulators.minecraft.levels:level_1", "level"),
        "level-2": Simulator("harness.simulators.minecraft.levels:level_2", "level"),
    },
    targets="blocks",
)
