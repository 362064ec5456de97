"""Runs that belong together: experiments, rows of our own commands from YAML files; two runs as one; runs made elsewhere."""
