"""The Slurm and the Kubernetes examples: shellcheck and Kubernetes' schema find no fault, and their harness commands parse."""

from __future__ import annotations

import re
import shlex
import subprocess
import sysconfig
from typing import Any

import kubernetes_validate
import pytest
import yaml

from harness.cli import cli
from tests.helpers import ROOT

KUBERNETES_VERSION = "1.37"
EXAMPLES = ROOT / "docs/examples"
SLURM = (EXAMPLES / "slurm.sh").read_text()
KUBERNETES: dict[str, Any] = yaml.safe_load((EXAMPLES / "kubernetes.yaml").read_text())
CONTAINER: dict[str, Any] = KUBERNETES["spec"]["template"]["spec"]["containers"][0]
(POD,) = CONTAINER["args"]


@pytest.mark.parametrize("script", [SLURM, POD], ids=["slurm", "kubernetes"])
@pytest.mark.parametrize("checker", [["bash", "-n"], [f"{sysconfig.get_path('scripts')}/shellcheck", "--shell=bash", "-"]])
def test_shells_and_shellcheck_find_no_fault(script: str, checker: list[str]) -> None:
    done = subprocess.run(checker, input=script, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_job_is_valid_for_kubernetes() -> None:
    assert kubernetes_validate.validate(KUBERNETES, KUBERNETES_VERSION, strict=True) == KUBERNETES_VERSION
    spec = KUBERNETES["spec"]["template"]["spec"]
    volumes = [volume["name"] for volume in spec["volumes"]]
    assert sorted(mount["name"] for mount in CONTAINER["volumeMounts"]) == sorted(volumes)
    gpus = str(CONTAINER["resources"]["limits"]["nvidia.com/gpu"])
    assert re.findall(r"--nproc-per-node (\d+)|training\.accumulation=(\d+)", POD) == [(gpus, ""), ("", gpus)]


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


def test_the_pod_of_the_server_is_valid_and_its_command_parses() -> None:
    pod = yaml.safe_load((EXAMPLES / "serve.yaml").read_text())
    assert kubernetes_validate.validate(pod, KUBERNETES_VERSION, strict=True) == KUBERNETES_VERSION
    _, name, *words = pod["spec"]["containers"][0]["command"]
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    command.make_context(name, words)


def test_slurm_options_come_before_the_first_command() -> None:
    lines = SLURM.splitlines()
    options = [number for number, line in enumerate(lines) if line.startswith("#SBATCH ")]
    commands = [number for number, line in enumerate(lines) if line and not line.startswith("#")]
    assert options
    assert max(options) < min(commands)
    assert all(re.fullmatch(r"#SBATCH --[a-z-]+(=\S+)?", lines[number]) for number in options)
