"""Commands that cannot be carried out as they are given: exit code 2, a reason, and nothing written."""

import shlex
from pathlib import Path

import pytest

from tests.helpers import Command

REFUSED = [
    ("prompt --engine scripted --task chess", "no task named 'chess'"),
    ("prompt --engine scripted --frame builder", "--frame builder is for minecraft"),
    ("prompt --engine scripted", "--engine scripted needs --model FILE"),
    ("prompt --engine scripted --model x --adapter x", "--adapter is for vllm and transformers and openai; --engine scripted"),
    ("prompt --engine scripted --model x --samples 3", "greedy answers are all the same; add --temperature"),
    ("prompt --engine scripted --model x --vote mbr", "one answer per item leaves nothing to vote on; add --samples"),
    (
        "prompt --engine scripted --model x --vote likelihood --samples 3 --temperature 1",
        "--engine scripted gives no likelihoods",
    ),
    ("simulate random --out a.jsonl", "give a SIMULATOR and --items"),
    ("simulate level-1 --items 5 --split train --out a.jsonl", "no split of level-1 named 'train': known: test"),
    ("simulate level-1 --items 1369 --out a.jsonl", "--items 1,369: level-1 has 1,368"),
    ("baseline train cnn-grü", "no baseline named 'cnn-grü': did you mean cnn-gru"),
    ("baseline train cnn-gru --only-data", "nothing to train on"),
    ("baseline train cnn-gru --train-items 100", "--train-items 100: there are 18 items"),
    ("baseline train rules", "rules has nothing to train"),
    ("baseline predict rules --steps 3", "--steps: rules has no such option"),
    ("play --model parser --shots 3", "--shots is for language models; parser does not take it"),
    ("play --model parser --targets corpus --games 50", "--games 50: minecraft val has 2 targets"),
    ("app --no-models --adapter hexagons", "--no-models: leave out"),
    ("app --adapter x=", "write NAME or NAME=DIR"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
@pytest.mark.usefixtures("empty_folder")
def test_what_cannot_be_done_is_refused_with_a_reason(words: str, message: str, command: Command) -> None:
    code, _, err = command(*shlex.split(words))
    assert (code, "Traceback" in err) == (2, False)
    assert message in err
    assert not list(Path().iterdir())
