"""Files, and tables of names: what every other part may use."""
