"""The import contract names every module, and no files import each other in a circle."""

import tomllib
from graphlib import CycleError, TopologicalSorter
from itertools import chain

import grimp
import pytest

from tests.helpers import ROOT

RULES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
OUTSIDE = {
    "harness": "holds the version only",
    "harness.errors": "every part may raise an error",
}
"""Modules outside the layers, with the reasons."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """All imports of the project, including those inside functions and those for types only."""
    return grimp.build_graph(*RULES["root_packages"], cache_dir=None)


def test_every_module_stands_in_one_layer_and_every_layer_exists(graph: grimp.ImportGraph) -> None:
    (layers,) = (contract["layers"] for contract in RULES["contracts"] if contract["type"] == "layers")
    named = [name.strip() for layer in layers for name in layer.split(":")]
    assert len(named) == len(set(named))
    assert set(named) <= graph.modules
    layered = set(chain.from_iterable({name, *graph.find_descendants(name)} for name in named))
    assert graph.modules - layered == set(OUTSIDE)


def test_no_files_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
