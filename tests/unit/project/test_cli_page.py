from __future__ import annotations

import pytest

from harness.cli import COMMANDS
from tools.cli_page import PAGE, page


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "if the change is meant: make docs"


def test_every_command_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = page()
    assert all(f"\n### harness {name}\n" in text for name in COMMANDS)
    assert "### harness annotate agreement\n" in text
    assert text == PAGE.read_text()
