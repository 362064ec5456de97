"""`harness adapters`: listing, showing, checking and exporting adapters, and finding them by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from adapters.registry import CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, find_adapter, load_adapter
from harness.cli import main
from harness.engines.bases import fingerprint
from harness.engines.weights import weights_fingerprint
from harness.errors import AdapterError, UsageError
from prompts.messages import gold_answer
from prompts.probe import described, format_hash
from prompts.spec import PromptSpec
from tests.helpers.tiny import build_tiny_adapter, build_tiny_model

SPEC = PromptSpec.make("hexagons")
CURVE = [{"step": 0, "seconds": 1, "dev_loss": 2.5, "dev_f1": 0.0}, {"step": 9, "seconds": 20, "train_loss": 0.5, "dev_f1": 0.25}]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def adapter(base: Path) -> Path:
    """An adapter as `harness finetune` leaves it."""
    from adapters.recipe import load_recipe

    folder = build_tiny_adapter(base, base.parent / "made" / "adapter")
    recipe = {"name": "llama-lora", **load_recipe("llama-lora", ["training.epochs=7"]).model_dump()}
    counts = {"items": 40, "rows": 38, "dropped": 2, "steps": 9, "seconds": 20.4, "curve": CURVE}
    more = {"base": "tiny", "base_fingerprint": weights_fingerprint(base), "recipe": recipe, **counts}
    (folder / HARNESS_FILE).write_text(json.dumps({**described(SPEC), **more}))
    return folder


@pytest.fixture(autouse=True)
def here(adapter: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the base in it, an adapter in runs/mine and one that ships."""
    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    for module in ("registry", "catalog"):
        monkeypatch.setattr(f"adapters.{module}.SHIPPED", tmp_path / "trained")
    shutil.copytree(base, tmp_path / "tiny")
    shutil.copytree(adapter, tmp_path / "runs/mine/adapter")
    shutil.copytree(adapter, tmp_path / "trained/hexagons")
    return tmp_path


def run(*words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["adapters", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


class TestNames:
    def test_a_folder_comes_before_a_shipped_name_and_that_before_a_run(self, here: Path, adapter: Path) -> None:
        assert find_adapter("hexagons") == here / "trained/hexagons"
        assert find_adapter("mine") == Path("runs/mine/adapter")
        shutil.copytree(adapter, "runs/hexagons/adapter")
        assert find_adapter("hexagons") == here / "trained/hexagons"
        shutil.copytree(adapter, "hexagons")
        assert find_adapter("hexagons") == Path("hexagons")

    def test_a_folder_that_only_has_the_name_hides_nothing(self, here: Path) -> None:
        Path("hexagons").mkdir()
        assert find_adapter("hexagons") == here / "trained/hexagons"

    def test_a_wrong_name_lists_the_known_ones(self) -> None:
        with pytest.raises(UsageError, match=r"no adapter named 'hexagon': did you mean hexagons[?] known: hexagons, mine"):
            find_adapter("hexagon")

    def test_where_there_are_none_it_says_so(self) -> None:
        shutil.rmtree("runs")
        shutil.rmtree("trained")
        with pytest.raises(UsageError, match="there are none here"):
            find_adapter("hexagons")

    def test_a_path_and_an_unfinished_run_are_told_as_what_they_are(self) -> None:
        Path("runs/begun").mkdir()
        for name in ("some/where", "begun"):
            with pytest.raises(AdapterError, match=rf"{name} holds no adapter of this harness: {CONFIG_FILE} is not there"):
                find_adapter(name)

    def test_its_own_base_is_the_default(self) -> None:
        assert load_adapter("mine", None).base == "tiny"

    def test_its_own_base_may_not_be_here(self) -> None:
        shutil.rmtree("tiny")
        with pytest.raises(AdapterError, match="trained on the base tiny in a local folder: give that folder with --base"):
            load_adapter("mine", None)


class TestList:
    def test_it_says_what_each_is(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = run("list", capsys=capsys)
        assert (code, err) == (0, "")
        lines = [line.split() for line in out.splitlines() if "hexagons" in line]
        assert [line[:2] for line in lines] == [["hexagons", "shipped"], ["mine", "runs/mine"]]
        assert all("25.00" in line and "full-history/grouped/world" in line for line in lines)

    def test_as_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = json.loads(run("list", "--json", capsys=capsys)[1])
        assert [(one["name"], one["where"], one["base"]) for one in found] == [
            ("hexagons", "shipped", "tiny"),
            ("mine", "runs/mine", "tiny"),
        ]

    def test_a_broken_one_is_left_out_aloud(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("runs/mine/adapter/harness.json").write_text("{}")
        code, out, err = run("list", capsys=capsys)
        assert (code, "mine" in out) == (0, False)
        assert err.startswith("left out: runs/mine/adapter/harness.json: task: Field required")

    def test_none(self, capsys: pytest.CaptureFixture[str]) -> None:
        shutil.rmtree("runs")
        shutil.rmtree("trained")
        assert "No adapters here" in run("list", capsys=capsys)[1]
        assert json.loads(run("list", "--json", capsys=capsys)[1]) == []


def test_show_tells_recipe_fingerprints_and_training(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("show", "mine", capsys=capsys)
    assert code == 0
    for word in (
        format_hash(SPEC),
        str(weights_fingerprint(base)),
        str(fingerprint("runs/mine/adapter")),
        "9 steps on 40 items",
        '"epochs": 7',
    ):
        assert word in out
    said = json.loads(run("show", "mine", "--json", capsys=capsys)[1])
    assert (said["curve"], said["scores"]) == (CURVE, [])


class TestCheck:
    def test_one_that_fits(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = run("check", "mine", capsys=capsys)
        assert code == 0
        assert out.startswith("mine fits tiny (")
        assert f"hexagons/full-history/grouped/world ({format_hash(SPEC)}): rank 4, " in out

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda w: {**w, next(iter(w)): next(iter(w.values())) * float("nan")}, "are not numbers"),
            (lambda w: {k: v * 0 if "lora_B" in k else v for k, v in w.items()}, "changes nothing"),
            (lambda w: {k: torch.cat([v] * 2, 0) if "lora_A" in k else v for k, v in w.items()}, "has rank 8"),
            (lambda w: {}, "holds no weights"),
        ],
    )
    def test_wrong_weights_are_one_line_and_exit_1(self, change: Any, message: str, capsys: pytest.CaptureFixture[str]) -> None:
        path = Path("runs/mine/adapter") / WEIGHTS_FILE
        save_file(change(load_file(path)), path)
        code, out, err = run("check", "mine", capsys=capsys)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert message in err

    def test_another_base_and_another_prompt(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        other = build_tiny_model(tmp_path / "other", seed=1)
        code, _, err = run("check", "mine", "--base", str(other), capsys=capsys)
        assert (code, "was trained on the base tiny" in err) == (1, True)
        path = Path("runs/mine/adapter") / HARNESS_FILE
        path.write_text(path.read_text().replace(format_hash(SPEC), "0" * 16))
        code, _, err = run("check", "mine", capsys=capsys)
        assert (code, "train the adapter again" in err) == (1, True)

    def test_the_merged_model_answers_as_peft_does(self, capsys: pytest.CaptureFixture[str]) -> None:
        words = ("check", "mine", "--items", "6", "--engine", "transformers", "--max-new-tokens", "8")
        code, out, err = run(*words, capsys=capsys)
        assert code == 0
        assert "6 dev items: 6 equal actions, 6 equal texts" in out
        assert err.startswith("merging the adapter into a copy of tiny")
        assert err.count("\n") == 1


class TestExport:
    def scored(self, adapter: str) -> None:
        """A run of perfect answers that says it used the adapter."""
        import yaml

        from harness.corpora import load

        lines = [json.dumps({"id": i.id, "text": gold_answer(i, SPEC)}) for i in load("hexagons", "dev")]
        Path("script.jsonl").write_text("\n".join(lines) + "\n")
        assert main(["prompt", "--engine", "scripted", "--model", "script.jsonl", "--name", "run", "--shots", "2"]) == 0
        said = yaml.safe_load(Path("runs/run/run.yaml").read_text())
        said["settings"] |= {"adapter": adapter, "engine": "vllm"}
        Path("runs/run/run.yaml").write_text(yaml.safe_dump(said))

    def test_it_is_half_the_size_and_loads(self, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, _ = run("export", "mine", "given", capsys=capsys)
        assert code == 0
        assert out.startswith("given: 0.0 MB of weights in float16")
        kept, exact = load_file(f"given/{WEIGHTS_FILE}"), load_file(f"runs/mine/adapter/{WEIGHTS_FILE}")
        assert {value.dtype for value in kept.values()} == {torch.float16}
        assert all(torch.allclose(kept[name].float(), exact[name], rtol=1e-3, atol=1e-6) for name in exact)
        assert load_adapter("given", str(base)).spec == SPEC
        assert json.loads(Path(f"given/{CONFIG_FILE}").read_text())["base_model_name_or_path"] == "tiny"
        assert {path.name for path in Path("given").iterdir()} == {CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, "README.md"}

    def test_its_card_says_how_it_was_made_and_how_good_it_is(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.scored("mine")
        assert run("export", "mine", "painter", "--scores", "run", capsys=capsys)[0] == 0
        card = Path("painter/README.md").read_text()
        for text in (
            "# painter\n",
            "harness finetune llama-lora --task hexagons --set training.epochs=7.0 --base tiny --name painter\n",
            "harness prompt --adapter painter --split dev --shots 2\n",
            "| 9 | 20 | 0.500 |  | 25.0 |\n",
            "| 100.00 [100.0, 100.0] |",
            "40 items, 38 rows; 2 were too",
            "MIT, written for this project.",
            f"({format_hash(SPEC)})",
        ):
            assert text in card, text
        assert "None" not in card
        assert str(Path.cwd()) not in card
        shutil.copytree("painter", "trained/painter")
        found = {one["name"]: one["dev"] for one in json.loads(run("list", "--json", capsys=capsys)[1])}
        assert found["painter"] == "100.00 [100.0, 100.0]"
        out = run("show", "painter", capsys=capsys)[1]
        assert "dev: F1 100.00" in out
        assert "# painter" in out

    def test_scores_of_another_adapter_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.scored("hexagons")
        code, _, err = run("export", "mine", "given", "--scores", "run", capsys=capsys)
        assert (code, "the run used hexagons, not runs/mine/adapter" in err) == (2, True)
        assert not Path("given").exists()

    def test_what_float16_cannot_hold_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        path = Path("runs/mine/adapter") / WEIGHTS_FILE
        for factor in (1e-8, 1e9):
            exact = load_file(path)
            save_file({name: value * factor for name, value in exact.items()}, path)
            code, _, err = run("export", "mine", "given", capsys=capsys)
            assert (code, "float16 cannot hold" in err) == (1, True)
            save_file(exact, path)
        assert not [path for path in Path().iterdir() if "given" in path.name]

    def test_one_too_large_to_ship_needs_to_be_asked_for(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("adapters.shipping.MAX_BYTES", 1000)
        code, _, err = run("export", "mine", "given", capsys=capsys)
        assert (code, "--large" in err) == (1, True)
        assert run("export", "mine", "given", "--large", capsys=capsys)[0] == 0
        code, _, err = run("export", "mine", "given", capsys=capsys)
        assert (code, "given already exists" in err) == (2, True)
