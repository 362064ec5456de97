MAX_MEGABYTES = 18
"""Size limit of an adapter that ships with the package; all that ship may take 64 MB together."""
