"""The built package: its top-level names, and the data that must ship with the code."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.wheel import build_wheel

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(300)]


def test_the_wheel_holds_the_packages_and_their_data(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path)
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"harness", "serialization", "prompts", "adapters", "eval", "harness_verifiers.py"}
    packages = sorted(tops - {"harness_verifiers.py"})
    shipped = [p for top in packages for p in (ROOT / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    missing = {str(path.relative_to(ROOT)) for path in shipped} - set(names)
    assert not missing
    for kind in (".safetensors", ".yaml", ".jinja", ".txt", ".jsonl", ".xml", ".json"):
        assert any(name.endswith(kind) for name in names), kind
