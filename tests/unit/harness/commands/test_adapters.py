"""`harness adapters`: listing, showing, checking and exporting adapters, and finding them by name."""

import hashlib
import json
import re
import shlex
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from huggingface_hub import ModelCard
from safetensors.torch import load_file, save_file

from adapters.merging import merged_model
from adapters.options import Finetune
from adapters.recipe import load_recipe
from adapters.registry import CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, find_adapter, load_adapter, read_record
from harness.cli import main
from harness.corpora import load
from harness.engines.models.bases import fingerprint
from harness.engines.models.weights import weights_fingerprint
from harness.errors import AdapterError, UsageError
from prompts.messages import gold_answer
from prompts.probe import format_hash
from prompts.spec import PromptSpec
from tests.helpers import Command, cases
from tests.helpers.scored import run_records, write_lines
from tests.helpers.tiny import build_tiny_adapter, hub_snapshot, save_tiny_adapter

SPEC = PromptSpec.make("hexagons")
CURVE = [{"step": 0, "seconds": 1, "dev_loss": 2.5, "dev_f1": 0.0}, {"step": 9, "seconds": 20, "train_loss": 0.5, "dev_f1": 0.25}]


@pytest.fixture(scope="module")
def adapter(base: Path) -> Path:
    """An adapter as `harness finetune` leaves it."""
    recipe = {"name": "llama-lora", **load_recipe("llama-lora", ["training.epochs=7"]).model_dump()}
    # Keys of earlier versions.
    recipe["training"]["lasting"] = True
    recipe["data"][0]["weight"] = 0.5
    counts: dict[str, Any] = {"items": 40, "rows": 38, "dropped": 2, "steps": 9, "seconds": 20.4, "curve": CURVE}
    return save_tiny_adapter(base, base.parent / "made" / "adapter", SPEC, recipe=recipe, **counts)


@pytest.fixture(autouse=True)
def here(adapter: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the base, an adapter in runs/mine, and a shipped adapter."""
    monkeypatch.chdir(tmp_path)
    for module in ("registry", "catalog"):
        monkeypatch.setattr(f"adapters.{module}.SHIPPED", tmp_path / "trained")
    shutil.copytree(base, tmp_path / "tiny")
    shutil.copytree(adapter, tmp_path / "runs/mine/adapter")
    shutil.copytree(adapter, tmp_path / "trained/hexagons")
    return tmp_path


@pytest.fixture
def run(command: Command) -> Command:
    return partial(command, "adapters")


def change(path: str, **fields: Any) -> None:
    """Changes fields of a JSON file."""
    Path(path).write_text(json.dumps(json.loads(Path(path).read_text()) | fields))


class TestNames:
    def test_a_folder_comes_before_a_shipped_name_and_that_before_a_run(self, here: Path, adapter: Path) -> None:
        assert find_adapter("hexagons") == here / "trained/hexagons"
        assert find_adapter("mine") == Path("runs/mine/adapter")
        shutil.copytree(adapter, "runs/hexagons/adapter")
        assert find_adapter("hexagons") == here / "trained/hexagons"
        shutil.copytree(adapter, "hexagons")
        assert find_adapter("hexagons") == Path("hexagons")

    def test_what_is_not_an_adapter_is_reported_as_such(self) -> None:
        with pytest.raises(UsageError, match=r"no adapter named 'hexagon': did you mean hexagons[?] known: hexagons, mine"):
            find_adapter("hexagon")
        Path("runs/begun").mkdir()
        for name, why in (("some/where", ": no such folder is here"), ("begun", f" of this harness: {CONFIG_FILE} is not there")):
            with pytest.raises(AdapterError, match=f"{name} holds no adapter{why}"):
                find_adapter(name)


class TestList:
    def test_it_says_what_each_is_and_leaves_out_a_broken_one_with_a_message(self, run: Command) -> None:
        code, out, err = run("list")
        assert (code, err) == (0, "")
        lines = [line.split() for line in out.splitlines() if "hexagons" in line]
        assert [line[:2] for line in lines] == [["hexagons", "shipped"], ["mine", "runs/mine"]]
        assert all("25.00" in line and "full-history/grouped/world" in line for line in lines)
        Path("runs/mine/adapter/harness.json").write_text("{}")
        code, out, err = run("list")
        assert (code, "mine" in out) == (0, False)
        assert err.startswith("left out: runs/mine/adapter/harness.json: task: Field required")


def test_show_tells_recipe_fingerprints_and_training(base: Path, run: Command) -> None:
    code, out, _ = run("show", "mine")
    assert code == 0
    own = format_hash(SPEC), str(weights_fingerprint(base)), str(fingerprint("runs/mine/adapter"))
    assert [word for word in (*own, "steps: 9\n", "items: 40\n", '"epochs": 7') if word not in out] == []
    said = json.loads(run("show", "mine", "--json")[1])
    assert (said["curve"], said["scores"]) == (CURVE, [])


class TestCheck:
    @pytest.mark.parametrize(
        ("broken", "message"),
        [
            (lambda w: {**w, next(iter(w)): next(iter(w.values())) * float("nan")}, "are not numbers"),
            (lambda w: {k: v * 0 if "lora_B" in k else v for k, v in w.items()}, "changes nothing"),
            (lambda w: {k: v.new_empty(0) for k, v in w.items()}, "is empty: with ZeRO-3, gather the weights"),
            (lambda w: {k.replace("base_model.", "module."): v for k, v in w.items()}, "28 weights belong to no module"),
            (lambda w: {k: v for k, v in w.items() if "layers.0" in k}, "14 weights are missing, such as base_model.model."),
            (lambda w: {k: v[:, :9].contiguous() if "q_proj.lora_A" in k else v for k, v in w.items()}, "size mismatch"),
        ],
    )
    def test_wrong_weights_are_an_error_of_one_line_and_exit_1(self, broken: Any, message: str, run: Command) -> None:
        path = Path("runs/mine/adapter") / WEIGHTS_FILE
        save_file(broken(load_file(path)), path)
        code, out, err = run("check", "mine")
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert message in err

    def test_dora_is_for_peft_and_for_merging(self, base: Path, run: Command, command: Command) -> None:
        build_tiny_adapter(base, Path("runs/mine/adapter"), use_dora=True)
        code, out, _ = run("check", "mine")
        assert (code, "vLLM cannot serve it unmerged: it has DoRA" in out) == (0, True)
        for words in (["prompt", "--no-merge", "--limit", "1", "--name", "unmerged"], ["serve"]):
            code, _, err = command(*words, "--adapter", "mine")
            assert code == 1
            assert re.search("vLLM cannot serve an adapter with DoRA: merge it.*--engine transformers", err)


class TestMerge:
    def test_the_folder_is_a_whole_model_that_answers_as_the_adapter_does(self, run: Command) -> None:
        code, out, err = run("merge", "mine", "whole/model")
        assert (code, err) == (0, "")
        flags = "--task hexagons --context full-history --format grouped --frame world"
        assert out.startswith("whole/model: ")
        assert out.endswith(f"harness prompt --model whole/model {flags}\n")
        names = {path.name for path in Path("whole/model").iterdir()}
        assert {"config.json", "model.safetensors", "tokenizer.json", HARNESS_FILE} <= names
        said = json.loads(Path(f"whole/model/{HARNESS_FILE}").read_text())
        assert [said["prompt_hash"], said["base_fingerprint"]] == [format_hash(SPEC), weights_fingerprint("tiny")]
        assert said["merged"] == {"adapter": "mine", "adapter_fingerprint": fingerprint("runs/mine/adapter")}
        answers = ["--engine", "transformers", "--limit", "3", "--max-new-tokens", "8", "--name"]
        for name, words in (("whole", [*flags.split(), "--model", "whole/model"]), ("parts", ["--adapter", "mine"])):
            assert main(["prompt", *words, *answers, name]) == 0
        whole, parts = ([record["text"] for record in run_records(name)] for name in ("whole", "parts"))
        assert whole == parts


class TestImport:
    WORDS = ("--task", "minecraft", "--context", "full-dialogue", "--format", "lines")

    @pytest.fixture
    def published(self, base: Path) -> Path:
        """An adapter as its authors' peft saved it, next to other files of theirs."""
        folder = build_tiny_adapter(base, Path("published"), rank=4)
        for name, content in (("training_args.bin", b"pickled"), ("README.md", b"# Theirs"), ("tokenizer.json", b"{}")):
            (folder / name).write_bytes(content)
        return folder

    def test_it_is_copied_listed_and_can_be_scored(self, published: Path, base: Path, run: Command) -> None:
        code, out, err = run("import", "published", *self.WORDS, "--name", "theirs", "--base", str(base))
        assert (code, err) == (0, "")
        assert out.startswith("runs/theirs/adapter fits tiny (")
        assert " and the prompt format minecraft/full-dialogue/lines/world (" in out
        assert out.endswith(f"\nharness prompt --adapter theirs --base {base}\n")
        names = {path.name for path in Path("runs/theirs/adapter").iterdir()}
        assert names == {CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE}, "nothing else of theirs"
        assert load_adapter("theirs", "tiny").spec == PromptSpec.make("minecraft", "full-dialogue", "lines")
        said = json.loads(Path(f"runs/theirs/adapter/{HARNESS_FILE}").read_text())["imported"]
        weights = (published / WEIGHTS_FILE).read_bytes()
        assert (said["from"], said["sha256"][WEIGHTS_FILE]) == ("published", hashlib.sha256(weights).hexdigest())
        assert "runs/theirs, imported" in run("list")[1]
        assert 'imported: {"from": "published", "base": ' in run("show", "theirs")[1]
        assert run("export", "theirs", "given")[0] == 0
        assert "it was imported from `published`" in Path("given/README.md").read_text()
        assert run("import", "published", *self.WORDS, "--name", "theirs")[0] == 2

    def test_the_printed_command_can_be_pasted(self, published: Path, run: Command) -> None:
        out = run("import", "published", *self.WORDS, "--name", "their own", "--base", str(shutil.move("tiny", "far away")))[1]
        _, *words = shlex.split(out.splitlines()[-1])
        assert words == ["prompt", "--adapter", "their own", "--base", "far away"]
        assert main([*words, "--engine", "transformers", "--limit", "1", "--max-new-tokens", "4"]) == 0

    def test_an_adapter_is_asked_with_the_examples_that_it_was_trained_with(
        self, published: Path, run: Command, command: Command
    ) -> None:
        assert run("import", "published", *self.WORDS[:-1], "calls", "--template", "few-shot-code")[0] == 0
        recipe = {"quantize": "nf4", "prompt": {"select": "bm25"}, "training": {"shots": 2, "seed": 0}}
        change(f"runs/published/adapter/{HARNESS_FILE}", recipe=recipe)
        words = ["--adapter", "runs/published", "--model", "tiny", "--engine", "transformers", "--preview"]
        (code, as_trained, told), (_, same, _), (_, other, warned) = (
            command("prompt", *words, "--context-length", "100000", *more)
            for more in ([], ["--shots", "2", "--select", "bm25"], ["--shots", "2"])
        )
        assert (code, as_trained == same, as_trained == other) == (0, True, False)
        assert "the adapter was trained on a base in 4 bits (nf4) but is asked on one in full precision" in told
        assert "2 examples (random): the adapter was trained with 2 (bm25)" in warned

    def test_its_base_is_of_the_revision_that_it_names(
        self, published: Path, base: Path, here: Path, run: Command, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        snapshot = hub_snapshot(base, here / "hub", monkeypatch)
        change(f"published/{CONFIG_FILE}", base_model_name_or_path="someone/tiny", revision="v1")
        self.refused("names the base someone/tiny@v1, which is not here: give it with --base", run)
        (snapshot.parents[1] / "refs/main").rename(snapshot.parents[1] / "refs/v1")
        assert run("import", "published", *self.WORDS)[0] == 0
        adapter = load_adapter("runs/published", None)
        assert adapter.base == str(snapshot)
        assert read_record(adapter.path).base == f"someone/tiny@{snapshot.name}"
        assert merged_model(adapter, lambda line: None).is_dir()
        assert run("export", "runs/published", "given")[0] == 0
        said = json.loads(Path(f"given/{CONFIG_FILE}").read_text())
        assert (said["base_model_name_or_path"], said["revision"]) == ("someone/tiny", snapshot.name)

    @pytest.mark.parametrize(("fields", "message"), cases(__file__)["broken weights"])
    def test_a_configuration_that_does_not_fit(self, fields: dict[str, Any], message: str, published: Path, run: Command) -> None:
        change(f"published/{CONFIG_FILE}", **fields)
        self.refused(message, run)

    def refused(self, message: str, run: Command, expected: int = 1) -> None:
        code, out, err = run("import", "published", *self.WORDS)
        assert (code, out, err.count("\n")) == (expected, "", 1)
        assert message in err
        assert not Path("runs/published").exists()
        assert not list(Path("runs").glob(".*"))

    def test_a_folder_without_what_an_adapter_needs(self, published: Path, run: Command) -> None:
        (published / WEIGHTS_FILE).rename(published / "adapter_model.bin")
        self.refused(f"{WEIGHTS_FILE} is not there; other formats of weights can run code when they are read", run)
        Path("elsewhere").write_bytes(b"")
        (published / WEIGHTS_FILE).symlink_to(Path("elsewhere").absolute())
        self.refused("is a link to a file outside the folder", run)
        (published / WEIGHTS_FILE).unlink()
        (published / WEIGHTS_FILE).touch()
        (published / CONFIG_FILE).write_text("{")
        self.refused(f"{CONFIG_FILE} cannot be read", run)
        shutil.rmtree(published)
        self.refused("published is not a folder", run, expected=2)


class TestExport:
    def scored(self, adapter: str) -> None:
        """Writes a run of perfect answers whose settings name the adapter."""
        write_lines("script.jsonl", [{"id": item.id, "text": gold_answer(item, SPEC)} for item in load("hexagons", "dev")])
        assert main(["prompt", "--engine", "scripted", "--model", "script.jsonl", "--name", "run", "--shots", "2"]) == 0
        self.described("run", adapter=adapter, engine="vllm")

    def described(self, name: str, **settings: Any) -> None:
        """Changes the settings of a run."""
        path = Path(f"runs/{name}/run.yaml")
        said = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump({**said, "settings": said["settings"] | settings}))

    def test_it_is_half_the_size_and_loads(self, base: Path, run: Command) -> None:
        code, out, _ = run("export", "mine", "given")
        assert code == 0
        assert out.startswith("given: 0.0 MB of weights in float16")
        kept, exact = load_file(f"given/{WEIGHTS_FILE}"), load_file(f"runs/mine/adapter/{WEIGHTS_FILE}")
        assert {value.dtype for value in kept.values()} == {torch.float16}
        assert all(torch.allclose(kept[name].float(), exact[name], rtol=1e-3, atol=1e-6) for name in exact)
        assert load_adapter("given", str(base)).spec == SPEC
        assert json.loads(Path(f"given/{CONFIG_FILE}").read_text())["base_model_name_or_path"] == "tiny"
        wanted = {CONFIG_FILE, HARNESS_FILE, WEIGHTS_FILE, "README.md", "curve.svg"}
        assert {path.name for path in Path("given").iterdir()} == wanted

    def test_its_card_says_how_it_was_made_and_how_good_it_is_to_people_and_to_the_hub(self, run: Command) -> None:
        self.scored("mine")
        asked = {"engine": "openai", "base_url": "http://127.0.0.1:8000/v1", "model": "mine", "max_new_tokens": 64}
        self.described("run", **asked, completions=True)
        given = Finetune(recipe="llama-lora", limit=42).given
        Path("runs/mine/run.yaml").write_text(yaml.safe_dump({"settings": {"command": "finetune", "given": given}}))
        assert run("export", "mine", "painter", "--scores", "run")[0] == 0
        card = Path("painter/README.md").read_text()
        wanted = (
            "# painter\n",
            "harness finetune llama-lora --task hexagons --limit 42 --set training.epochs=7.0 --base tiny --name painter\n",
            "harness prompt --adapter painter --split dev --shots 2 --engine openai --base-url http://127.0.0.1:8000/v1 "
            "--max-new-tokens 64 --model mine --completions\n",
            "| 9 | 20 | 0.500 |  | 25.0 |\n",
            "](curve.svg)\n",
            "| 100.00 [100.0, 100.0] |",
            "40 items, 38 rows; 2 were too\n",
            f"({format_hash(SPEC)})",
        )
        assert [text for text in wanted if text not in card] == []
        assert [text for text in ("None", str(Path.cwd())) if text in card] == []
        assert run("export", "painter", "again")[0] == 0
        assert "| 100.00 [100.0, 100.0] |" in Path("again/README.md").read_text()
        picture = Path("painter/curve.svg").read_text()
        assert [label for label in ("train loss", "dev F1", ">step<") if label not in picture] == []
        assert "hexagons/dev: action F1 100.00" in run("show", "painter")[1]
        data: Any = ModelCard(card).data
        said = (data.base_model, data.library_name, data.pipeline_tag, data.license, data.datasets, data.metrics)
        assert said == ("tiny", "peft", "text-generation", "other", ["hexagons"], ["f1", "exact_match"])
        first = data.eval_results[0]
        assert (first.metric_type, first.metric_value, first.metric_args) == ("f1", 100.0, {"interval_95": [100.0, 100.0]})

    def test_a_card_tells_no_epochs_of_a_training_of_so_many_steps(self, run: Command) -> None:
        recipe = load_recipe("llama-lora", ["training.max_steps=9", "training.accumulation=1"]).model_dump()
        change("runs/mine/adapter/harness.json", recipe=recipe)
        assert run("export", "mine", "given")[0] == 0
        (line,) = [line for line in Path("given/README.md").read_text().splitlines() if line.startswith("- Training: 9 steps")]
        assert "epochs" not in line
        assert ", 1 pack a step, " in line

    def test_scores_of_another_adapter_and_what_float16_cannot_hold_are_refused(self, run: Command) -> None:
        self.scored("hexagons")
        code, _, err = run("export", "mine", "given", "--scores", "run")
        assert (code, "the run used hexagons, not runs/mine/adapter" in err) == (2, True)
        path = Path("runs/mine/adapter") / WEIGHTS_FILE
        for factor in (1e-8, 1e9):
            exact = load_file(path)
            save_file({name: value * factor for name, value in exact.items()}, path)
            code, _, err = run("export", "mine", "given")
            assert (code, "float16 cannot hold" in err) == (1, True)
            save_file(exact, path)
        assert not [path for path in Path().iterdir() if "given" in path.name]

    def test_one_too_large_to_ship_needs_to_be_asked_for(self, monkeypatch: pytest.MonkeyPatch, run: Command) -> None:
        monkeypatch.setattr("adapters.shipping.MAX_MEGABYTES", 0.001)
        code, _, err = run("export", "mine", "given")
        assert (code, "--large" in err) == (1, True)
        assert run("export", "mine", "given", "--large")[0] == 0
        code, _, err = run("export", "mine", "given")
        assert (code, "given already exists" in err) == (2, True)
