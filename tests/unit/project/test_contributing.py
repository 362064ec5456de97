"""CONTRIBUTING.md: the paths and functions that it names exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import ROOT

pytestmark = pytest.mark.usefixtures("empty_folder")

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
STEPS = re.findall(r"^\d+\. (.*(?:\n   .*)*)", TEXT, re.MULTILINE)


def defined(path: Path) -> set[str]:
    """The names that a module defines: functions, classes, their members, and assigned names."""
    tree = ast.parse(path.read_text())
    inner = {f"{node.name}.{name}" for node in tree.body if isinstance(node, ast.ClassDef) for name in _names(node)}
    return inner | _names(tree)


def _names(node: ast.Module | ast.ClassDef) -> set[str]:
    found: set[str] = set()
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            found.add(each.name)
        elif isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def named() -> Iterator[tuple[str, str]]:
    """The names in backquotes after a module and a colon, each with its module."""
    for step in STEPS:
        module = ""
        for span, colon in re.findall(r"`([^`]+)`(:?)", step):
            if "/" in span:
                module = span if colon and span.endswith(".py") else ""
            elif module and re.fullmatch(r"[\w.]+", span):
                yield module, span


def test_paths_exist() -> None:
    paths = [path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", TEXT) if "NAME" not in path]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_functions_are_where_the_page_says() -> None:
    found = list(named())
    assert ("prompts/render.py", "Renderer.token_ids") in found
    assert ("adapters/packing.py", "collate") in found
    assert [f"{path}: {name}" for path, name in found if name not in defined(ROOT / path)] == []
