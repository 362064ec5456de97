"""Carries out ordinary drawing requests, as people type them: words become phrases, phrases become clauses.

`lexicon` knows the words, `phrases`, `clauses` and `joining` read them; `selecting` finds what stands, `drawing` and `placing`
make what is new, `painting` and `changing` carry out what is asked, `turns` and `corrections` follow a conversation.
"""

from __future__ import annotations

from dataclasses import replace

from harness.baselines.parser.everyday.conversing import Understood
from harness.baselines.parser.everyday.english import common_words
from harness.baselines.parser.everyday.hexagons.clauses import read
from harness.baselines.parser.everyday.hexagons.lexicon import known_words
from harness.baselines.parser.everyday.hexagons.meaning import Clause
from harness.baselines.parser.everyday.hexagons.scene import DEFAULT_COLOR, DrawingScene
from harness.baselines.parser.everyday.hexagons.turns import carry_out, changed_tiles
from harness.corpora.item import Executed, HexagonsItem, Utterance
from harness.worlds.hexagons import Board, Paint, Tile
from serialization.program.literal import drawing_program
from serialization.program.written import write

SURE = 0.5
"""The share of turns that are right if all words are known, in requests for which the reader was not written."""
REMEMBERED = 8
"""The number of earlier turns that are read again."""


def understand(item: HexagonsItem) -> Understood:
    """The program that an instruction asks for after what was said and done: `Make everything blue` is `blue 1-18`."""
    scene = DrawingScene(item.before)
    turns = _turns(item)
    for text, actions, before in turns:
        _follow(text, actions, before, scene)
    scene.board = item.before
    if not turns and len(scene.pieces(scene.painted, by_color=False)) == 1:
        scene.focus = scene.painted
    sentences = read(item.instruction)
    questions = carry_out(sentences, scene)
    clauses = [clause for sentence in sentences for clause in sentence]
    words = [phrase.word for clause in clauses for target in clause.targets for phrase in target.within()]
    nameless = [word for word in words if word.isalpha() and not {word, word.removesuffix("s")} & known_words()]
    said = [word for clause in clauses for word in clause.unknown] + nameless
    unknown = tuple(dict.fromkeys(word for word in said if word not in common_words()))
    program = write(drawing_program(item.before.diff(scene.board)))
    return Understood(program, _confidence(sentences, questions, unknown), unknown, questions[0] if questions else None)


def _confidence(sentences: list[list[Clause]], questions: list[str], unknown: tuple[str, ...]) -> float:
    """The share of the clauses that were carried out, less for each word that is not known, times `SURE`."""
    count = sum(map(len, sentences))
    done = (count - len(questions)) / count if count else 0.0
    return round(SURE * max(0.0, done) * 0.9 ** len(unknown), 3)


def _turns(item: HexagonsItem) -> list[tuple[str, tuple[Paint, ...], Board]]:
    """The last turns: what was said, what was done, and the board before it, as far as the actions tell."""
    told: list[tuple[str, tuple[Paint, ...]]] = []
    for turn in item.history:
        if isinstance(turn, Utterance):
            told.append((turn.text, ()))
        elif isinstance(turn, Executed) and told:
            told[-1] = (told[-1][0], tuple(action for action in turn.actions if isinstance(action, Paint)))
    touched = {action.tile for _, actions in told for action in actions}
    board = item.before.apply(Paint(*tile, "white") for tile in sorted(touched)).board.apply(_taken_away(told)).board
    found = []
    for text, actions in told:
        found.append((text, actions, board))
        board = board.apply(actions).board
    return found[-REMEMBERED:]


def _taken_away(told: list[tuple[str, tuple[Paint, ...]]]) -> list[Paint]:
    """The paint from before the first turn that was changed since, in the color that the words name."""
    found: dict[Tile, str] = {}
    seen: set[Tile] = set()
    for text, actions in told:
        clauses = [clause for sentence in read(text) for clause in sentence]
        named = [color for clause in clauses for target in clause.targets for color in target.colors]
        new = {color for clause in clauses if any(target.colors for target in clause.targets) for color, _ in clause.colors}
        for action in actions:
            if action.tile not in seen and action.color == "white":
                found[action.tile] = named[0] if named else DEFAULT_COLOR
            elif action.tile not in seen and named and action.color in new and action.color != named[0]:
                found[action.tile] = named[0]
        seen |= {action.tile for action in actions}
    return [Paint(*tile, color) for tile, color in found.items()]


def _follow(text: str, actions: tuple[Paint, ...], before: Board, scene: DrawingScene) -> None:
    """Follows an earlier turn: what it mentioned, and what was really done."""
    scene.board, scene.undoing = before, False
    past = list(scene.past)
    carry_out(read(text), scene)
    after = before.apply(actions).board
    if scene.board != after:
        scene.board = after
        changed = changed_tiles(scene)
        scene.changed, scene.focus = changed, [tile for tile in changed if after[tile] != "white"] or changed or scene.focus
        if scene.done and changed:
            scene.done[-1] = replace(scene.done[-1], tiles=scene.focus, color=scene.main_color(scene.focus))
    if before != after:
        scene.boards.append(before)
        if not scene.undoing:
            scene.past = [*past, before]
