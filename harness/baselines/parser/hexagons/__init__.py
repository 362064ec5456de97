"""The part of `parser` that reads HEXAGONS instructions: lexicon.txt and grammar.txt, read by `lexicon` and `notation`, what they
mean in `meaning`, `chart` for readings, `execute` for what they paint, `ranker` for the best."""
