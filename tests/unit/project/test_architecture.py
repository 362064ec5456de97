"""README's architecture table, the tree of the source and of its tests, and the import contract say the same."""

from __future__ import annotations

import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import grimp
import pytest

from tests.helpers import ROOT

RULES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
PACKAGES: list[str] = RULES["root_packages"]
OUTSIDE = {
    "harness": "holds the version only",
    "harness.errors": "every part may raise an error",
    "harness.runs": "its modules stand in layers one by one",
}
"""Modules in no layer, and why."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import of the project, also those inside functions and those for types only."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def folders() -> set[str]:
    """The packages and the folders right below them."""
    below = (path for name in PACKAGES for path in (ROOT / name).iterdir() if path.is_dir() and path.name != "__pycache__")
    return {*PACKAGES, *(path.relative_to(ROOT).as_posix() for path in below)}


def test_the_readme_has_a_line_for_every_folder() -> None:
    table = (ROOT / "README.md").read_text().partition("## Architecture\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w/]+)` \| (.+) \|$", table, re.MULTILINE)
    assert {folder for folder, _ in rows} == folders()
    assert len(rows) == len(folders())


def test_tests_lie_where_their_source_does() -> None:
    unit = ROOT / "tests" / "unit"
    found = {path.parent.relative_to(unit) for path in unit.rglob("test_*.py")} - {Path("project")}
    assert [str(folder) for folder in found if not (ROOT / folder).is_dir()] == []


def test_every_module_stands_in_one_layer_and_every_layer_exists(graph: grimp.ImportGraph) -> None:
    (layers,) = (contract["layers"] for contract in RULES["contracts"] if contract["type"] == "layers")
    named = [name.strip() for layer in layers for name in layer.split("|")]
    assert len(named) == len(set(named))
    assert set(named) <= graph.modules
    layered = set(chain.from_iterable({name, *graph.find_descendants(name)} for name in named))
    assert graph.modules - layered == set(OUTSIDE)


def test_what_other_contracts_name_exists(graph: grimp.ImportGraph) -> None:
    keys = ("source_modules", "forbidden_modules")
    named = {name for contract in RULES["contracts"] for key in keys for name in contract.get(key, ())}
    assert named
    assert named <= graph.modules


def test_no_files_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
