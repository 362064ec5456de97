"""Reads HEXAGONS instructions: `lexicon` and `grammar` load lexicon.txt and grammar.txt, `meaning` builds meanings, `chart` finds
readings, `execute` paints them, and `ranker` chooses the best."""
