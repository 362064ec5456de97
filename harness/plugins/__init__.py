"""The benchmarks in other harnesses: a module for each, which imports its library only where it is used."""
