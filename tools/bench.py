"""Benchmarks as ratios of two things timed alternately: absolute times on a shared machine mean little."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from harness.corpora import load
from harness.engines.shared import fast_bf16

if TYPE_CHECKING:
    from transformers import Trainer

    from adapters.recipe import FinetuneRecipe
    from adapters.rows import Rows

ROUNDS = 3


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(first: Callable[[], float], second: Callable[[], float], rounds: int = ROUNDS) -> list[tuple[float, float]]:
    """Pairs of measurements taken right after each other, after one uncounted warm-up of each."""
    first(), second()
    return [(first(), second()) for _ in range(rounds)]


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """`count` items, spread over all of them."""
    count = min(count, len(items))
    return [items[number * len(items) // count] for number in range(count)]


class Prompting:
    """The default base on HEXAGONS dev items with five examples, greedy."""

    def __init__(self, items_count: int, max_tokens: int) -> None:
        from harness.engines.bases import resolve_base
        from harness.engines.engine import Sampling
        from harness.engines.vllm import VllmEngine
        from prompts.render import Renderer
        from prompts.shots import ShotPool
        from prompts.spec import PromptSpec

        self.engine = VllmEngine(resolve_base(None))
        self.sampling = Sampling(max_tokens=max_tokens)
        self.items = (load("hexagons", "dev") * 100)[:items_count]
        self.pool = ShotPool(load("hexagons", "train"), 0)
        spec = PromptSpec.make("hexagons")
        self.renderer = Renderer(spec, self.engine.tokenizer, self.engine.context_length, max_tokens)

    def rate(self, batch_size: int) -> float:
        """Tokens a second of the whole run loop: render, generate, parse, write."""
        from harness.runs.answering import answer_items
        from harness.runs.folder import Run
        from harness.runs.prompted import Plan, Prompted

        plan = Plan(self.renderer, self.sampling, self.pool, 5, batch_size)
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder), {})
            start = time.perf_counter()
            answer_items(run, self.items, Prompted(plan, self.engine))
            run.close()
            tokens: int = sum(record["completion_tokens"] for record in run.records)
            return tokens / (time.perf_counter() - start)

    def plain_rate(self, texts: Sequence[str], *, cached: bool = True) -> float:
        """Tokens a second of plain vllm.LLM.generate, with or without its prefix cache."""
        from vllm import SamplingParams

        self.engine.llm.reset_prefix_cache()
        params = SamplingParams(max_tokens=self.sampling.max_tokens, temperature=0.0, skip_reading_prefix_cache=not cached)
        start = time.perf_counter()
        outputs = self.engine.llm.generate(texts, params, use_tqdm=False, tokenization_kwargs={"add_special_tokens": False})
        return sum(len(output.outputs[0].token_ids) for output in outputs) / (time.perf_counter() - start)

    def texts(self, sets: int = 1) -> list[str]:
        """The items' prompts; neighbors take their examples from different ones of `sets` choices."""
        from prompts.shots import ShotPool

        pools = [self.pool, *(ShotPool(load("hexagons", "train"), seed) for seed in range(1, sets))]
        items = enumerate(self.items)
        return [self.renderer.render(item, pools[n % sets].choose(item, 5)).text for n, item in items]


def throughput(prompting: Prompting, rounds: int) -> list[tuple[float, float]]:
    """The run loop, in the engine's segments, and plain vllm.LLM.generate on the same texts at once."""
    texts, size = prompting.texts(), prompting.engine.batch_size
    return in_turn(lambda: prompting.rate(size), lambda: prompting.plain_rate(texts), rounds)


def barrier(prompting: Prompting, rounds: int) -> list[tuple[float, float]]:
    """The run loop in the engine's segments, and as one segment: what it costs that the queue runs empty between them."""
    return in_turn(lambda: prompting.rate(prompting.engine.batch_size), lambda: prompting.rate(len(prompting.items)), rounds)


def prefix_cache(prompting: Prompting, rounds: int) -> list[tuple[float, float]]:
    """Prompts with the same examples, with the prefix cache and without it."""
    texts = prompting.texts()
    return in_turn(lambda: prompting.plain_rate(texts), lambda: prompting.plain_rate(texts, cached=False), rounds)


def prefix_order(prompting: Prompting, sets: int, rounds: int) -> list[tuple[float, float]]:
    """Prompts whose examples are one of many choices: those that begin alike next to each other, and as the items come."""
    texts = prompting.texts(sets)
    return in_turn(lambda: prompting.plain_rate(sorted(texts)), lambda: prompting.plain_rate(texts), rounds)


def asking(requests: int) -> list[tuple[float, float]]:
    """Milliseconds of processor time that a request to an endpoint may take, which is 5% of a core at 100 requests a second, and
    those that it takes: prompts of 4,500 characters, 64 in flight, the endpoint in another process."""
    from contextlib import closing

    from harness.engines.engine import Sampling
    from harness.engines.openai import OpenAIEngine
    from prompts.rendered import Rendered

    said = ({"role": "system", "content": "s" * 1500}, {"role": "user", "content": "u" * 3000})
    prompts = [Rendered(f"item/{n}", said, "", ()) for n in range(requests)]  # type: ignore[arg-type]
    server = subprocess.Popen([sys.executable, "-m", "tests.helpers.quick_endpoint", "0.3"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        with closing(OpenAIEngine(server.stdout.readline().strip(), "demo", concurrency=64)) as engine:

            def milliseconds() -> float:
                begun = time.process_time()
                assert all(answer.error is None for answer in engine.generate(prompts, Sampling()))
                return (time.process_time() - begun) / requests * 1000

            return in_turn(lambda: 0.5, milliseconds)
    finally:
        server.terminate()
        server.wait()


def corpus_cache() -> list[tuple[float, float]]:
    """Seconds of the first and of a later load of all Minecraft items, each in a separate process."""
    code = "import time; t = time.time(); from harness.corpora import load; load('minecraft'); print(time.time() - t)"

    def load_in(folder: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"HARNESS_CACHE": folder}, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    pairs = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            pairs.append((load_in(folder), load_in(folder)))
    return pairs


def scoring() -> list[tuple[float, float]]:
    """Seconds of a plain search over the alignments and of all metrics, for the items of test; gold is moved by a cell.

    The plain search, which gives one of the metrics only, is timed on every 16th item.
    """
    from eval.metrics.minecraft import count
    from harness.worlds.minecraft import net_actions
    from tests.helpers.oracle import best_overlap

    items: list[Any] = load("minecraft", "test")
    moved = [[action._replace(x=action.x + 1) for action in item.actions] for item in items]
    few = [
        (net_actions(item.before, item.before.apply(actions).structure), net_actions(item.before, item.after))
        for item, actions in zip(items[::16], moved[::16], strict=True)
    ]
    share = len(items) / len(few)

    def plain() -> float:
        return share * seconds(lambda: [best_overlap(made, gold) for made, gold in few])

    return in_turn(plain, lambda: seconds(lambda: count(items, moved)))


def simulated() -> list[tuple[float, float]]:
    """Items a second over the simulators of games, as many of each, written as JSON Lines; and the 2,000 that are wanted."""
    from harness.simulators.games import ARCHITECTS
    from harness.simulators.outputs import simulate
    from harness.simulators.stream import Source

    each = 3_000

    def rate() -> float:
        with tempfile.TemporaryDirectory() as folder:

            def make(simulator: str) -> None:
                out = Path(folder) / f"{simulator}.jsonl"
                simulate(Source(simulator, 0, "train", "jsonl"), each, out, report=lambda piece: None)

            return each * len(ARCHITECTS) / seconds(lambda: list(map(make, ARCHITECTS)))

    return in_turn(rate, lambda: 2_000.0)


def parsed() -> list[tuple[float, float]]:
    """Instructions a second that the semantic parser reads, with the drawings' memories; and the 300 that are wanted."""
    from harness.baselines.parser import Parser

    items = load("hexagons", "dev")
    return in_turn(lambda: len(items) / seconds(lambda: Parser().predict(items)), lambda: 300.0)


def finetuning(procedures: int) -> list[tuple[float, float]]:
    """Tokens of rows a second in fine-tuning the default base: as `harness finetune` does it, and with TRL's SFTTrainer on the
    same rows one by one, two in a batch, as it would be without packs. Both have the same loss
    (tests/unit/adapters/test_packing.py)."""
    from adapters.recipe import load_recipe
    from adapters.rows import make_rows
    from harness.engines.bases import DEFAULT_BASE, load_tokenizer, resolve_base
    from prompts.render import Renderer
    from prompts.shots import ShotPool
    from prompts.spec import PromptSpec

    base = resolve_base(None)
    recipe = load_recipe("llama-lora", ["training.evaluations=1", "training.accumulation=1"], base=DEFAULT_BASE)
    names = list(dict.fromkeys(item.cluster for item in load("hexagons", "train")))[:procedures]
    items = [item for item in load("hexagons", "train") if item.cluster in names]
    renderer = Renderer(PromptSpec.make("hexagons"), load_tokenizer(base), 8192, 0)
    rows = make_rows(items, renderer, ShotPool([], 0), 0, 8192)
    tokens = sum(map(len, rows.kept))

    def packed() -> float:
        with tempfile.TemporaryDirectory() as folder:
            return tokens / seconds(_packed(base, recipe, rows, Path(folder)).train)

    def one_by_one() -> float:
        with tempfile.TemporaryDirectory() as folder:
            return tokens / seconds(_one_by_one(base, recipe, rows, folder).train)

    return in_turn(packed, one_by_one, rounds=1)


def processes(procedures: int, steps: int) -> list[tuple[float, float]]:
    """Tokens a second of fine-tuning the default base: two processes with a thread each, and one. Both take the same packs."""
    from adapters.recipe import load_recipe
    from harness.engines.bases import DEFAULT_BASE, resolve_base

    resolve_base(None)
    tokens = load_recipe("llama-lora", base=DEFAULT_BASE).training.tokens
    keys = {
        "tokens": tokens // 2,
        "accumulation": 4,
        "evaluations": 1,
        "dev_loss_items": 1,
        "dev_f1_items": 1,
        "max_new_tokens": 1,
    }
    words = ["finetune", "llama-lora", "--limit", str(8 * procedures), "--max-steps", str(steps)]
    words += [word for key, value in keys.items() for word in ("--set", f"training.{key}={value}")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}

    def rate(count: int) -> float:
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)] if count > 1 else []
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, *launcher, "-m", "harness.cli", *words, "--name", "timed"]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
            said = next(line for line in done.stdout.splitlines() if " tokens in " in line)
            points = [json.loads(line) for line in (Path(folder) / "runs/timed/curve.jsonl").read_text().splitlines()]
        # Between the two evaluations lies the training, and one answer of one token.
        return float(said.split()[0].replace(",", "")) / float(points[-1]["seconds"] - points[0]["seconds"])

    return in_turn(lambda: rate(2), lambda: rate(1), rounds=2)


def _packed(base: str, recipe: FinetuneRecipe, rows: Rows, folder: Path) -> Trainer:
    from transformers import AutoModelForCausalLM

    from adapters.attention import register
    from adapters.finetune import with_lora
    from adapters.packing import Packing, pack_rows
    from adapters.trainer import AnswerTrainer, trainer_arguments

    training = recipe.training
    packs = list(pack_rows(rows.groups, training.tokens, 4096))
    model = AutoModelForCausalLM.from_pretrained(base, attn_implementation=register(), dtype="auto")
    arguments = trainer_arguments(training, len(packs), folder)
    arguments.set_evaluate(strategy="no")
    arguments.eval_on_start = False
    arguments.set_save(strategy="no")
    return AnswerTrainer(
        with_lora(recipe, model), arguments, folder, packs, [], 0, lambda model, **_: 0.0, training, Packing.TREE
    )


def _one_by_one(base: str, recipe: FinetuneRecipe, rows: Rows, folder: str) -> Trainer:
    import datasets
    import torch
    from transformers import AutoModelForCausalLM
    from trl import SFTConfig, SFTTrainer

    from adapters.finetune import with_lora
    from harness.engines.bases import load_tokenizer

    columns = {
        "input_ids": [row.token_ids for row in rows.kept],
        "completion_mask": [[0] * len(row.prompt_ids) + [1] * len(row.completion_ids) for row in rows.kept],
    }
    arguments = SFTConfig(
        folder,
        max_length=None,
        completion_only_loss=True,
        max_steps=len(rows.kept) // 2,
        per_device_train_batch_size=2,
        gradient_checkpointing=False,
        use_cpu=not torch.cuda.is_available(),
        bf16=fast_bf16(),
        report_to="none",
        disable_tqdm=True,
        save_strategy="no",
    )
    model = with_lora(recipe, AutoModelForCausalLM.from_pretrained(base, dtype="float32"))
    data = datasets.Dataset.from_dict(columns)
    return SFTTrainer(model, arguments, train_dataset=data, processing_class=load_tokenizer(base))


def cnn_gru(items_count: int, batch_size: int, *, bf16: bool) -> list[tuple[float, float]]:
    """Items a second of training the CNN + GRU (variant A): in batches, which are made anew, and as the original was: in float32,
    item by item, with a plain network that encodes the whole world at every step. Its worlds are made beforehand.

    In float32 both have the same loss for each item, as tests/unit/harness/baselines/cnn_gru/test_cnn_gru.py holds.
    """
    import torch

    from harness.baselines.builder_batches import Collator
    from harness.baselines.cnn_gru.baseline import CnnGru
    from harness.baselines.cnn_gru.network import Network
    from harness.baselines.vocabulary import learned
    from harness.corpora.item import builder_turns
    from serialization.words import h3_tokens
    from tests.helpers import plain_cnn_gru as plain

    everything = builder_turns(load("minecraft", "train"))
    items = spread(everything, items_count)
    recipe, vocabulary = CnnGru().recipe([]), learned(map(h3_tokens, everything))
    collate, view = Collator(recipe.network, vocabulary), recipe.network.perspective
    worlds = [plain.worlds(item, view) for item in items]

    def rate(losses: Callable[[Any], Iterable[Any]]) -> float:
        torch.manual_seed(0)
        network = Network(recipe.network, len(vocabulary))
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.training.learning_rate, fused=True)

        def train() -> None:
            for loss in losses(network):
                loss.backward()
                for part in network.clipped:
                    torch.nn.utils.clip_grad_norm_(part.parameters(), recipe.training.max_grad_norm)
                optimizer.step()
                optimizer.zero_grad()

        return len(items) / seconds(train)

    def batched(network: Any) -> Iterable[Any]:
        for start in range(0, len(items), batch_size):
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                made = network(collate(items[start : start + batch_size]))
            yield (made.sums / made.counts).mean()

    def one_by_one(network: Any) -> Iterable[Any]:
        for item, seen in zip(items, worlds, strict=True):
            yield plain.loss(network, vocabulary, item, view, seen) / len(seen)

    return in_turn(lambda: rate(batched), lambda: rate(one_by_one))


def decoded(items_count: int) -> list[tuple[float, float]]:
    """Items a second of the shipped CNN + GRU's greedy decoding: in its batches, and item by item."""
    from harness.baselines.cnn_gru.baseline import CnnGru
    from harness.training.checkpoints import SHIPPED

    predictor, items = CnnGru().load(SHIPPED / "cnn-gru"), spread(load("minecraft", "dev"), items_count)

    def rate(size: int) -> float:
        parts = [items[start : start + size] for start in range(0, len(items), size)]
        return len(items) / seconds(lambda: [predictor.predict(part) for part in parts])

    return in_turn(lambda: rate(predictor.batch_size), lambda: rate(1))


@cache
def served(clients: int, seconds: float, rounds: int) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Tokens a second of streams to the shipped HEXAGONS adapter: through `harness serve`, and from vLLM's own server with the
    same model and adapter. Then the seconds of processor time of the vLLM in `harness serve`, and of all of `harness serve`,
    while it is asked.

    Both servers run all the time; each has a GiB of KV cache, or two fifths of a GPU.
    """
    import asyncio

    import torch

    from adapters.registry import SHIPPED, load_adapter
    from harness.engines.server import VLLM_URL, ServedAdapter, Server, server_options
    from harness.engines.vllm import FEASIBLE_TOKENS
    from tests.helpers.serving import free_port
    from tools.load import load

    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
    adapter = load_adapter("hexagons", None)
    ours = free_port()
    bare = Path(tempfile.mkdtemp(prefix="harness-")) / "vllm.sock"
    options = server_options(adapter.base, "base", [ServedAdapter("hexagons", adapter.path, adapter.rank)], bare, None)
    # What only `harness serve` has.
    options = [
        option for option in options if option not in ("--disable-uvicorn-access-log", "--logits-processors", FEASIBLE_TOKENS)
    ]
    share = ["--gpu-memory-utilization=0.4"] if torch.cuda.is_available() else []
    command = [sys.executable, "-m", "harness.cli", "serve", "--port", str(ours), "--adapter", f"hexagons={SHIPPED / 'hexagons'}"]
    command += ["--", *share]
    with tempfile.TemporaryDirectory() as folder, Server([*options, *share], bare, Path(folder) / "bare.log") as server:
        server.wait_until_ready()
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        front = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        assert front.stdout is not None
        try:
            for _ in range(5):
                front.stdout.readline()

            def rate(url: str, socket: Path | None = None) -> float:
                seen = asyncio.run(load(url, "hexagons", clients, seconds, socket=socket))
                assert not seen.lost, seen.told()
                assert not seen.refused, seen.told()
                return seen.tokens / seen.seconds

            spent: list[tuple[float, float]] = []

            def through() -> float:
                before = _processor(front.pid)
                measured = rate(f"http://127.0.0.1:{ours}")
                after = _processor(front.pid)
                own, below = after[0] - before[0], after[1] - before[1]
                spent.append((below, own + below))
                return measured

            return in_turn(through, lambda: rate(VLLM_URL, bare), rounds), spent[1:]
        finally:
            front.terminate()
            front.wait()


def passing(clients: int, seconds: float) -> list[tuple[float, float]]:
    """Milliseconds of processor time that the front may take for a streamed piece of an answer, which is a core at 10,000
    pieces a second, and those that it takes; a stand-in for vLLM writes them."""
    import asyncio

    from tests.helpers.serving import free_port
    from tools.load import load

    port = free_port()
    command = [sys.executable, "-m", "tests.helpers.fake_serve", "serve", "--no-adapters", "--port", str(port)]
    with tempfile.TemporaryDirectory() as folder:
        # Pieces that come by themselves, and not several at a time.
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]), "FAKE_VLLM_PAUSE": "0.05"}
        front = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        assert front.stdout is not None
        try:
            for _ in range(5):
                front.stdout.readline()

            def milliseconds() -> float:
                before = _processor(front.pid)[0]
                seen = asyncio.run(load(f"http://127.0.0.1:{port}", "smollm2-135m", clients, seconds, max_tokens=64))
                return (_processor(front.pid)[0] - before) / seen.tokens * 1000

            return in_turn(lambda: 0.1, milliseconds)
        finally:
            front.terminate()
            front.wait()


def _processor(pid: int) -> tuple[float, float]:
    """Seconds of processor time of a process, and of all below it."""
    import psutil

    process = psutil.Process(pid)
    times = [sum(one.cpu_times()[:2]) for one in (process, *process.children(recursive=True))]
    return times[0], sum(times[1:])


def start_up() -> list[tuple[float, float]]:
    """Seconds of an interpreter that does nothing and of `harness --help`."""
    harness = Path(sys.executable).parent / "harness"

    def of(*command: str | Path) -> Callable[[], float]:
        return lambda: seconds(lambda: subprocess.run(command, capture_output=True, check=True))

    return in_turn(of(sys.executable, "-c", ""), of(harness, "--help"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1000, help="prompts of the run loop's benchmark")
    parser.add_argument("--only", default="", metavar="WORD", help="run the benchmarks with this word in their names")
    options = parser.parse_args()
    prompting = cache(lambda: Prompting(options.items, 128))
    reading = cache(lambda: Prompting(options.items // 4, 32))
    table = Table("benchmark", "first", "second", "ratio: median (min to max)", "at least")
    short = []
    benchmarks: list[tuple[str, str, float, Callable[[], list[tuple[float, float]]]]] = [
        ("bare interpreter / `harness --help`", "s", 0.05, start_up),
        ("Minecraft corpus: first load / cached load", "s", 5.0, corpus_cache),
        ("endpoint: 5% of a core at 100 requests a second / used", "ms/request", 1.0, lambda: asking(1024)),
        ("BAP v2 metrics: plain search / pair offsets", "s", 50.0, scoring),
        ("simulated games / 2,000", "items/s", 1.0, simulated),
        ("parser, HEXAGONS instructions / 300", "items/s", 1.0, parsed),
        ("training CNN + GRU, float32: batches / plain", "items/s", 1.5, lambda: cnn_gru(16, 16, bf16=False)),
        (
            "training CNN + GRU, auto: batches / plain",
            "items/s",
            5.0 if fast_bf16() else 1.5,
            lambda: cnn_gru(16, 16, bf16=fast_bf16()),
        ),
        ("fine-tuning: packs / rows one by one", "tokens/s", 2.0, lambda: finetuning(4)),
        ("fine-tuning: two processes / one", "tokens/s", 1.6, lambda: processes(4, 3)),
        ("decoding with CNN + GRU: batches / one by one", "items/s", 1.0, lambda: decoded(64)),
        ("front: a core at 10,000 pieces a second / used", "ms/piece", 1.0, lambda: passing(64, 5)),
        ("serving: `harness serve` / vLLM's own server", "tokens/s", 0.97, lambda: served(8, 5, 5)[0]),
        ("serving, processor time: vLLM / all of `harness serve`", "s", 0.97, lambda: served(8, 5, 5)[1]),
        ("run loop / plain LLM.generate", "tokens/s", 0.95, lambda: throughput(prompting(), 1)),
        ("run loop: segments / one segment", "tokens/s", 0.9, lambda: barrier(prompting(), 1)),
        ("same examples: prefix cache / none", "tokens/s", 1.5, lambda: prefix_cache(reading(), ROUNDS)),
        ("64 choices of examples: sorted / as they come", "tokens/s", 1.0, lambda: prefix_order(reading(), 64, ROUNDS)),
    ]
    for name, unit, floor, measure in benchmarks:
        if options.only not in name:
            continue
        pairs = measure()
        ratios = sorted(a / b for a, b in pairs)
        first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
        table.add_row(
            name,
            f"{first:.3g} {unit}",
            f"{second:.3g} {unit}",
            f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})",
            f"{floor:g}",
        )
        short += [name] if statistics.median(ratios) < floor else []
    Console(width=120).print(table)
    if short:
        sys.exit(f"below its floor: {', '.join(short)}")


if __name__ == "__main__":
    main()
