"""The loop of live games: all games in progress get their next message, the model answers them together, and so on.

Each answer is on disk before the next one is asked for. A killed run resumes by playing its games again with their answers.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eval.live import outcome
from harness.corpora.item import HexagonsItem, Item, Turn, Utterance, since_actions
from harness.errors import UsageError
from harness.runs.answering import Predictor
from harness.runs.asked import Asked
from harness.runs.folder import Run
from harness.runs.reasons import why
from harness.simulators.live import LiveGame
from harness.tasks.registry import world_of
from harness.util.terminal import bar
from harness.worlds.hexagons import Board, Paint
from harness.worlds.minecraft import Action

log = logging.getLogger(__name__)

TURNS = "turns.jsonl"
"""What was asked and answered, one turn a line, in order of time."""

Asking = tuple[LiveGame, Item]


def play_games(
    run: Run, games: Sequence[LiveGame], predictor: Predictor, say: Callable[[str], None] = log.info
) -> list[dict[str, Any]]:
    """Play the games to their ends, and return the lines of play.jsonl, in the games' order.

    A failed answer ends its game for now; the same run, started again, continues the game. Raises EngineError if nothing can be
    asked, and UsageError if the run was begun by an earlier version, in which other things were said.
    """
    known = {record["id"]: record for record in run.records if "error" not in record}
    run.keep(list(known.values()))
    if known:
        say(f"{len(known)} turns are already played; going on from there")
    errors: dict[str, str] = {}
    whys: dict[str, list[str | None]] = {game.name: [] for game in games}
    order: list[str] = []
    counts = {"turns": 0, "tokens": 0}
    began = time.monotonic()
    with bar("games", len(games), unit="games") as update:

        def show(answered: int = 0) -> None:
            seconds = max(1e-9, time.monotonic() - began)
            tokens = f", {counts['tokens'] / seconds:.0f} tokens/s" if counts["tokens"] else ""
            turns = counts["turns"] + answered
            over = sum(game.over for game in games)
            update(over, f"{turns} turns, {turns / seconds:.1f} turns/s{tokens} {predictor.note()}")

        predictor.report = show
        while wave := [(game, item) for game in games if game.name not in errors and (item := game.ask()) is not None]:
            order += [item.id for _, item in wave]
            for start in range(0, len(wave), predictor.batch_size):
                batch = wave[start : start + predictor.batch_size]
                for game, record in zip((game for game, _ in batch), _answers(run, batch, known, predictor), strict=True):
                    if "error" in record:
                        errors[game.name] = record["error"]
                    else:
                        kind = Paint if world_of(game.task) == "hexagons" else Action
                        game.take([kind(*row) for row in record["actions"]])
                        whys[game.name].append(record.get("why"))
                    if record["id"] not in known:
                        counts["turns"] += 1
                        counts["tokens"] += record.get("completion_tokens", 0)
                show()
            log.info("%d games over, %d turns asked for", sum(game.over for game in games), counts["turns"])
    run.sort(order)
    return [_line(game, errors.get(game.name), whys[game.name]) for game in games]


def _answers(run: Run, batch: Sequence[Asking], known: dict[str, dict[str, Any]], predictor: Predictor) -> list[dict[str, Any]]:
    """The records of a batch's answers, in order; answers that are not recorded yet are asked for."""
    items = [item for _, item in batch]
    if any(item.id in known and known[item.id].get("said") != _said(item) for item in items):
        raise UsageError(
            f"{run.folder} was begun by an earlier version, in which other things were said; "
            "choose another --name, or remove it to start again"
        )
    missing = [item for item in items if item.id not in known]
    if missing and not predictor.independent:
        # An answer may depend on the other items of its batch.
        if again := {item.id for item in items if known.pop(item.id, None)}:
            run.keep([record for record in run.records if record["id"] not in again])
        missing = items
    records = {item.id: known[item.id] for item in items if item.id in known}
    before = time.monotonic()
    for count, (item, answer) in enumerate(zip(missing, predictor.predict(missing) if missing else (), strict=True), start=1):
        about = {key: item.meta[key] for key in ("kind", "fault") if key in item.meta}
        record = records[item.id] = answer.record(item.id) | {"said": _said(item), **about}
        if answer.error is None and (reason := why(item, answer)):
            record["why"] = reason
        now = time.monotonic()
        run.append(record, Asked(now - before, answer.prompt))
        before = now
        predictor.report(count)
    return [records[item.id] for item in items]


def _said(item: Item) -> list[str]:
    """The messages since the last actions."""
    if isinstance(item, HexagonsItem):
        return [item.instruction]
    return [said.text for said in since_actions(item.history)]


def ending(game: LiveGame) -> tuple[Any, Any, dict[str, Any]]:
    """The target and what stands, in their JSON forms, and the scores of `eval.live.outcome`."""
    target, built = (
        state.digits() if isinstance(state, Board) else [list(block) for block in state.blocks()]
        for state in (game.target, game.built)
    )
    return target, built, outcome(game.task, target, built)


def _line(game: LiveGame, error: str | None, whys: Sequence[str | None]) -> dict[str, Any]:
    """A line of play.jsonl. `whys` say, for each answer, why nothing or not everything was done."""
    reasons = iter(whys)
    target, built, scores = ending(game)
    ended = "done" if error is None else "error"
    counts = {key: getattr(game, key) for key in ("turns", "steps", "at_once", "corrections", "left_wrong")}
    return {
        "id": game.name,
        "target": target,
        "built": built,
        "ended": ended,
        "error": error,
        **counts,
        **scores,
        "dialogue": [_turn(turn, reasons) for turn in game.dialogue],
    }


def _turn(turn: Turn, reasons: Iterator[str | None]) -> dict[str, Any]:
    if isinstance(turn, Utterance):
        return turn._asdict()
    reason = next(reasons, None)
    return {"actions": [list(action) for action in turn.actions], **({"why": reason} if reason else {})}
