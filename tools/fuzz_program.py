"""Fuzzes the reader and the interpreters of programs with atheris, which is no dependency: pip install atheris.

python tools/fuzz_program.py [-max_total_time=60] [folder of texts]
"""

from __future__ import annotations

import sys

try:
    import atheris
except ImportError:
    sys.exit("atheris is not installed: pip install atheris, then run this again")

with atheris.instrument_imports():
    from serialization.program import hexagons, minecraft
    from serialization.program.parse import parse, parse_front
    from serialization.program.written import write


def one(data: bytes) -> None:
    """Anything but a program or a ProgramError is a finding, and so is a program that is not read back as it was written."""
    program, _ = parse_front(data.decode(errors="replace"))
    assert parse(write(program)) == program
    for state in (None, hexagons.DrawingState()):
        hexagons.run(program, state)
    structure = minecraft.BuildingState()
    minecraft.run(program)
    assert not structure.structure.apply(minecraft.run(program, structure).actions).ignored


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
