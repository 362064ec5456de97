"""Prompting: options, examples, engines and plans, and a prompted model as a predictor."""
