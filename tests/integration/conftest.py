"""The built package, and a browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.cli import TOP_LEVEL
from tests.helpers import ROOT
from tests.helpers.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a package, built from a copy of the source, because leftovers of earlier builds would get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "harness_verifiers.py"):
        shutil.copy(ROOT / name, source)
    for name in ("harness", *TOP_LEVEL):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w"]
    subprocess.run([*command, folder, source], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel
