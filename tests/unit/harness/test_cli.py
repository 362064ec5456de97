from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness.cli import COMMANDS, SECTIONS, cli, main
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


def test_help_imports_nothing_heavy() -> None:
    assert imported(HEAVY, ["--help"], ["--version"]) == []


def test_options_of_commands_are_fields_of_models() -> None:
    groups: list[click.Command] = [resolve("command", name, COMMANDS) for name in COMMANDS]
    leaves = [leaf for group in groups for leaf in (group.commands.values() if isinstance(group, click.Group) else [group])]
    by_hand = [leaf.name for leaf in leaves if any(type(param) is click.Option for param in leaf.params)]
    assert (len(leaves) > len(groups), by_hand) == (True, [])


def test_every_command_is_there_and_its_help_is_light() -> None:
    assert all(isinstance(resolve("command", name, COMMANDS), click.Command) for name in COMMANDS)
    assert imported(HEAVY, *([name, "--help"] for name in COMMANDS)) == []


@pytest.mark.parametrize("name", ["adapters", "prompts"])
def test_another_package_under_one_of_our_names_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    done = beside(tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    where = re.escape(str(tmp_path / name / "__init__.py"))
    assert re.fullmatch(
        rf"Error: the package {name} that Python finds is not the harness's \({where}\): .* fresh .*\n", done.stderr
    )


def test_an_installation_of_another_adapters_is_refused(tmp_path: Path) -> None:
    about = tmp_path / "adapters-1.2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: adapters\nVersion: 1.2.0\n")
    done = beside(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(rf"Error: another package named adapters is .* \({re.escape(str(about))}\): .* fresh .*\n", done.stderr)
    about.rename(tmp_path / "adapters_of_mine-1.2.0.dist-info")
    assert beside(tmp_path).returncode == 0


def beside(folder: Path) -> subprocess.CompletedProcess[str]:
    """The result of `harness --help` if a folder of other packages precedes the project's."""
    root = str(ROOT)
    code = f"import sys; sys.path.append({root!r}); from harness.cli import main; sys.exit(main(['--help']))"
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, env=environment, check=False)


def test_help_groups_every_command_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    groups = [part.splitlines() for part in capsys.readouterr().out.strip().split("\n\n")][-len(SECTIONS) :]
    assert [title for title, *_ in groups] == ["Run models:", "Train:", "Data:", "Evaluate:", "Look:"]
    listed = [line.split()[0] for _, *lines in groups for line in lines]
    assert listed == list(COMMANDS)
    assert len(listed) == sum(map(len, SECTIONS.values()))


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
        (
            ZeroDivisionError("division by zero"),
            1,
            "Error: ZeroDivisionError: division by zero (a bug; `harness --debug ...` shows where)",
        ),
    ],
)
def test_errors_have_one_line_and_their_exit_code(
    broken: list[BaseException], error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken.append(error)
    assert main(["data"]) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err.strip()) == ("", line)


def test_debug_shows_the_traceback(broken: list[BaseException]) -> None:
    broken.append(HarnessError("x"))
    with pytest.raises(HarnessError):
        main(["--debug", "data"])


def test_a_wrong_flag_and_a_wrong_command_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--nonsense"]) == 2
    assert main(["pront"]) == 2
    assert "pront" in capsys.readouterr().err


def test_no_source_file_names_a_machine_or_evaluates_text() -> None:
    for folder in ("harness", "serialization", "prompts", "adapters", "eval", "tools"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            assert "/work/" not in text, path
            assert not re.search(r"\b(import|from) c?pickle|pickle\.loads?\b|allow_pickle", text), path
