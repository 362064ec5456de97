"""Programs: a small drawing and building language, its grammar, its budgets and an interpreter for each world."""
