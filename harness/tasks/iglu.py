"""IGLU, single-turn: one instruction in a world that already holds blocks, with compass directions."""

from harness.tasks import SAMPLE, Task

TASK = Task(
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
