"""The whole pipeline in a few minutes, on the sample corpora: fine-tune, prompt, serve, ask, score, draw.

Every step is a `harness` command, printed before it runs, so that each can be repeated by hand.
"""

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

HARNESS = Path(sys.executable).parent / "harness"
ADAPTER = "hexagons"
"""The adapter that ships for HEXAGONS."""
TRAINING = "tokens=1024 accumulation=1 max_steps=6 evaluations=1 dev_loss_items=6 dev_f1_items=1 max_new_tokens=16"
"""A minute or two on two cores: enough to see the loss fall, not enough to learn the task."""
RUNS = {
    "demo-base": "prompt --max-new-tokens 48",
    "demo-adapter": f"prompt --adapter {ADAPTER} --max-new-tokens 128",
    "demo-parser": "baseline predict parser",
}
"""The runs that are compared, on the sample's dev steps: the base, the adapter that ships, and the parser written by hand."""

PORT = 8377
SERVER_SECONDS = 300
console = Console()


def harness(*arguments: str) -> str:
    """Run a subcommand with its stderr shown, and return its stdout."""
    console.print(f"\n[bold]$ harness {' '.join(arguments)}[/bold]", highlight=False)
    done = subprocess.run([HARNESS, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"harness {arguments[0]} failed with exit code {done.returncode}")
    return done.stdout


def ask() -> str:
    """Serve the shipped adapter, ask it one question over HTTP as any client would, and return the answer."""
    from openai import OpenAI

    from adapters.registry import load_adapter
    from harness.corpora import load
    from prompts.messages import conversation

    arguments = ["serve", "--adapter", ADAPTER, "--port", str(PORT)]
    console.print(f"\n[bold]$ harness {' '.join(arguments)}[/bold]", highlight=False)
    with subprocess.Popen([HARNESS, *arguments], stdout=subprocess.PIPE, text=True) as server:
        # A silent server is stopped, which ends the loop over its lines.
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
            item = load("hexagons", "dev")[0]
            client = OpenAI(base_url=f"http://127.0.0.1:{PORT}/v1", api_key="none")
            messages: Any = conversation(item, load_adapter(ADAPTER, None).spec)
            answer = client.chat.completions.create(model=ADAPTER, messages=messages, temperature=0.0, max_tokens=128)
            return f"{item.instruction!r} -> {answer.choices[0].message.content!r}"  # type: ignore[union-attr]
        finally:
            watchdog.cancel()
            server.send_signal(signal.SIGINT)
            server.wait(60)


def main() -> None:
    start = time.monotonic()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # The same demo everywhere, whatever data this machine has.
    os.environ.pop("HARNESS_DATA", None)
    for name in ("demo-training", *RUNS):
        shutil.rmtree(Path("runs") / name, ignore_errors=True)

    print(harness("data", "list"))
    short = (word for setting in TRAINING.split() for word in ("--set", f"training.{setting}"))
    print(harness("finetune", "llama-lora", "--name", "demo-training", *short))
    for name, command in RUNS.items():
        print(harness(*command.split(), "--name", name))
    answer = ask()
    run = Path("runs/demo-adapter")
    records = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    largest = max(records, key=lambda record: len(record["actions"]))
    picture = run / "picture.png"
    harness("show", largest["id"], "--run", str(run), "--png", str(picture))
    console.print("\nAsked over HTTP:", answer, highlight=False)
    print(harness("compare", *RUNS))
    console.print(f"A picture of one answer: {picture}   ({(time.monotonic() - start) / 60:.1f} minutes in all)")


if __name__ == "__main__":
    main()
