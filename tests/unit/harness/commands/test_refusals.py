"""Commands that cannot be carried out as they are given: exit code 2, a reason, and nothing written."""

import shlex
from pathlib import Path

import pytest

from tests.helpers import Command, cases


@pytest.mark.parametrize(("words", "message"), cases(__file__)["refused"])
@pytest.mark.usefixtures("empty_folder")
def test_what_cannot_be_done_is_refused_with_a_reason(words: str, message: str, command: Command) -> None:
    code, _, err = command(*shlex.split(words))
    assert (code, "Traceback" in err) == (2, False)
    assert message in err
    assert not list(Path().iterdir())
