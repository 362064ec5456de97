"""Each shipped adapter loads on its base, fits the prompts of today, and scores what it once scored."""

import json

import pytest

from adapters.registry import SHIPPED, load_adapter, read_record
from harness.engines.models.bases import display_name, resolve_base
from harness.engines.models.known import KNOWN
from harness.errors import HarnessError
from tests.helpers import Command

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

NAMES = sorted(path.name for path in SHIPPED.glob("*") if path.is_dir())
ITEMS = 24
F1 = {
    ("hexagons", "hexagons"): 0.758,
    ("hexagons-qwen", "hexagons"): 0.790,
    ("builder", "iglu"): 0.595,
    ("builder-qwen", "iglu"): 0.912,
    ("builder-qwen", "minecraft"): 0.674,
}
"""The scores on the first `ITEMS` dev items by adapter and task: action F1, or micro F1 of the kinds of net actions."""


def on_this_machine(name: str) -> str:
    """The folder of a base, which the tests' cache borrows from the user's; skips the test if the base has not been fetched."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HARNESS_CACHE")
        fetched = KNOWN[name].folder
    if fetched.is_dir() and not (lent := KNOWN[name].folder).exists():
        lent.parent.mkdir(parents=True, exist_ok=True)
        lent.symlink_to(fetched)
    try:
        return resolve_base(name)
    except HarnessError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["smollm2-135m", "qwen2.5-coder-0.5b"])
def test_its_adapters_are_small_and_fit_todays_prompts(name: str) -> None:
    base = on_this_machine(name)
    own = [name for name in NAMES if read_record(SHIPPED / name).base == display_name(base)]
    assert len(own) == 2
    for one in own:
        adapter = load_adapter(one, None)
        assert adapter.base == base
        card = (adapter.path / "README.md").read_text()
        assert all(words in card for words in ("## How it was made", "## Scores", "[", "## Licenses", "Apache-2.0"))


@pytest.mark.data
@pytest.mark.parametrize(("name", "task"), F1)
def test_it_scores_what_it_scored(name: str, task: str, command: Command, empty_folder: None) -> None:
    """Three answers of the slice may differ, because another machine may compute in float32 or in bfloat16."""
    on_this_machine(read_record(SHIPPED / name).base)
    code, printed, error = command("prompt", "--adapter", name, "--limit", ITEMS, "--task", task, "--json")
    assert code == 0, error
    scores = json.loads(printed.splitlines()[-1])
    found = scores["action"]["f1"] if scores["task"] == "hexagons" else scores["micro"]["type"]["f1"]
    assert found == pytest.approx(F1[name, task], abs=0.1)
