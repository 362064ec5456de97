"""The part of `parser` that reads what anyone types to it: ordinary requests, evened out by `english` and read for each world."""
