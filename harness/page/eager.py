"""A Builder for play: the parser, which here always does what it thinks likeliest instead of nothing."""

from __future__ import annotations

from harness.runs.answering import Predictor

NAME = "parser-eager"


class EagerParser:
    """See `harness.baselines.Ruled`. It scores worse than `parser`, which is silent where it is unsure."""

    tasks = ("minecraft",)
    decoding = ()

    def predictor(self, task: str) -> Predictor:
        from harness.baselines.parser.minecraft import BuilderParser
        from harness.baselines.parser.minecraft.ranker import Eager, shipped_weights

        return BuilderParser(Eager(shipped_weights(task)))
