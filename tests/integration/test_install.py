"""The wheel, installed as a user does: what its core does in a fresh environment, and what it says without an extra."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
import yaml

from harness.cli import TOP_LEVEL
from tests.helpers import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]

PACKAGES = ("harness", *TOP_LEVEL)


def test_the_wheel_holds_the_packages_and_their_data(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in names} == {*PACKAGES, "harness_verifiers.py"}
    files = (path for top in PACKAGES for path in (ROOT / top).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert {str(path.relative_to(ROOT)) for path in files} <= names


def called(place: Path, folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    """Runs the installed `harness` in a folder, without this project's own modules."""
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HARNESS_DATA")}
    variables["HARNESS_CACHE"] = str(folder / "cache")
    return subprocess.run(
        [place / "bin/harness", *words.split()], cwd=folder, env=variables, capture_output=True, text=True, timeout=200
    )


@pytest.fixture(scope="module", params=["3.11", "3.12", "3.13"])
def place(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment of a version of Python with the wheel and its core dependencies."""
    folder = tmp_path_factory.mktemp("place")
    made = subprocess.run(
        [sys.executable, "-m", "virtualenv", "--quiet", "-p", request.param, folder], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"there is no Python {request.param} here")
    install = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_core_scores_and_says_what_else_is_needed(place: Path, tmp_path: Path) -> None:
    for words in (
        "--help",
        "data list",
        "baseline predict parser --task minecraft --name run",
        "score run --json",
        "baseline predict parser --task hexagons --name drawings",
        "score drawings",
        "plugins lm-eval",
    ):
        done = called(place, tmp_path, words)
        assert done.returncode == 0, (words, done.stderr)
        if words == "score run --json":
            assert json.loads(done.stdout)
    shutil.copytree(tmp_path / "runs/run", tmp_path / "runs/other")
    (tmp_path / "answers.jsonl").write_text('{"id": "hexagons/dev/5/1", "text": ""}')
    assert called(place, tmp_path, "compare run other").returncode == 0
    for words, extra in yaml.safe_load(Path(__file__).with_name("needed_extras.yaml").read_text()).items():
        done = called(place, tmp_path, words)
        lines = done.stderr.splitlines()
        assert done.returncode == 1, (words, done.stdout, lines)
        assert lines[-1].startswith(f"Error: harness {words.split()[0]} needs "), (words, lines)
        assert lines[-1].endswith(f"not installed: pip install 'grid-world-harness[{extra}]'"), (words, lines)


def test_the_core_has_at_most_twelve_dependencies(place: Path) -> None:
    (folder,) = place.glob("lib/python*/site-packages/grid_world_harness-*.dist-info")
    assert sum("extra ==" not in line for line in PathDistribution(folder).requires or ()) <= 12
