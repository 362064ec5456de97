"""The grammar, as data: what two neighbors make together, what stands for something else, and what passing over words costs.

The types are those of `phrases`; further ones: M tiles of a column with their color, F and G where a line starts and ends, E both
ends of it, V beside something, Q a count with a color.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """Two neighbors, with words between them that are skipped, and what they make."""

    type: str
    left: str
    right: str
    op: str
    score: float = 0.0
    swapped: bool = False
    """Whether the right one is the operation's first argument."""
    joined: bool = False
    """Whether only a list's comma or "and" may stand between them."""
    apart: bool = True
    """Whether a comma or "and" may stand between them."""

    @property
    def name(self) -> str:
        return f"{self.type}<{self.left}{self.right}:{self.op}"


RULES = (
    Rule("R", "T", "C", "cross", 0.3),
    Rule("R", "C", "T", "cross", 0.2, swapped=True),
    Rule("H", "H", "C", "within", 0.1),
    Rule("H", "H", "S", "within_steps", 0.2),
    Rule("R", "T", "S", "tiles_of_steps", 0.1),
    Rule("R", "N", "S", "tiles_of_steps", 0.2),
    Rule("R", "t", "S", "tiles_of_steps", 0.2),
    Rule("H", "N", "H", "second", -0.2),
    Rule("R", "T", "F", "all_from", -0.1),
    Rule("R", "F", "T", "all_from", -0.1, swapped=True),
    Rule("C", "F", "e", "every_other_from", 0.3),
    Rule("C", "e", "F", "every_other_from", 0.2, swapped=True),
    Rule("T", "F", "b", "every_other_from", 0.2),
    Rule("T", "b", "F", "every_other_from", 0.2, swapped=True),
    Rule("R", "R", "R", "union", -0.1, joined=True),
    Rule("R", "R", "U", "union", -0.3, joined=True),
    Rule("C", "C", "C", "both", -0.2, joined=True),
    Rule("T", "T", "T", "both", -0.2, joined=True),
    Rule("h", "g", "T", "second", 0.0),
    Rule("T", "T", "h", "span", 0.1),
    Rule("A", "@", "A", "counted_from", 0.2, swapped=True),
    Rule("T", "@", "T", "counted_from", 0.2, swapped=True),
    Rule("C", "@", "C", "counted_from", 0.1, swapped=True),
    Rule("C", "C", "@", "counted_from", 0.1),
    Rule("A", "A", "@", "counted_from", 0.2),
    Rule("R", "@", "R", "counted_from", 0.2, swapped=True),
    Rule("R", "R", "@", "counted_from", 0.2),
    Rule("Q", "N", "K", "counted", -0.1),
    Rule("L", "Q", "F", "line", -0.2),
    Rule("L", "F", "Q", "line", -0.2),
    Rule("L", "N", "F", "line", -0.4),
    Rule("L", "Q", "C", "line", -0.4),
    Rule("L", "N", "C", "line", -0.6),
    Rule("A", "A", "F", "starting", 0.1),
    Rule("A", "F", "A", "starting", 0.0, swapped=True),
    Rule("A", "A", "F", "first", -0.4),
    Rule("A", "F", "A", "second", -0.4),
    Rule("E", "E", "R", "union", -0.3),
    Rule("T", "!", "T", "all_but", 0.2),
    Rule("C", "!", "C", "all_but", 0.2),
    Rule("R", "D", "R", "beside", 0.0, apart=False),
    Rule("R", "T", "V", "beside_tile", 0.1, swapped=True),
    Rule("R", "N", "V", "run_beside", 0.1),
    Rule("R", "t", "V", "run_beside", 0.1),
    Rule("V", "D", "R", "relation", 0.0, apart=False),
    Rule("U", "U", "D", "turned", 0.1),
    Rule("U", "D", "U", "turned", 0.0, swapped=True),
    Rule("U", "N", "D", "turned", -0.2),
    Rule("U", "t", "D", "turned", -0.3),
    Rule("U", "D", "t", "turned", -0.5, swapped=True),
    Rule("U", "U", "C", "from_column", 0.0),
    Rule("U", "C", "U", "from_column", -0.1, swapped=True),
    Rule("R", "c", "R", "around", 0.1),
    Rule("A", "|", "R", "second_mentioned", -0.5),
    Rule("D", "D", "D", "ways", -0.1, joined=True),
    Rule("A", "K", "R", "paint", 0.1),
    Rule("A", "R", "K", "paint", 0.1, swapped=True),
    Rule("A", "K", "U", "paint", 0.1),
    Rule("A", "U", "K", "paint", 0.1, swapped=True),
    Rule("A", "Q", "V", "paint_count_beside", 0.1),
    Rule("A", "V", "Q", "paint_count_beside", 0.1, swapped=True),
    Rule("C", "s", "C", "shifted", 0.2),
    Rule("A", "Q", "D", "paint_count", 0.0),
    Rule("M", "K", "T", "mark", 0.0),
    Rule("M", "T", "K", "mark", 0.0, swapped=True),
    Rule("M", "M", "M", "marks", 0.0),
    Rule("A", "M", "C", "paint_marks", 0.2),
    Rule("A", "C", "M", "paint_marks", 0.2, swapped=True),
    Rule("A", "P", "R", "paint_runs", 0.1),
    Rule("A", "R", "P", "paint_runs", 0.1, swapped=True),
    Rule("A", "P", "L", "paint_runs", 0.2),
    Rule("A", "L", "P", "paint_runs", 0.2, swapped=True),
    Rule("F", "f", "R", "second", 0.0),
    Rule("G", "g", "R", "second", 0.0),
    Rule("L", "F", "G", "line", 0.2),
    Rule("L", "F", "D", "line", -0.2),
    Rule("L", "N", "G", "line", -0.2),
    Rule("E", "B", "R", "second", 0.0),
    Rule("E", "J", "R", "second", 0.0),
    *(Rule("L", "L", slot, "with", 0.0) for slot in "FGDNVEQC"),
    *(Rule("L", slot, "L", "with", 0.0, swapped=True) for slot in "FGDNEQC"),
    Rule("A", "K", "L", "paint", 0.1),
    Rule("A", "L", "K", "paint", 0.1, swapped=True),
    *(Rule("Y", "Y", slot, "with", 0.1) for slot in "SCXDKRF#~*=Vn"),
    *(Rule("Y", slot, "Y", "with", 0.0, swapped=True) for slot in "SCXDKRF#~*=V"),
    *(Rule("Z", "Z", slot, "with", 0.1) for slot in "KRVCaNQ"),
    *(Rule("Z", slot, "Z", "with", 0.1, swapped=True) for slot in "KRVNQ"),
    *(Rule("w", "w", slot, "with", 0.1) for slot in "SCRVp"),
    *(Rule("w", slot, "w", "with", 0.1, swapped=True) for slot in "C"),
    *(Rule("y", "y", slot, "with", 0.1) for slot in "KRNDCda"),
    *(Rule("y", slot, "y", "with", 0.1, swapped=True) for slot in "KRNC"),
    Rule("y", "Q", "y", "with", 0.1, swapped=True),
    Rule("y", "y", "Q", "with", 0.1),
    Rule("A", "A", "R", "more", -0.3, joined=True),
    Rule("A", "A", "C", "in_columns", -0.3),
    Rule("A", "A", "A", "then", -0.5, joined=True),
    Rule("A", "P", "U", "paint_runs", 0.2),
    Rule("A", "U", "P", "paint_runs", 0.2, swapped=True),
    Rule("L", "F", "U", "line_run", 0.1),
    Rule("L", "L", "L", "merge", 0.0),
    Rule("A", "k", "R", "leave", 0.1, swapped=True),
    Rule("A", "k", "U", "leave", 0.1, swapped=True),
    Rule("A", "R", "W", "leave", 0.1),
    Rule("A", "A", "W", "first", -0.1),
    Rule("A", "0", "R", "erase", 0.2),
    Rule("x", "?", "T", "but_tiles", 0.1),
    Rule("x", "?", "C", "but_columns", 0.1),
    Rule("x", "?", "R", "but", 0.0),
    Rule("x", "x", "K", "but_colored", 0.1),
    Rule("A", "A", "x", "except", 0.2),
    Rule("A", "A", "G", "until", -0.2),
)
UNARY = (
    Rule("C", "e", "", "done", -0.1),
    Rule("T", "b", "", "done", -0.1),
    Rule("R", "H", "", "done"),
    Rule("R", "C", "", "columns", -0.5),
    Rule("R", "C", "", "same_tiles", -0.8),
    Rule("R", "T", "", "tiles", -0.4),
    Rule("R", "S", "", "of_steps", -0.5),
    Rule("A", "R", "", "paint_again", -0.8),
    Rule("A", "F", "", "mention", -0.5),
    Rule("A", "U", "", "paint_again", -0.6),
    Rule("A", "V", "", "look_beside", -0.6),
    Rule("A", "L", "", "paint_again", -0.6),
    Rule("L", "E", "", "line", -0.1),
    Rule("A", "Y", "", "done", -0.2),
    Rule("A", "Z", "", "done", -0.3),
    Rule("A", "w", "", "done", -0.2),
    Rule("A", "y", "", "done", -0.8),
    Rule("A", "P", "", "runs_on", -1.8),
    Rule("A", "K", "", "choose", -0.9),
    Rule("A", "C", "", "go", -0.7),
)

SKIP = {
    **dict.fromkeys(",vL", 0.0),
    **dict.fromkeys("ox>fIP-G=/", 0.1),
    **dict.fromkeys("aiAsVZ^", 0.2),
    **dict.fromkeys("STEBJHXQhWR", 0.4),
    **dict.fromkeys("tblrmeugdUDn&<", 0.5),
    **dict.fromkeys("kpwczyj!q", 0.9),
    **dict.fromkeys("NOKC", 1.2),
    ".": 0.0,
}
"""What it costs to pass over a word, by its letter."""
BREAK = 1.5
"""What it costs that two neighbors lie in different sentences."""
REACH = 2.5
"""The most that the words between two neighbors may cost."""
