"""This project as a package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT

NOT_SOURCE = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")


def left_out(folder: str, names: list[str]) -> set[str]:
    """The entries of a project folder that are not part of a wheel."""
    return NOT_SOURCE(folder, names) | ({"runs", "tests", "docs"} & set(names) if Path(folder) == ROOT else set())


def build_wheel(folder: Path) -> Path:
    """The wheel, built in a folder from a copy of the source, because leftovers of earlier builds would get into it."""
    source = shutil.copytree(ROOT, folder / "source", ignore=left_out)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w"]
    subprocess.run([*command, folder, source], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel
