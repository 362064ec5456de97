"""The command line. Each subcommand lives in `harness.commands` and is imported only when it is called."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from harness import __version__
from harness.errors import HarnessError
from harness.util.processes import TRUST
from harness.util.registry import resolve
from harness.util.terminal import guard_terminal, plain

TOP_LEVEL = ("serialization", "prompts", "adapters", "eval")
"""The top-level packages that are installed in addition to this one."""


SECTIONS = {
    "Run models": {
        "prompt": "Prompt a model with the items of a split and score its answers.",
        "experiment": "Run, score and compare rows that differ in prompts, trainings or data.",
        "play": "Let a model play whole games with a simulated Architect, who corrects it.",
        "serve": "Serve a base model and its adapters over HTTP.",
    },
    "Train": {
        "finetune": "Fine-tune a model: a LoRA adapter, or all of its weights.",
        "models": "Get a base that needs no hub.",
        "check": "Check that a base model can be trained and prompted correctly.",
        "adapters": "List, show, check, merge, export and import adapters.",
        "baseline": "Train and run the classic baselines.",
    },
    "Data": {
        "data": "List, count and print the items of a corpus.",
        "simulate": "Generate training data: simulated games and drawings.",
        "augment": "Augment the train split with other colors, other words and rotations.",
    },
    "Evaluate": {
        "score": "Score a predictions file.",
        "compare": "Test runs against each other, item by item.",
        "plugins": "Show how to use the tasks in lm-eval, Inspect, verifiers, OpenEnv and TRL.",
        "export": "Export scores for a model card, a paper or a page; draw learning curves.",
    },
    "Look": {
        "app": "Open a web page to draw, play, look at the corpora and build with a model.",
        "show": "Draw an item, and what a run predicted for it.",
        "program": "Run a drawing or building program.",
        "report": "Write an HTML report of runs, with pictures of every item.",
    },
}
"""The commands by section of the help, each with its line in the help."""

COMMANDS = {name: f"harness.commands.{name}:{name}" for names in SECTIONS.values() for name in names}


class LazyGroup(click.Group):
    """A group that prints its help without importing any subcommand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = resolve("command", name, COMMANDS)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # The descriptions of all sections begin in the same column.
        width = max(map(len, COMMANDS))
        for title, entries in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in entries.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "--trust-remote-code", is_flag=True, help="Run the Python code that comes with a base model, with your permissions."
)
def cli(debug: bool, trust_remote_code: bool) -> None:
    """Prompt, fine-tune, serve and score language models on grid-world instruction following."""
    if trust_remote_code:
        # Child processes load models too.
        os.environ[TRUST] = "1"


def check_names() -> None:
    """Raises HarnessError if Python finds another package under one of our names, or if AdapterHub's `adapters` is installed.

    AdapterHub's package and ours have the same name, so their files would mix in one folder. Folders are listed because
    importing `importlib.metadata` takes longer than all of `--help`.
    """
    own = Path(__file__).resolve().parents[1]
    advice = "install the harness in a fresh environment (python -m venv)"
    for name in TOP_LEVEL:
        spec = find_spec(name)
        if spec is None or spec.origin is None or Path(spec.origin).resolve().parent != own / name:
            where = spec.origin if spec and spec.origin else "nowhere"
            raise HarnessError(f"the package {name} that Python finds is not the harness's ({where}): {advice}")
    for folder in filter(os.path.isdir, sys.path):
        for entry in os.listdir(folder):
            if entry.lower().startswith("adapters-") and entry.endswith((".dist-info", ".egg-info")):
                raise HarnessError(f"another package named adapters is installed here ({Path(folder, entry)}): {advice}")


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 failure, 2 usage, 130 interrupted."""
    code = _run(sys.argv[1:] if argv is None else argv)
    if "WORLD_SIZE" in os.environ and (several := sys.modules.get("harness.training.processes")):
        several.leave(code)
    return code


def _run(arguments: list[str]) -> int:
    # Threads that spin while they wait make small models ten times slower on shared cores. torch reads this when it loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Otherwise torch's C++ code warns at every start about where vLLM's CPU build keeps its memory.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    guard_terminal()
    try:
        check_names()
        code = cli.main(args=arguments, prog_name="harness", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except HarnessError as error:
        if "--debug" in arguments:
            raise
        for fault in getattr(error, "faults", (error,)):
            print(f"Error: {plain(' '.join(str(fault).split()))}", file=sys.stderr)
        return error.exit_code
    except Exception as error:
        if "--debug" in arguments:
            raise
        if os.environ.get("RANK", "0") != "0" and "by peer" in str(error):
            # The process that left has already said why.
            return 1
        from harness.util.extras import missing_extra
        from harness.util.files import full_disk

        told = f"{type(error).__name__}: {error} (a bug; `harness --debug ...` shows where)"
        if reason := full_disk(error):
            told = f"{reason}; make room, then run the same command again, which goes on where it can"
        if isinstance(error, ModuleNotFoundError):
            command = next((word for word in arguments if word in COMMANDS), "")
            told = missing_extra(command, error.name or "") or told
        print(f"Error: {plain(' '.join(told.split()))}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
