"""Minecraft Builder Action Prediction: dialogues of an Architect and a Builder."""

from harness.tasks import SAMPLE, Task

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
    targets="blocks",
)
