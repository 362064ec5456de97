"""Changed copies of items: other colors, other words, turned."""
