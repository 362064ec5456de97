"""The import contract names every module, no files import each other in a circle, and CONTRIBUTING names what exists."""

from __future__ import annotations

import re
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
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()


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


def test_paths_and_functions_that_contributing_names_exist() -> None:
    paths = [path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", CONTRIBUTING) if "NAME" not in path]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    # `path.py`: `function`, `Class.member`
    listed = re.findall(r"`([\w/]+\.py)`:((?:,? `[\w.]+`)+)", CONTRIBUTING)
    named = [(path, name.rpartition(".")[2]) for path, names in listed for name in re.findall(r"`([\w.]+)`", names)]
    assert len(named) > 30
    for path, name in named:
        defined = rf"^ *(?:(?:def|class) {name}\b|{name} ?[:=])"
        assert re.search(defined, (ROOT / path).read_text(), re.MULTILINE), f"{path}: {name}"
