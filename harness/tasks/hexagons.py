"""HEXAGONS, "Draw Me a Flower": drawing procedures, step by step."""

from harness.tasks import SAMPLE, Task

TASK = Task(
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
