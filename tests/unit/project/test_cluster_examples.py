"""The Slurm and the Kubernetes examples: shellcheck and Kubernetes' schema find no fault, and their harness commands parse."""

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from packaging.requirements import Requirement

from harness.cli import cli
from tests.helpers import ROOT

EXAMPLES = ROOT / "docs/examples"
PODS: dict[str, Any] = {name: yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text()) for name in ("kubernetes", "serve")}
JOB: dict[str, Any] = PODS["kubernetes"]["spec"]["template"]["spec"]["containers"][0]
SCRIPTS = {"slurm": (EXAMPLES / "slurm.sh").read_text(), "kubernetes": JOB["args"][0]}

RELEASE = "https://github.com/vllm-project/vllm/releases/download/v{0}/vllm-{0}+cu129-"


def parse(name: str, *words: str) -> None:
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    command.make_context(name, list(words))


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_shellcheck_finds_no_fault_and_the_commands_parse(script: str) -> None:
    checker = [f"{sysconfig.get_path('scripts')}/shellcheck", "--shell=bash", "-"]
    done = subprocess.run(checker, input=script, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    lines = [line for line in script.replace("\\\n", " ").splitlines() if not line.startswith("#")]
    split = (re.split(r"-m harness\.cli |\bharness (?=prompt)", line, maxsplit=1)[1:] for line in lines)
    commands = [shlex.split(words) for parts in split for words in parts]
    assert [command[0] for command in commands] == ["finetune", "prompt"]
    for command in commands:
        parse(*command)


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
def test_pods_are_valid_for_kubernetes(pod: dict[str, Any]) -> None:
    assert kubernetes_validate.validate(pod, "1.37", strict=True) == "1.37"


def test_the_command_of_the_server_parses() -> None:
    parse(*PODS["serve"]["spec"]["containers"][0]["command"][1:])


@pytest.mark.parametrize(
    ("gpu", "cuda", "locks"),
    [("0", "13.0", {"cpu.txt"}), ("1", "13.0", {"gpu.txt"}), ("1", "12.9", {"gpu.txt", "cuda-12.9.txt"})],
)
def test_the_image_is_the_environment_of_make_for_each_machine(gpu: str, cuda: str, locks: set[str], tmp_path: Path) -> None:
    steps = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    (made,) = re.findall(r"^RUN (make .*)$", steps, flags=re.MULTILINE)
    command = f"{made} --dry-run VENV={shlex.quote(str(tmp_path))}"
    arguments = {"GPU": gpu, "CUDA": cuda}
    done = subprocess.run(command, shell=True, cwd=ROOT, env={**os.environ, **arguments}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {name for name in ("cpu.txt", "gpu.txt", "cuda-12.9.txt") if f" requirements/{name}" in done.stdout} == locks
    assert ("--torch-backend=cu129" in done.stdout) == (cuda == "12.9")


def test_the_lock_of_cuda_12_differs_from_the_other_only_in_what_is_built_for_cuda() -> None:
    texts = [(ROOT / "requirements" / name).read_text() for name in ("gpu.txt", "cuda-12.9.txt")]
    pins, changed = ({pin.name: pin for pin in map(Requirement, re.findall(r"(?m)^\w.*", text))} for text in texts)
    left_out = {name for name, pin in changed.items() if pin.marker and not pin.marker.evaluate()}
    assert left_out == {name for name in pins if name.endswith("-cu13")}
    for name in changed.keys() - left_out - {"torchcodec", "cuda-bindings", "cuda-python", "cuda-toolkit"}:
        version = str((pins.get(name) or pins[name.replace("-cu12", "-cu13")]).specifier).lstrip("=")
        assert (changed[name].url or str(changed[name].specifier)).startswith((f"=={version}", RELEASE.format(version))), name


def test_hadolint_finds_no_fault_in_the_dockerfile() -> None:
    checker = [f"{sysconfig.get_path('scripts')}/hadolint", str(ROOT / "Dockerfile")]
    done = subprocess.run(checker, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
