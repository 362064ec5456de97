"""The Slurm and the Kubernetes example: shell and YAML are well formed, and the commands in them are ours."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from harness.cli import cli
from tests.helpers import ROOT

EXAMPLES = ROOT / "docs/examples"
SLURM = (EXAMPLES / "slurm.sh").read_text()
KUBERNETES: dict[str, Any] = yaml.safe_load((EXAMPLES / "kubernetes.yaml").read_text())
CONTAINER: dict[str, Any] = KUBERNETES["spec"]["template"]["spec"]["containers"][0]
(POD,) = CONTAINER["args"]


@pytest.mark.parametrize("script", [SLURM, POD], ids=["slurm", "kubernetes"])
def test_bash_reads_it(script: str) -> None:
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "--shell=bash", "-"], input=script, text=True, check=True)


@pytest.mark.parametrize("script", [SLURM, POD], ids=["slurm", "kubernetes"])
def test_its_commands_parse(script: str) -> None:
    lines = script.replace("\\\n", " ").splitlines()
    given = [
        re.split(r"-m harness\.cli |\bharness (?=prompt)", line, maxsplit=1)[1:] for line in lines if not line.startswith("#")
    ]
    commands = [shlex.split(words) for found in given for words in found]
    assert [command[0] for command in commands] == ["finetune", "prompt"]
    for name, *words in commands:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        command.make_context(name, list(words))


def test_slurm_options_come_before_the_first_command() -> None:
    lines = SLURM.splitlines()
    options = [number for number, line in enumerate(lines) if line.startswith("#SBATCH ")]
    commands = [number for number, line in enumerate(lines) if line and not line.startswith("#")]
    assert options
    assert max(options) < min(commands)
    assert all(re.fullmatch(r"#SBATCH --[a-z-]+(=\S+)?", lines[number]) for number in options)
