"""Paints copies of what is on the board: repeated, moved, recolored, mirrored."""

from collections import Counter
from collections.abc import Sequence

from harness.baselines.parser.hexagons.meaning import Term, frame_pieces
from harness.baselines.parser.hexagons.memory import ExecutedInstruction, Memory, NoMeaningError
from harness.baselines.parser.hexagons.regions import extreme, resolve_columns, tiles, way
from harness.worlds.hexagons import COLUMNS, ROWS, Paint, Tile, from_cube, neighbors, on_board, to_cube
from serialization.program.hexagons_geometry import middle as middle_of


def shifted(tile: Tile, columns: int, rows: int) -> Tile:
    """A tile moved so that shapes are kept: by an odd number of columns, tiles of even columns keep their row."""
    x, z = to_cube(tile)
    return from_cube(x + columns, z - columns // 2 + rows)


Recoloring = dict[str, str]


def _recoloring(source: Sequence[Paint], parts: dict[str, Term]) -> Recoloring:
    """The new color of each color: the named color replaces the most common one."""
    ((common, _),) = Counter(paint.color for paint in source).most_common(1)
    return {common: str(parts["color"].args[0])} if "color" in parts else {}


def _paste(memory: Memory, source: Sequence[Paint], anchor: Tile, to: Tile, colors: Recoloring) -> None:
    """Paint a copy that keeps its shape, with its tile `anchor` at `to`."""
    columns = to.column - anchor.column
    rows = to.row - shifted(anchor, columns, 0).row
    for paint in source:
        moved = shifted(paint.tile, columns, rows)
        if on_board(*moved):
            memory.paint([moved], colors.get(paint.color, paint.color))


def _paste_by_row(memory: Memory, source: Sequence[Paint], columns: int, colors: Recoloring) -> None:
    """Paint a copy some columns away in which every tile keeps its row, for a source with the same rows in each column."""
    for paint in source:
        if on_board(paint.row, paint.column + columns):
            memory.paint([Tile(paint.row, paint.column + columns)], colors.get(paint.color, paint.color))


def _fitting(source: Sequence[Paint], anchor: Tile, to: Tile) -> Tile:
    """The tile of a source that goes to `to`: the anchor, or the lowest tile if `to` is in the last row and the copy would not
    fit."""
    lowest = extreme([paint.tile for paint in source], "b")
    across = to.column - anchor.column
    down = to.row - shifted(anchor, across, 0).row
    inside = all(on_board(*shifted(paint.tile, across, down)) for paint in source)
    return anchor if inside or to.row < ROWS - 1 else lowest


def _targets(memory: Memory, start: Term, anchor: Tile) -> list[Tile]:
    """Where copies go: one tile per column; a tile without a column lies in the anchor's."""
    if start.op == "tiles":
        memory.columns = (anchor.column,)
    places = tiles(start, memory)
    return list({tile.column: tile for tile in reversed(places)}.values())


def _recent(memory: Memory) -> list[Paint]:
    """The object that was drawn last: what this step painted, otherwise what the last steps painted. An earlier step belongs
    to it if its tiles lie in the columns of the later steps, or on and beside their tiles. Raises NoMeaningError if there is
    none."""
    if memory.painted:
        return list(memory.painted)
    parts: list[ExecutedInstruction] = []
    drawn, near = set[Tile](), set[Tile]()
    for step_ in reversed([step_ for step_ in memory.steps if step_.latest]):
        earlier = step_.latest.keys()
        over = {tile.column for tile in earlier} <= {tile.column for tile in drawn}
        touches = earlier <= near or (len(drawn) == 1 and not earlier.isdisjoint(near))
        if parts and not (over or touches):
            break
        parts.append(step_)
        near.update(neighbor for tile in earlier - drawn for neighbor in (tile, *neighbors(tile)))
        drawn |= earlier
    if not parts:
        raise NoMeaningError("nothing to repeat")
    return [paint for step_ in reversed(parts) for paint in step_.latest.values()]


def repeat(memory: Memory, *pieces: Term) -> None:
    """Paint copies of steps, of everything or of what was drawn last: in columns, at other tiles (start, region), beside
    something, or repeatedly in a direction."""
    # "Starting in columns 5 and 9" means "in columns 5 and 9".
    pieces = tuple(
        piece.args[0] if piece.op in ("start", "region") and piece.args[0].op == "columns" else piece for piece in pieces
    )
    parts = frame_pieces(pieces)
    named = [resolve_columns(piece.args[0], memory) for piece in pieces if piece.op == "columns"]
    source = _source(memory, parts)
    if not source:
        raise NoMeaningError("nothing to repeat")
    source = list({paint.tile: paint for paint in source}.values())
    colors, center = _recoloring(source, parts), _center(memory, parts)
    corner = min((paint.tile for paint in source), key=lambda tile: (tile.column, tile.row))
    where = [column for chosen in named for column in chosen]
    if where:
        fixed = center or corner
        for column in where:
            _paste(memory, source, fixed, Tile(fixed.row, column), colors)
        memory.columns = tuple(where)
        return
    if "beside" in parts:
        direction, of = parts["beside"].args
        if of.op != "that":
            _paste(memory, source, *_next_to(memory, source, parts), colors)
            return
        parts = {"direction": direction, **parts}
    start = parts.get("start") or parts.get("region")
    if start is not None and start.op != "that":
        anchor = center or (source[0].tile if "start" in parts else corner)
        for target in _targets(memory, start, anchor):
            _paste(memory, source, _fitting(source, anchor, target), target, colors)
        return
    _again_and_again(memory, source, parts, colors)


def _source(memory: Memory, parts: dict[str, Term]) -> list[Paint]:
    """The paint to copy."""
    if "steps" in parts:
        return memory.painted_by(parts["steps"].args)
    if "whole" in parts and "on_and_on" in parts:
        return [Paint(*tile, shade) for tile, shade in memory.cells.items()]
    return _recent(memory)


def _center(memory: Memory, parts: dict[str, Term]) -> Tile | None:
    """The tile that the source was drawn around, if any: the new place refers to it."""
    if "steps" not in parts:
        return memory.center if memory.painted else None
    numbers = [n for n in parts["steps"].args if 0 < n <= len(memory.steps)]
    return next((memory.steps[n - 1].center for n in numbers), None) if numbers else memory.steps[-1].center


def _next_to(memory: Memory, source: Sequence[Paint], parts: dict[str, Term]) -> tuple[Tile, Tile]:
    """A tile of the source, and where it goes so that the copy lies beside something, with a gap if one is named."""
    direction, of = parts["beside"].args
    edge = {"u": "t", "d": "b"}.get(way(direction, memory)[-1], way(direction, memory)[-1])
    opposite = {"t": "b", "b": "t", "l": "r", "r": "l"}[edge]
    anchor, beyond = extreme([paint.tile for paint in source], opposite), extreme(tiles(of, memory), edge)
    gap = 1 + (parts["gap"].args[0] if "gap" in parts else 0)
    if edge in "lr":
        return anchor, Tile(anchor.row, beyond.column + (gap if edge == "r" else -gap))
    return anchor, Tile(beyond.row + (gap if edge == "b" else -gap), beyond.column)


def _again_and_again(memory: Memory, source: Sequence[Paint], parts: dict[str, Term], colors: Recoloring) -> None:
    """Paint successive copies in a direction: as many as named, otherwise one."""
    if not {"times", "direction", "color", "steps", "on_and_on"} & set(parts):
        raise NoMeaningError("repeat where?")
    lowest, columns = max(paint.row for paint in source), {paint.column for paint in source}
    down_first = len(columns) == 1 and lowest < ROWS - 1 and "gap" not in parts
    towards = way(parts["direction"], memory) if "direction" in parts else "d" if down_first else "r"
    memory.gap = parts["gap"].args[0] if "gap" in parts else memory.gap
    width = max(paint.column for paint in source) - min(paint.column for paint in source) + 1 + memory.gap
    height = max(paint.row for paint in source) - min(paint.row for paint in source) + 1
    across = {"l": -width, "r": width}.get(towards[-1], 0)
    down = {"u": -height, "d": height}.get(towards[0], 0)
    anchor = source[0].tile
    by_row = not down and len({frozenset(paint.row for paint in source if paint.column == one) for one in columns}) == 1
    for n in range(1, (COLUMNS if "on_and_on" in parts else min(parts["times"].args[0], COLUMNS) if "times" in parts else 1) + 1):
        if by_row:
            _paste_by_row(memory, source, n * across, colors)
        else:
            _paste(memory, source, anchor, Tile(anchor.row + n * down, anchor.column + n * across), colors)


def mirror(memory: Memory, *pieces: Term) -> None:
    """Add the mirror image of steps or of the board, left to right, about the ninth column or the named one."""
    parts = frame_pieces(pieces)
    middle = resolve_columns(parts["columns"], memory)[0] if "columns" in parts else 8
    beside = parts.get("beside") or (
        Term("relation", parts["region"].args) if "region" in parts and parts["region"].op == "beside" else None
    )
    if beside:
        _, of = beside.args
        middle = middle_of(tiles(of, memory)).column
    source = memory.painted_by(parts["steps"].args) if "steps" in parts else [Paint(*tile, c) for tile, c in memory.cells.items()]
    for paint in source:
        other = Tile(paint.row, 2 * middle - paint.column)
        if on_board(*other):
            memory.paint([other], paint.color, over=False)
