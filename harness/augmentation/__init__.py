"""Changed copies of items: in other colors, in other words, turned."""
