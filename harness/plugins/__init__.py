"""The benchmarks in other harnesses: a module for each, so that a harness is needed only if its module is used."""
