"""The whole road in one go: fine-tune the default model, prompt it and its adapter, serve, ask, score, draw.

Every step is a `harness` command, printed before it runs, so that each can be repeated by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from harness.corpora import load, locate

HARNESS = Path(sys.executable).parent / "harness"
TASKS = ("hexagons", "minecraft")
STEPS = {"official": {"hexagons": 100, "minecraft": 25}, "sample": {"hexagons": 4, "minecraft": 4}}
"""Training steps: a few minutes on two cores. The samples are so small that more would only learn them by heart."""

RATE = {"hexagons": "0.0008", "minecraft": "0.0002"}
"""Peak learning rates. For so few steps the recipe's is too much on Minecraft."""

PORT = 8377
SERVER_SECONDS = 300
console = Console()


def harness(*arguments: str) -> str:
    """Run a subcommand, showing what it says on stderr; its stdout is returned."""
    console.print(f"\n[bold]$ harness {' '.join(arguments)}[/bold]", highlight=False)
    done = subprocess.run([HARNESS, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"harness {arguments[0]} failed with exit code {done.returncode}")
    return done.stdout


def headline(scores: dict[str, Any]) -> tuple[str, str]:
    """The F1 of a run in percent with its 95% interval, and what it is called."""
    if scores["task"] == "hexagons":
        value, interval, name = scores["action"]["f1"], scores["intervals"]["action"]["f1"], "action F1"
    else:
        value, interval, name = (
            scores["micro"]["overall"]["f1"],
            scores["intervals"]["micro"]["overall"],
            "net-action F1 (legacy)",
        )
    return f"{100 * value:.2f} [{100 * interval[0]:.2f}, {100 * interval[1]:.2f}]", name


def ask(task: str, adapter: Path) -> str:
    """Serve the adapter, put one rendered question to it over HTTP as any client would, and return the answer."""
    from openai import OpenAI

    from prompts.messages import conversation
    from prompts.spec import PromptSpec

    arguments = [HARNESS, "serve", "--adapter", f"demo-{task}={adapter}", "--port", str(PORT)]
    console.print(f"\n[bold]$ harness {' '.join(map(str, arguments[1:]))}[/bold]", highlight=False)
    server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    # A server that says nothing is ended, and with it the loop over its lines.
    watchdog = threading.Timer(SERVER_SECONDS, server.terminate)
    watchdog.start()
    try:
        assert server.stdout is not None
        for line in server.stdout:
            print(line, end="")
            if line.startswith("curl "):
                break
        else:
            sys.exit("the server ended, or did not answer in time")
        watchdog.cancel()
        item = load(task, "dev")[0]
        client = OpenAI(base_url=f"http://127.0.0.1:{PORT}/v1", api_key="none")
        answer = client.chat.completions.create(
            model=f"demo-{task}",
            messages=conversation(item, PromptSpec.make(task)),  # type: ignore[arg-type]
            temperature=0.0,
            max_tokens=256,
        )
        return f"{item.id}: {answer.choices[0].message.content!r}"
    finally:
        watchdog.cancel()
        server.send_signal(signal.SIGINT)
        server.wait(60)


def short(task: str) -> list[str]:
    """The flags that cut a training down to a few minutes."""
    settings = {"dev_f1_items": "40", "learning_rate": RATE[task]}
    flags = ["--max-steps", str(STEPS[locate(task).kind][task])]
    return flags + [word for key, value in settings.items() for word in ("--set", f"training.{key}={value}")]


def best_item(run: Path) -> str:
    """The longest answer that is wholly right, or else just the longest: something worth looking at."""

    records = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    gold = {item.id: {tuple(a) for a in item.actions} for item in load("hexagons", "dev")}

    def worth(record: dict[str, Any]) -> tuple[bool, int]:
        actions = {tuple(a) for a in record["actions"]}
        return actions == gold[record["id"]], len(actions)

    return str(max(records, key=worth)["id"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=50, help="dev items a run")
    parser.add_argument("--full", action="store_true", help="train by the recipe to its end instead of for a few minutes")
    options = parser.parse_args()
    start = time.monotonic()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for name in (f"demo-{task}{suffix}" for task in TASKS for suffix in ("", "-base", "-adapter")):
        shutil.rmtree(Path("runs") / name, ignore_errors=True)

    print(harness("data", "list"))
    table = Table("task", "model", "score", "95% interval", title="The default base, before and after fine-tuning, 5 shots")
    for task in TASKS:
        print(harness("finetune", "llama-lora", "--task", task, "--name", f"demo-{task}", *([] if options.full else short(task))))
        for name, extra in (("base", ()), ("adapter", ("--adapter", f"runs/demo-{task}"))):
            common = ("--task", task, "--shots", "5", "--limit", str(options.limit), "--name", f"demo-{task}-{name}", "--json")
            scores = json.loads(harness("prompt", *common, *extra).splitlines()[-1])
            value, metric = headline(scores)
            table.add_row(task, name, metric, value)
    answer = ask("hexagons", Path("runs/demo-hexagons/adapter"))
    picture = Path("runs/demo-hexagons-adapter/picture.png")
    harness("show", best_item(picture.parent), "--run", str(picture.parent), "--png", str(picture))
    console.print("\nAsked over HTTP:", answer, highlight=False)
    console.print(table)
    console.print(f"A picture of one answer: {picture}   ({(time.monotonic() - start) / 60:.1f} minutes in all)")


if __name__ == "__main__":
    main()
