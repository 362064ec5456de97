"""The shipped adapters: each loads on its base, fits the current prompts and answers some real items as well as once measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.registry import SHIPPED, load_adapter
from harness.engines.models.bases import resolve_base
from harness.util.files import cache_folder
from tests.helpers import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

NAMES = sorted(path.name for path in SHIPPED.glob("*") if path.is_dir())
ITEMS = 24
F1 = {"hexagons": 0.758, "iglu": 0.651, "minecraft": 0.201}
"""The scores on the first `ITEMS` dev items: action F1, or micro F1 of the kinds of net actions."""


@pytest.fixture(scope="module", autouse=True)
def _base() -> None:
    """The real base, converted once for all tests."""
    resolve_base(None)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small_and_fits_the_default_base_and_todays_prompts(name: str) -> None:
    adapter = load_adapter(name, None)
    assert adapter.base == resolve_base(None)
    assert sum(path.stat().st_size for path in adapter.path.iterdir()) < 12_500_000
    card = (adapter.path / "README.md").read_text()
    assert all(words in card for words in ("## How it was made", "## Scores", "[", "## Licenses", "Apache-2.0"))


@pytest.mark.data
@pytest.mark.parametrize("name", NAMES)
def test_it_scores_what_it_scored(name: str, data_dir: Path, tmp_path: Path) -> None:
    """Three answers of the slice may differ, because another machine may compute in float32 or in bfloat16."""
    words = [sys.executable, "-m", "harness.cli", "prompt", "--adapter", name, "--limit", str(ITEMS), "--json"]
    environment = os.environ | {"HARNESS_DATA": str(data_dir), "HARNESS_CACHE": str(cache_folder()), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*words, "--task", load_adapter(name, None).spec.task], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout.splitlines()[-1])
    found = scores["action"]["f1"] if scores["task"] == "hexagons" else scores["micro"]["type"]["f1"]
    assert found == pytest.approx(F1[name], abs=0.1)
