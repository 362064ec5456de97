"""A task and a format of another package work in the whole harness with only their modules, data and entry points."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

TOY = ROOT / "tests" / "helpers" / "toy"
SESSION = """
import json, re, sys
import harness
from harness.cli import main
from harness.plugins import lm_eval
from harness.service.schema import REQUEST
from harness.worlds.hexagons import canonical
from serialization.formats import get_format

assert not any([main(words) for words in json.loads(sys.argv[1])])
print(*(row["id"] for row in lm_eval.toy()["dev"]))
for item in harness.load("toy", "dev"):
    form = get_format("toy", "tiles")
    text = form.write(item.actions)
    assert form.read(f"Answer: {text}", item).actions == canonical(item.actions) and re.fullmatch(form.constraint().value, text)
print(REQUEST.validate_python({"task": "toy", "instruction": "a"}).item.task)
"""


def python(folder: Path, *words: str, first: Path = TOY) -> subprocess.CompletedProcess[str]:
    """Runs Python in a folder, where the toy task is installed."""
    paths = os.pathsep.join(map(str, (ROOT, first, TOY)))
    environment = {**os.environ, "PYTHONPATH": paths, "HARNESS_CACHE": str(folder / "cache"), "COLUMNS": "200"}
    environment.pop("HARNESS_DATA", None)
    return subprocess.run([sys.executable, "-u", *words], cwd=folder, env=environment, capture_output=True, text=True)


def test_commands_lm_eval_and_the_task_api(tmp_path: Path, tiny_base: Path) -> None:
    items = [json.loads(line) for line in (TOY / "dev.jsonl").read_text().splitlines()]
    first = {item["id"]: item["actions"][0] for item in items}
    answers = ({"id": name, "text": f"{color}: {column + 1} 1-10"} for name, (_, column, color) in first.items())
    (tmp_path / "script.jsonl").write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    commands = {
        "data list": "not stated",  # the license
        "data stats toy": "toy: splits",
        "data items toy --split dev": '"instruction": "Paint column 18 black."',
        f"prompt --task toy --model {tiny_base} --preview": "1. Paint column 18 black.",
        f"prompt --task toy --format tiles --template {TOY / 'templates'} --model {tiny_base} --preview": "column:row",
        "prompt --task toy --engine scripted --model script.jsonl --name run": "toy/dev",
        "score run": "toy/dev",
        f"finetune llama-lora --task toy --base {tiny_base} --dry-run": "Paint column",
        "play --task toy --model parser --games 2": "Over 2 games",
        "plugins lm-eval": "lm_eval",
    }
    done = python(tmp_path, "-c", SESSION, json.dumps([words.split() for words in commands]))
    assert done.returncode == 0, done.stderr
    place = 0
    for part in (*commands.values(), " ".join(first), "toy\n"):
        place = done.stdout.index(part, place) + len(part)


@pytest.mark.parametrize(
    ("module", "ours", "theirs", "problem"),
    [
        # The beginning of an id determines its task.
        ("toy_task.py", 'name="toy"', 'name="iglu-toy"', "the name iglu-toy begins like iglu"),
        ("toy_task.py", 'world="hexagons"', 'world="chess"', "there is no world 'chess'; there are hexagons and minecraft"),
        ("toy_format.py", '"tiles", "hexagons"', '"grouped", "hexagons"', "there is already a format grouped for hexagons"),
        ("toy_format.py", '"tiles", "hexagons"', '"tiles", "chess"', "its world is unknown"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, module: str, ours: str, theirs: str, problem: str) -> None:
    (tmp_path / module).write_text((TOY / module).read_text().replace(ours, theirs))
    done = python(tmp_path, "-m", "harness.cli", "prompt", "--preview", first=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
