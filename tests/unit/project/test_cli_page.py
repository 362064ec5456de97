from __future__ import annotations

from tools.cli_page import PAGE, page


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "if the change is meant: make docs"
