"""The built package: its top-level names, and the data that must travel with the code."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.helpers import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

NOT_SOURCE = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__")


def left_out(folder: str, names: list[str]) -> set[str]:
    """Of what is in a folder of the project, that which makes no part of a wheel."""
    return NOT_SOURCE(folder, names) | ({"runs", "tests", "docs"} & set(names) if Path(folder) == ROOT else set())


def test_the_wheel_holds_the_packages_and_their_data(tmp_path: Path) -> None:
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=left_out)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w"]
    subprocess.run([*command, tmp_path, source], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"harness", "serialization", "prompts", "adapters", "eval", "harness_verifiers.py"}
    packages = sorted(tops - {"harness_verifiers.py"})
    shipped = [p for top in packages for p in (ROOT / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    missing = {str(path.relative_to(ROOT)) for path in shipped} - set(names)
    assert not missing
    for kind in (".safetensors", ".yaml", ".jinja", ".txt", ".jsonl", ".xml", ".json"):
        assert any(name.endswith(kind) for name in names), kind
