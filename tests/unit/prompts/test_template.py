"""Prompt templates: shipped ones by name, a user's own as a folder, and refusals."""

import os
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from prompts.messages import conversation
from prompts.probe import PROBES, format_hash
from prompts.render import Renderer
from prompts.spec import PromptSpec
from tests.helpers import cases
from tests.helpers.tiny import build_tiny_model

CASES = cases(__file__)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A template that replaces one file of the default template."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "minecraft.user.txt").write_text("{% for turn in turns %}\n- {{ turn }}\n{% endfor %}\n")
    return tmp_path / "mine"


def tokenizer(folder: Path, *, chat: bool) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(build_tiny_model(folder, chat=chat))


@pytest.mark.parametrize("chat", [False, True])
def test_nebula_writes_the_papers_text_with_one_bos_and_no_chat_template(tmp_path: Path, chat: bool) -> None:
    item = PROBES["minecraft"][0]
    spec = PromptSpec.make("minecraft", template="nebula")
    assert (spec.context_name, spec.format_name) == ("full-dialogue+mission", "lines")
    renderer = Renderer(spec, tokenizer(tmp_path / "tiny", chat=chat), 100_000, 1)
    prompt, answer = renderer.training_text(item)
    assert prompt.startswith("<s>Predict the action sequence (AS) for the Minecraft excerpt:\n <Builder>")
    assert answer == " place blue -1 1 2\npick 0 2 2</s>"
    assert renderer.render(item).text == prompt
    assert renderer.training_row(item).token_ids.count(renderer.tokenizer.bos_token_id) == 1


def test_a_folder_takes_the_place_of_the_files_that_it_has(folder: Path) -> None:
    item = PROBES["minecraft"][0]
    ours, theirs = PromptSpec.make("minecraft"), PromptSpec.make("minecraft", template=str(folder))
    (system, *_, old), (same, *_, new) = conversation(item, ours), conversation(item, theirs)
    assert same == system
    assert new["content"].startswith("- <Architect> Build 2 <tower>.\n- <Builder> ok\n")
    assert old["content"] != new["content"]
    assert theirs.name == f"{ours.name}/mine"
    assert format_hash(ours) != format_hash(theirs)


@pytest.mark.parametrize(("text", "problem"), CASES["faults"])
def test_a_fault_in_a_file_is_named_with_its_line(folder: Path, text: str, problem: str) -> None:
    (folder / "minecraft.user.txt").write_text(text)
    with pytest.raises(UsageError, match=problem) as refused:
        format_hash(PromptSpec.make("minecraft", template=str(folder)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ("hexagons: {format: triplets}", "is for hexagons, not for minecraft"),
        ("minecraft: {fromat: lines}", r"defaults\.yaml: unknown key 'fromat'"),
        ("[minecraft]", r"defaults\.yaml: it must give tasks"),
        ("minecraft: {format: limes}", "did you mean lines"),
        ("minecraft: &m [*m]", "without aliases"),
        ("# " + "x" * 20_000, r"in at most 10,000 characters"),
    ],
)
def test_choices_that_do_not_fit_are_refused(folder: Path, choices: str, problem: str) -> None:
    (folder / "defaults.yaml").write_text(choices)
    with pytest.raises(UsageError, match=problem):
        PromptSpec.make("minecraft", template=str(folder))


@pytest.mark.parametrize("place", ["minecraft.system.txt", "notes", "deep/er/answer.lines.txt"])
@pytest.mark.parametrize("target", ["secret.txt", "."])
def test_a_link_below_the_folder_is_refused(folder: Path, place: str, target: str) -> None:
    (folder.parent / "secret.txt").write_text("secret")
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).symlink_to(folder.parent / target)
    with pytest.raises(UsageError, match=f"{place} is a symbolic link: put the file itself"):
        PromptSpec.make("minecraft", template=str(folder))


def test_only_regular_files_of_a_bounded_size_and_number_are_read(folder: Path) -> None:
    os.mkfifo(folder / "minecraft.system.txt")
    (folder / ".git").mkdir()
    (folder / ".git" / "link").symlink_to(folder)
    assert list(PromptSpec.make("minecraft", template=str(folder)).template.files) == ["minecraft.user.txt"]
    with (folder / "answer.json.txt").open("wb") as large:
        large.truncate(1 << 40)
    with pytest.raises(UsageError, match="more than 200 files or 1,000,000 bytes"):
        PromptSpec.make("minecraft", template=str(folder))
    (folder / "answer.json.txt").unlink()
    for n in range(201):
        (folder / f"{n}.txt").touch()
    with pytest.raises(UsageError, match="more than 200 files or 1,000,000 bytes"):
        PromptSpec.make("minecraft", template=str(folder))


def test_a_file_that_is_named_after_a_task_of_another_name_than_its_world_is_refused(folder: Path) -> None:
    (folder / "iglu.system.txt").write_text("Build.")
    with pytest.raises(UsageError, match=r"iglu\.system\.txt: a template's files are named by world: minecraft\.system\.txt"):
        PromptSpec.make("iglu", template=str(folder))
