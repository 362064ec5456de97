import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness.cli import COMMANDS, cli, main
from harness.errors import HarnessError, UsageError
from harness.util.registry import resolve
from tests.helpers import ROOT

MODELS = ("torch", "transformers", "vllm", "trl", "peft")
HEAVY = (*MODELS, "datasets", "pyarrow", "nltk", "scipy", "jinja2", "numpy", "matplotlib", "httpx2", "filelock", "yaml", "rich")


def imported(names: tuple[str, ...], *lines: list[str]) -> list[str]:
    """Which of these modules a process has imported after the command lines, all of which succeed."""
    code = (
        "import sys, json; from harness.cli import main; codes = [main(line) for line in json.loads(sys.argv[1])]; "
        f"print(json.dumps([sum(codes), [m for m in {names!r} if m in sys.modules]]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, json.dumps(lines)], capture_output=True, text=True, check=True)
    failed, found = json.loads(done.stderr)
    assert not failed
    return list(found)


def test_every_command_is_there_and_its_help_is_light() -> None:
    assert all(isinstance(resolve("command", name, COMMANDS), click.Command) for name in COMMANDS)
    assert imported(HEAVY, ["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)) == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("prompts/__init__.py", r"the package prompts that Python finds is not the harness's \({}\)"),
        ("adapters-1.2.0.dist-info/METADATA", "another package named adapters is .*"),
        ("adapters_of_mine-1.2.0.dist-info/METADATA", ""),
    ],
)
def test_packages_that_mix_with_ours_are_refused(tmp_path: Path, other: str, said: str) -> None:
    """Another package under one of our names, and an installation of AdapterHub's `adapters`."""
    (tmp_path / other).parent.mkdir()
    (tmp_path / other).touch()
    code = f"import sys; sys.path.append({str(ROOT)!r}); from harness.cli import main; sys.exit(main(['--help']))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == (1 if said else 0)
    if said:
        assert done.stdout == ""
        assert re.fullmatch(f"Error: {said.format(re.escape(str(tmp_path / other)))}: .* fresh .*\n", done.stderr)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """A subcommand `data` that raises the exception in the list."""
    errors: list[BaseException] = []

    @click.command()
    def fail() -> None:
        raise errors[0]

    monkeypatch.setattr(cli, "get_command", lambda ctx, name: fail)
    return errors


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (HarnessError("file.jsonl, line 3:\n  not JSON"), 1, "Error: file.jsonl, line 3: not JSON"),
        (UsageError("--shots -1: at least 0"), 2, "Error: --shots -1: at least 0"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (ZeroDivisionError("no"), 1, "Error: ZeroDivisionError: no (a bug; `harness --debug ...` shows where)"),
    ],
)
def test_errors_have_one_line_and_their_exit_code(
    broken: list[BaseException], error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken.append(error)
    assert main(["data"]) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err.strip()) == ("", line)
    if isinstance(error, HarnessError):
        with pytest.raises(HarnessError):
            main(["--debug", "data"])
