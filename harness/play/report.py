"""The page of a run of live games: its scores, and some games with their targets beside what was built or drawn."""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from eval.live import shown
from harness.drawing.hexagons import board_svg
from harness.drawing.hexagons import difference_svg as board_difference
from harness.drawing.minecraft import difference_svg, structure_svg
from harness.worlds.hexagons import Board
from harness.worlds.minecraft import Structure


def render(title: str, scores: Mapping[str, Any], games: Sequence[Mapping[str, Any]]) -> bytes:
    """The page, as UTF-8, with the pictures and the dialogue of each of `games`, lines of play.jsonl.

    The page needs no other file and runs no script; what people and models wrote is escaped.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("harness.play"), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    style = files("harness.play").joinpath("templates", "play.css").read_text("utf-8")
    page: str = environment.get_template("play.html.jinja").render(
        title=title,
        scores=scores,
        rows=list(shown(scores)),
        games=[{**game, "pictures": _pictures(game), "lines": list(_lines(game["dialogue"]))} for game in games],
        style=style,
        style_hash=f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'",
    )
    # UTF-8 cannot encode half a surrogate pair.
    return page.encode("utf-8", "replace")


def _pictures(game: Mapping[str, Any]) -> dict[str, str]:
    """The target, what was built or drawn, and the difference, as data URLs, so that the ids of two pictures do not clash."""
    if isinstance(game["target"], str):
        target, built = (Board.from_digits(game[key]) for key in ("target", "built"))
        drawn = {"target": board_svg(target), "drawn": board_svg(built)}
        drawn["difference"] = board_difference(target, built, Board())
    else:
        wanted, stands = (Structure.of(game[key]) for key in ("target", "built"))
        drawn = {"target": structure_svg(wanted), "built": structure_svg(stands)}
        drawn["difference"] = difference_svg(wanted, stands, Structure())
    return {name: f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}" for name, svg in drawn.items()}


def _lines(dialogue: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for turn in dialogue:
        if "text" in turn:
            yield turn["speaker"], turn["text"]
        else:
            done = "; ".join(" ".join("any" if part is None else str(part) for part in action) for action in turn["actions"])
            yield "", ". ".join(filter(None, (done or "nothing", turn.get("why"))))
