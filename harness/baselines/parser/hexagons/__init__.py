"""The part of `parser` that reads HEXAGONS instructions; see `grammar`, `chart`, `execute`."""
