"""The commit hooks and a hosted CI run the same checks as `make`."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import yaml

from tests.helpers import ROOT
from tools.cli_page import PAGE, page

MAKEFILE = (ROOT / "Makefile").read_text()


def test_hooks_are_the_checks_of_make_with_the_projects_own_tools() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"] for hook in repository["hooks"]]
    rules = re.search(r"^check:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert rules
    checks = [line.strip().replace("$(BIN)", ".venv/bin") for line in rules[1].splitlines()]
    assert sorted(entries) == sorted(check.removesuffix(" --check") for check in checks)


def test_hooks_are_valid() -> None:
    pytest.importorskip("pre_commit")
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(ROOT / ".pre-commit-config.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_ci_runs_checks_tests_and_the_demo_everywhere() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    targets = re.findall(r"^make ([a-z-]+)$", script, re.MULTILINE)
    assert targets == ["check", "test-all", "demo"]
    assert all(re.search(f"^{target}:", MAKEFILE, re.MULTILINE) for target in targets)
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "if the change is meant: make docs"
