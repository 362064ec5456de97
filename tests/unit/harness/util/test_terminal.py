"""Output to a terminal: colors, but no control sequences from outside texts."""

import os
import pty
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.util.terminal import plain
from tests.helpers import ROOT, cases

CASES = cases(__file__)

ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@given(st.text(st.characters(max_codepoint=0x2100)))
def test_no_control_character_is_left_of_any_text(text: str) -> None:
    assert not ORDERS.search(plain(text))
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(("text", "left"), CASES["left"])
def test_control_sequences_are_removed(text: str, left: str) -> None:
    assert plain(text) == left


def in_terminal(program: str) -> str:
    """The text that a program writes if its output and its errors go to a terminal."""
    master, slave = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    subprocess.run([sys.executable, "-c", program], stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    written = os.read(master, 65536)
    os.close(master)
    return written.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colors_but_no_control_sequences_of_a_text() -> None:
    said = r"a\x1b]0;title\x07b\x1b[2J\x1b[31mred\x1b[0m"
    program = f"import click; from harness.util.terminal import guard_terminal; guard_terminal(); click.echo('{said}')"
    assert in_terminal(program) == "ab\x1b[31mred\x1b[0m\n"
    program = r"from harness.cli import main; main(['adapters', 'show', 'evil\x1b]0;title\x07\x1b[31mname'])"
    assert "\x1b" not in in_terminal(program)
