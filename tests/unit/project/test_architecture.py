"""CONTRIBUTING's architecture table, the trees of the source and the tests, and the import contract agree."""

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
}
"""Modules outside the layers, with the reasons."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """All imports of the project, including those inside functions and those for types only."""
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def folders() -> set[str]:
    """The packages and the folders right below them."""
    below = (path for name in PACKAGES for path in (ROOT / name).iterdir() if path.is_dir() and path.name != "__pycache__")
    return {*PACKAGES, *(path.relative_to(ROOT).as_posix() for path in below)}


def test_contributing_has_a_line_for_every_folder() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Architecture\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w/]+)` \| (.+) \|$", table, re.MULTILINE)
    assert {folder for folder, _ in rows} == folders()
    assert len(rows) == len(folders())


def misplaced(path: Path) -> str | None:
    """The fault in the place of a file, a path in tests/unit/; None if there is none."""
    folder = path.parent.as_posix()
    if not path.name.startswith("test_"):
        return "holds no tests: what tests share lies in tests/helpers/"
    if folder == "project" or (path.parts[0] in PACKAGES and (ROOT / folder / "__init__.py").is_file()):
        return None
    return f"there is no package {folder}/: put it where what it tests lies, or in tests/unit/project/ if that is the whole"


def test_tests_are_in_the_folder_that_mirrors_their_source() -> None:
    unit = ROOT / "tests" / "unit"
    paths = sorted(path.relative_to(unit) for path in unit.rglob("*.py"))
    wrong = [f"tests/unit/{path}: {problem}" for path in paths if (problem := misplaced(path))]
    assert not wrong, "\n".join(wrong)


def test_shared_helpers_of_tests_are_in_tests_helpers() -> None:
    tests = ROOT / "tests"
    loose = [path.name for path in tests.glob("*.py") if path.name != "conftest.py"]
    assert not loose, f"tests/{loose[0]}: what tests share lies in tests/helpers/"
    for path in tests.rglob("*.py"):
        taken = re.findall(r"^ *(?:from|import) (tests\.(?:unit|integration)\.\S+)", path.read_text(), re.MULTILINE)
        assert not taken, f"{path.relative_to(ROOT)} imports {taken[0]}: move what both need to tests/helpers/"


def test_every_module_stands_in_one_layer_and_every_layer_exists(graph: grimp.ImportGraph) -> None:
    (layers,) = (contract["layers"] for contract in RULES["contracts"] if contract["type"] == "layers")
    named = [name.strip() for layer in layers for name in layer.split("|")]
    assert len(named) == len(set(named))
    assert set(named) <= graph.modules
    layered = set(chain.from_iterable({name, *graph.find_descendants(name)} for name in named))
    assert graph.modules - layered == set(OUTSIDE)


def test_modules_that_other_contracts_name_exist(graph: grimp.ImportGraph) -> None:
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
