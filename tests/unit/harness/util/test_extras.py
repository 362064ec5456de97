"""What a command says whose extra is not installed."""

from importlib import metadata

import pytest

from harness.cli import main
from harness.util.extras import missing_extra, require

REQUIRED = [
    "click>=8.2",
    'click-nothing[more]>=1; extra == "page"',
    'numpy>=1; extra == "train"',
    'no-torch>=2; extra == "train"',
    "no-bits>=1; sys_platform == 'linux' and extra == 'train'",
    'no-torch>=2; extra == "alone"',
    'no-web>=1; extra == "page"',
    'no-web>=1; extra == "serve"',
]


@pytest.fixture(autouse=True)
def _required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRED)


@pytest.mark.parametrize(
    ("command", "module", "line"),
    [
        ("models", "no_bits.nn", "harness models needs no-torch and no-bits, which are not installed: pip install '{}[train]'"),
        ("models", "no_torch", "harness models needs no-torch and no-bits, which are not installed: pip install '{}[train]'"),
        ("check", "no_torch", "harness check needs no-torch, which is not installed: pip install '{}[alone]'"),
        ("app", "no_web", "harness app needs click-nothing and no-web, which are not installed: pip install '{}[page]'"),
        ("serve", "no_web.sockets", "harness serve needs no-web, which is not installed: pip install '{}[serve]'"),
    ],
)
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
