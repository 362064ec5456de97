"""What a command says whose extra is not installed."""

from importlib import metadata

import pytest

from harness.cli import main
from harness.util.extras import missing_extra, require
from tests.helpers import cases

CASES = cases(__file__)


@pytest.fixture(autouse=True)
def _required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: CASES["required"])


@pytest.mark.parametrize(("command", "module", "line"), CASES["missing"])
def test_the_line_names_what_is_missing_and_how_to_install_it(command: str, module: str, line: str) -> None:
    assert missing_extra(command, module) == line.format("grid-world-harness")


def test_a_module_of_no_extra_is_no_matter_of_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_extra("check", "click") is None

    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    assert missing_extra("check", "no_torch") is None


def test_the_command_line_says_it_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("harness.cli.check_names", lambda: require("no_torch"))
    assert main(["check", "x"]) == 1
    assert capsys.readouterr().err == (
        "Error: harness check needs no-torch, which is not installed: pip install 'grid-world-harness[alone]'\n"
    )
